/*
 * Default: waiting is done by reading the clock again and again.
 */
#include <trace/platform.h>

TRACE_DEFAULT int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	uint64_t begin = trace_plat_clock_mono_ns();

	(void)may_interrupt; /* there is no user */
	while (trace_plat_clock_mono_ns() - begin < ns)
		continue;
	return 0;
}
