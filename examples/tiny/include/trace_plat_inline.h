/*
 * The inline half of <trace/platform.h>. Only the clock is this kernel's own: the rest is what the
 * library has for x86-64, and for hosts with one CPU and no threads.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/arch_inline.h>
#include <trace/one_cpu.h>

extern uint64_t ns_per_cycle; /* times 2^32 */

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	return (uint64_t)((unsigned __int128)trace_plat_cycles() * ns_per_cycle >> 32);
}

#endif
