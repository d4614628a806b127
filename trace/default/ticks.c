/*
 * Default: a tick is a millisecond.
 */
#include <trace/platform.h>

#define NS_PER_TICK 1000000u

TRACE_DEFAULT uint64_t trace_plat_uptime_ticks(void)
{
	return trace_plat_clock_mono_ns() / NS_PER_TICK;
}
