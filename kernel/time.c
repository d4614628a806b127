/* See <kernel/time.h>. Not traced: probes read the clock. */
#include <stdatomic.h>
#include <arch/tsc.h>
#include <kernel/time.h>
#include <trace/platform.h>

static _Atomic uint64_t latest_ns; /* highest time that any CPU was told */

uint64_t local_clock_ns(void)
{
	return tsc_clock_ns();
}

/* A CPU whose counter lags shows the time that another one has reached. */
static TRACE_ALWAYS_INLINE uint64_t never_back(uint64_t now)
{
	uint64_t seen = atomic_load_explicit(&latest_ns, memory_order_relaxed);

	while (now > seen) {
		if (atomic_compare_exchange_weak_explicit(
			    &latest_ns, &seen, now, memory_order_relaxed, memory_order_relaxed))
			return now;
	}
	return seen;
}

uint64_t ktime_get_ns(void)
{
	return never_back(tsc_clock_ns());
}

/*
 * The same time for probes. trace_plat_clock_ns() is cheaper than tsc_clock_ns(), which switches
 * interrupts off; it is enough that the caller has preemption off.
 */
uint64_t trace_plat_clock_mono_ns(void)
{
	return never_back(trace_plat_clock_ns());
}

uint64_t trace_plat_uptime_ticks(void)
{
	return trace_plat_clock_mono_ns() / TICK_NS;
}
