/*
 * The inline half of a host with one CPU, for tests that run: what such a host has to write.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <trace/one_cpu.h>

extern uint64_t bare_clock_ns; /* one nanosecond later with each reading */

static inline uint64_t trace_plat_clock_ns(void)
{
	return bare_clock_ns++;
}

static inline bool trace_plat_irqs_disabled(void)
{
	return false;
}

static inline uint64_t trace_plat_cycles(void)
{
	return bare_clock_ns;
}

/* Nothing interrupts. */
static inline uint64_t trace_plat_irq_save(void)
{
	return 0;
}

static inline void trace_plat_irq_restore(uint64_t flags)
{
	(void)flags;
}

static inline bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
					   uint64_t old_hi, uint64_t new_lo, uint64_t new_hi)
{
	bool is_same = pair->lo == *old_lo && pair->hi == old_hi;

	*old_lo = pair->lo;
	if (is_same)
		*pair = (struct trace_pair){ .lo = new_lo, .hi = new_hi };
	return is_same;
}

static inline void trace_plat_local_add(uint64_t *value, uint64_t delta)
{
	*value += delta;
}

static inline uint32_t trace_plat_ip_pack(uintptr_t ip)
{
	return (uint32_t)ip;
}

static inline uintptr_t trace_plat_ip_unpack(uint32_t packed)
{
	return packed; /* the text of a process lies low */
}

#endif
