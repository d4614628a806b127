/*
 * Default: no other clock than trace_plat_clock_ns(), which then has to agree on all CPUs.
 */
#include <trace/platform.h>

TRACE_DEFAULT uint64_t trace_plat_clock_mono_ns(void)
{
	return trace_plat_clock_ns();
}
