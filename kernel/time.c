/* See <kernel/time.h>. Not traced: probes read the clock. */
#include <stdatomic.h>
#include <arch/tsc.h>
#include <kernel/time.h>

static _Atomic uint64_t latest_ns; /* highest time that any CPU was told */

uint64_t local_clock_ns(void)
{
	return tsc_clock_ns();
}

/* A CPU whose counter lags shows the time that another one has reached. */
uint64_t ktime_ns(void)
{
	uint64_t now = tsc_clock_ns();
	uint64_t seen = atomic_load_explicit(&latest_ns, memory_order_relaxed);

	while (now > seen) {
		if (atomic_compare_exchange_weak_explicit(
			    &latest_ns, &seen, now, memory_order_relaxed, memory_order_relaxed))
			return now;
	}
	return seen;
}
