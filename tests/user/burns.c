/*
 * burns ROUNDS: three functions take half, three tenths and a fifth of the time, in one function that all of
 * them call. burns ROUNDS pipe: the same in system calls, which take a lock with interrupts off. burns ROUNDS rbp: in system
 * calls that are made with values in rbp that are no frame.
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

static DEEP void work_without_frame(long nr)
{
	static const uint64_t values[] = {
		8, 1, 9, ~0ul, ~7ul, 0xffff888000000008, 0x800000000000
	};
	long result;

	for (uint32_t i = 0; nr > 0; nr -= 64)
		__asm__ volatile(
			"lea -128(%%rsp), %%rsp\n\tpush %%rbp\n\tmov %2, %%rbp\n\tsyscall\n\t"
			"pop %%rbp\n\tlea 128(%%rsp), %%rsp"
			: "=a"(result)
			: "a"(NR_GETPID), "r"(values[i++ % 7])
			: "rcx", "r11", "memory");
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
	if (*sp > 2 && text_equal(argv[2], "rbp")) {
		worker = work_without_frame;
	} else if (*sp > 2) {
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
