/*
 * Defaults of profiles with probes: the places that probes may have; no variables, lines and types;
 * no interrupts whose functions are known, no counts of patching.
 */
#include <trace/ftrace.h>
#include <trace/platform.h>

/*
 * Probes may be in functions that have a call site, since code run by handlers has none. All data
 * may be watched.
 */
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

/* Neither variables nor lines of the source are known. */
TRACE_DEFAULT size_t trace_plat_variable_find(const char *name, struct trace_plat_variable *out)
{
	(void)name;
	(void)out;
	return 0;
}

TRACE_DEFAULT int trace_plat_line_find(const char *file, size_t len, uint32_t line,
				       struct trace_plat_line *out)
{
	(void)file;
	(void)len;
	(void)line;
	(void)out;
	return -EOPNOTSUPP;
}

/* No per-CPU variables. */
TRACE_DEFAULT uintptr_t trace_plat_this_cpu_ptr(uintptr_t variable)
{
	(void)variable;
	return 0;
}

/* No types; a thread is what trace/ knows of it; files have no names. */
TRACE_DEFAULT const void *trace_plat_btf(size_t *out_bytes)
{
	*out_bytes = 0;
	return NULL;
}

TRACE_DEFAULT bool trace_plat_file_names_get(struct trace_plat_file_names *out)
{
	(void)out;
	return false;
}

TRACE_DEFAULT const char *trace_plat_thread_type(size_t *out_offset)
{
	*out_offset = 0;
	return "trace_thread";
}

/* It is not known which functions interrupts call first. */
TRACE_DEFAULT bool trace_plat_is_irq_entry(uint32_t packed_ip)
{
	(void)packed_ip;
	return false;
}

/* Patching is not counted. */
TRACE_DEFAULT void trace_plat_poke_stats(struct trace_poke_stats *out_stats)
{
	*out_stats = (struct trace_poke_stats){ 0 };
}
