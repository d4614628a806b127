/*
 * Defaults: no types; a thread is what trace/ knows of it.
 */
#include <trace/platform.h>

TRACE_DEFAULT const void *trace_plat_btf(size_t *out_bytes)
{
	*out_bytes = 0;
	return NULL;
}

TRACE_DEFAULT const char *trace_plat_thread_type(size_t *out_offset)
{
	*out_offset = 0;
	return "trace_thread";
}
