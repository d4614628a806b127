/*
 * Default: trace_plat_clock_ns() is used for this, too, so it has to agree on all CPUs.
 */
#include <trace/platform.h>

TRACE_DEFAULT uint64_t trace_plat_clock_mono_ns(void)
{
	return trace_plat_clock_ns();
}
