/*
 * Default: probes may be in functions that have a call site, since code run by handlers has none.
 * All data may be watched.
 */
#include <trace/ftrace.h>
#include <trace/platform.h>

TRACE_DEFAULT const char *trace_plat_watch_refusal(uintptr_t addr, size_t len)
{
	(void)addr;
	(void)len;
	return NULL;
}

TRACE_DEFAULT const char *trace_plat_probe_refusal(uintptr_t addr, size_t len)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	(void)len;
	if (!trace_plat_symbol(addr, name, &start, &bytes))
		return "there is no function";
	return ftrace_location(start) ? NULL
				      : "a handler may run through a function without call site";
}
