/* The clock of events: the cycle counter, in nanoseconds. */
#ifndef PROCESS_CLOCK_H
#define PROCESS_CLOCK_H

#include <trace/arch_user.h>
#include "cpu.h"

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	uint64_t ns =
		(uint64_t)((unsigned __int128)trace_plat_cycles() * process_ns_per_cycle >> 32);

	TRACE_OPAQUE(ns); /* otherwise gcc goes on computing with 128 bits */
	return ns;
}

#endif
