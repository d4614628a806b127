/*
 * Default: a host that calls no hook, or all of them at any time.
 */
#include <trace/platform.h>

TRACE_DEFAULT void trace_plat_set_hooks(uint32_t mask)
{
	(void)mask;
}
