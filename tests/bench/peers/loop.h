/*
 * The loop that all peers share: it runs `fn` in chunks of LOOP_ROUNDS rounds, as bench.c of
 * examples/process does, and prints a line `NAME nanoseconds` for each chunk. NAME is what the
 * environment has as PEER. The thread stays on the last CPU of the machine.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#define LOOP_ROUNDS 10000u
#define LOOP_CHUNKS 200u

int loop_run(void (*fn)(uint64_t rounds));

/* The traced function, in work.c, compiled as each tool wants it. Returns its argument plus one. */
uint64_t work(uint64_t x);
static inline void loop_call_work(uint64_t rounds)
{
	uint64_t x = 0;

	while (rounds--)
		x = work(x);
	__asm__ volatile("" : : "r"(x));
}

#endif
