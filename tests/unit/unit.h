/*
 * What each unit test includes first: cmocka and what it needs, in its order; and how often a test
 * repeats what it tries at random.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

/* `rounds` in `make test`, and UNIT_SOAK times as many where that is in the environment. */
static inline int unit_rounds(int rounds)
{
	const char *times = getenv("UNIT_SOAK");

	return times ? rounds * atoi(times) : rounds;
}

#endif
