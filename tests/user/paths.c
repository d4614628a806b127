/* Calls with paths and buffers that can be read in part, or not at all: what each returns. */
#include "nolib.h"

#define PAGE	  4096
#define NR_OPEN	  2
#define NR_RENAME 82

static char *end_of_memory(void)
{
	char *area = (char *)syscall6(NR_MMAP, 0, 2 * PAGE, 3, 0x22, -1, 0);

	CALL2(NR_MUNMAP, area + PAGE, PAGE);
	return area + PAGE;
}

void main_program(long *sp)
{
	static char longest[300];
	char *end = end_of_memory();

	(void)sp;
	for (int i = 0; i < 299; i++)
		longest[i] = 'x';
	for (int i = 0; i < 5; i++)
		end[i - 5] = "/half"[i];
	say("null", CALL3(NR_OPEN, 0, 0, 0));
	say("kernel", CALL3(NR_OPEN, 0xffffffff80000000ul, 0, 0));
	say("not canonical", CALL3(NR_OPEN, 0x800000000000ul, 0, 0));
	say("no end", CALL3(NR_OPEN, end - 5, 0, 0));
	end[-1] = '\0';
	say("end", CALL3(NR_OPEN, end - 5, 0, 0));
	say("long", CALL3(NR_OPEN, longest, 0, 0));
	say("rename", CALL2(NR_RENAME, "/a\tb", 1));
	say("write", CALL3(NR_WRITE, 9, end - 2, 4));
	sys_exit(0);
}
