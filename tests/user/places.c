/*
 * Test of the places of a program's parts: the program begins itself anew some times and compares where things are. The
 * first argument says what may differ: "pie" the program, too; "fixed" all but the program; "none" nothing. Ends with
 * 0, or with the line of the check that failed. The auxiliary vector, by which debuggers learn these places, is in
 * /proc/self/auxv.
 */
#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_DUP2 = 33,
	NR_PIPE = 22,
	NR_PERSONALITY = 135
};

#define EINVAL		  22
#define ADDR_NO_RANDOMIZE 0x0040000u
#define PAGE		  4096ul
#define ROUNDS		  8

struct places {
	unsigned long program, heap, mapping, stack;
};

static unsigned long sp_at_start;

/* The places of this run. */
static struct places places_here(void)
{
	struct places here = { .program = (unsigned long)&sp_at_start };

	here.heap = (unsigned long)CALL1(NR_BRK, 0);
	here.mapping = (unsigned long)syscall6(NR_MMAP, 0, PAGE, 3, 0x22, -1, 0);
	here.stack = sp_at_start;
	return here;
}

static void child(int out, unsigned int personality, char **envp)
{
	char tell[] = "tell"; /* in no table of pointers, which would need relocations */
	char *argv[] = { tell, tell, NULL };

	CHECK(CALL1(NR_PERSONALITY, personality) >= 0);
	CHECK(CALL2(NR_DUP2, out, 1) == 1);
	CALL3(NR_EXECVE, "/proc/self/exe", argv, envp);
	sys_exit(127);
}

/* Those of a program that is begun with this personality. */
static struct places places_of_another(unsigned int personality, char **envp)
{
	struct places there;
	int ends[2], status;
	long pid;

	CHECK(CALL1(NR_PIPE, ends) == 0);
	pid = CALL0(NR_FORK);
	if (!pid)
		child(ends[1], personality, envp);
	CALL1(NR_CLOSE, ends[1]);
	CHECK(CALL3(NR_READ, ends[0], &there, sizeof(there)) == sizeof(there));
	CALL1(NR_CLOSE, ends[0]);
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid && status == 0);
	CHECK(there.mapping % PAGE == 0 && there.stack % 16 == 0);
	return there;
}

/* Bits that differ between runs. */
static struct places places_differ(unsigned int personality, char **envp)
{
	struct places first = places_of_another(personality, envp), bits = { 0, 0, 0, 0 };

	for (int i = 1; i < ROUNDS; i++) {
		struct places other = places_of_another(personality, envp);

		bits.program |= first.program ^ other.program;
		bits.heap |= first.heap ^ other.heap;
		bits.mapping |= first.mapping ^ other.mapping;
		bits.stack |= first.stack ^ other.stack;
	}
	return bits;
}

static void check_personality(void)
{
	CHECK(CALL1(NR_PERSONALITY, 0xffffffffu) == 0);
	CHECK(CALL1(NR_PERSONALITY, ADDR_NO_RANDOMIZE) == 0);
	CHECK(CALL1(NR_PERSONALITY, 0xffffffffu) == ADDR_NO_RANDOMIZE);
	CHECK(CALL1(NR_PERSONALITY, 0) == ADDR_NO_RANDOMIZE);
}

/* The vector of the file is the one on the stack, behind the environment. */
static void check_auxv(char **envp)
{
	unsigned long words[128];
	const unsigned long *here;
	long fd = CALL3(NR_OPEN, "/proc/self/auxv", 0, 0),
	     got = CALL3(NR_READ, fd, words, sizeof(words)), i = 0;

	while (*envp)
		envp++;
	here = (unsigned long *)(envp + 1);
	do {
		CHECK(words[i] == here[i] && words[i + 1] == here[i + 1]);
		i += 2;
	} while (here[i - 2]);
	CHECK(got == i * (long)sizeof(*words) && CALL3(NR_READ, fd, words, sizeof(words)) == 0);
	CHECK(CALL1(NR_CLOSE, fd) == 0);
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1), **envp = argv + sp[0] + 1;
	struct places bits;

	sp_at_start = (unsigned long)sp;
	if (argv[1][0] == 't') {
		bits = places_here();
		CALL3(NR_WRITE, 1, &bits, sizeof(bits));
		sys_exit(0);
	}
	check_auxv(envp);
	check_personality();
	bits = places_differ(ADDR_NO_RANDOMIZE, envp);
	CHECK(!(bits.program | bits.heap | bits.mapping | bits.stack));
	bits = places_differ(0, envp);
	if (argv[1][0] == 'n') {
		CHECK(!(bits.program | bits.heap | bits.mapping | bits.stack));
		sys_exit(0);
	}
	CHECK(argv[1][0] == 'p' ? bits.program >= 1ul << 32 : !bits.program);
	CHECK(bits.heap >= PAGE && bits.mapping >= 1ul << 32);
	CHECK(bits.stack >= 1ul << 28 && bits.stack & (PAGE - 16));
	sys_exit(0);
}
