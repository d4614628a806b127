/*
 * The header that each unit test includes first: cmocka and the headers before it, in their order;
 * and the number of rounds, or the time, of random tests.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

/* `rounds` in `make test`, and UNIT_SOAK times as many where that is in the environment. */
static inline int unit_rounds(int rounds)
{
	const char *times = getenv("UNIT_SOAK");

	return times ? rounds * atoi(times) : rounds;
}

static inline uint64_t unit_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Have `ms` of `make test`, or UNIT_SOAK times as many, passed since `begin`, of unit_now_ms()? */
static inline bool unit_is_over(uint64_t begin, int ms)
{
	return unit_now_ms() - begin >= (uint64_t)unit_rounds(ms);
}

#endif
