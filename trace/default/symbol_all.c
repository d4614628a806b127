/*
 * Default: a name is that of one function, and the files of the source are not known.
 */
#include <trace/platform.h>

TRACE_DEFAULT size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	uintptr_t addr = trace_plat_symbol_find(name);

	if (addr && max)
		*out_addrs = addr;
	return addr != 0;
}

TRACE_DEFAULT const char *trace_plat_source_of(uintptr_t addr)
{
	(void)addr;
	return NULL;
}
