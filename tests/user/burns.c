/*
 * burns ROUNDS: three functions take half, three tenths and a fifth of the time, in one function that all of
 * them call. burns ROUNDS pipe: the same in system calls, which take a lock with interrupts off.
 */
#include "nolib.h"

#define NR_PIPE 22
#define DEEP	__attribute__((noinline))

static int ends[2];

static DEEP void work(long nr)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0))); /* so that it has a frame */
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
}

static DEEP void work_in_calls(long nr)
{
	char byte = 0;

	for (; nr > 0; nr -= 512) {
		CALL3(NR_WRITE, ends[1], &byte, 1);
		CALL3(NR_READ, ends[0], &byte, 1);
	}
}

static void (*worker)(long nr) = work;

static DEEP void half(long nr)
{
	worker(5 * nr);
	__asm__ volatile("");
}

static DEEP void third(long nr)
{
	worker(3 * nr);
	__asm__ volatile("");
}

static DEEP void fifth(long nr)
{
	worker(2 * nr);
	__asm__ volatile("");
}

/* Rounds are of different lengths, 512 to 2,048, so that they keep step with no clock. */
static long next_length(void)
{
	static uint32_t random = 1;

	random = random * 1103515245u + 12345u;
	return 512 * (1 + (random >> 16) % 4);
}

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);
	long rounds = 0;

	for (const char *at = argv[1]; *at; at++)
		rounds = rounds * 10 + *at - '0';
	if (*sp > 2) {
		CALL1(NR_PIPE, ends);
		worker = work_in_calls;
	}
	while (rounds-- > 0) {
		long nr = next_length();

		half(nr);
		third(nr);
		fifth(nr);
	}
	sys_exit(0);
}
