/*
 * Default: neither variables nor lines of the source are known.
 */
#include <trace/platform.h>

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
