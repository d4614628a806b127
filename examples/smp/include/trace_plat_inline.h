/*
 * The inline half of <trace/platform.h>. All of it is the library's, for x86-64 and for what lies behind GS, but the clock.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/arch_inline.h>
#include "cpu.h"

#define TRACE_PER_CPU_OFFSET	 offsetof(struct smp_cpu, trace)
#define TRACE_PER_CPU_RESCHEDULE smp_reschedule
#include <trace/arch_per_cpu.h>

extern uint64_t ns_per_cycle; /* times 2^32 */

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	return (uint64_t)((unsigned __int128)trace_plat_cycles() * ns_per_cycle >> 32);
}

#endif
