/*
 * Default: no types.
 */
#include <trace/platform.h>

TRACE_DEFAULT const void *trace_plat_btf(size_t *out_bytes)
{
	*out_bytes = 0;
	return NULL;
}
