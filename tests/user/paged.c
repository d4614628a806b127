/*
 * paged ROUNDS given|locked: works on a stack in a file, while the page in which the frame of its outer function
 * lies is given up in each round, so that it has to be mapped again, or must not be read.
 */
#include "nolib.h"

#define DEEP	      __attribute__((noinline))
#define PAGE	      4096ul
#define NR_PAGES      6
#define MADV_DONTNEED 4
#define PROT_BOTH     3

#define O_RDWR_CREAT_EXCL 0xc2

static char *upper; /* the last page of the stack */
static int is_locked;
static volatile long length = 100000; /* of the work of a round */

static DEEP void work(long nr)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0))); /* so that it has a frame */
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
}

static DEEP void inner(long rounds)
{
	while (rounds-- > 0) {
		if (is_locked)
			CALL3(NR_MPROTECT, upper, PAGE, 0);
		else
			CALL3(NR_MADVISE, upper, PAGE, MADV_DONTNEED);
		work(length);
	}
	CALL3(NR_MPROTECT, upper, PAGE, PROT_BOTH);
}

/* Its frame is in the last page, those of the functions that it calls are not. */
static DEEP void outer(long rounds)
{
	char room[2 * PAGE];

	__asm__ volatile("" : : "r"(room) : "memory");
	inner(rounds);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static DEEP void on_stack(long rounds, char *top)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\tmov %1, %%rsp\n\tcall *%2\n\tmov %%rbx, %%rsp"
			 : "+D"(rounds)
			 : "r"(top), "r"(outer)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc",
			   "memory");
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1), *stack;
	long rounds = 0, fd;

	for (const char *at = argv[1]; *at; at++)
		rounds = rounds * 10 + *at - '0';
	is_locked = argv[2][0] == 'l';
	do { /* a file of its own, beside others of this program */
		CALL1(NR_UNLINK, "/tmp/paged");
		fd = CALL3(NR_OPEN, "/tmp/paged", O_RDWR_CREAT_EXCL, 0600);
	} while (fd < 0);
	CALL2(NR_FTRUNCATE, fd, NR_PAGES * PAGE);
	stack = (char *)syscall6(NR_MMAP, 0, NR_PAGES * PAGE, PROT_BOTH, 1, fd, 0);
	upper = stack + (NR_PAGES - 1) * PAGE;
	on_stack(rounds, stack + NR_PAGES * PAGE);
	sys_exit(0);
}
