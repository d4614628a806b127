/* The clock of events: clock_gettime(), for a comparison with tools that have no other.
 * In place of the one of examples/process. */
#ifndef PROCESS_CLOCK_H
#define PROCESS_CLOCK_H

#include <time.h>
#include <trace/compiler.h>

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
