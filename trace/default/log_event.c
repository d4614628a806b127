/*
 * Default: a trace event goes to the log as all messages do.
 */
#include <trace/platform.h>

TRACE_DEFAULT void trace_plat_log_event(const char *line, size_t len)
{
	trace_plat_log("%.*s", (int)len, line);
}
