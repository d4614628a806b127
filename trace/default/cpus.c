/*
 * Default: one CPU, which is online.
 */
#include <trace/platform.h>

TRACE_DEFAULT uint32_t trace_plat_nr_cpus(void)
{
	return 1;
}
