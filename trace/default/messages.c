/*
 * Default: alerts and bugs are logged by trace_plat_log().
 */
#include <stdarg.h>
#include <trace/fmt.h>
#include <trace/platform.h>

#define LINE_BYTES 256

/* Defined in ops/. A host that links nothing from there has no tracing that could be stopped. */
void ftrace_kill(void) __attribute__((weak));

static void log_line(const char *fmt, va_list args)
{
	char line[LINE_BYTES];

	trace_vsnprintf(line, sizeof(line), fmt, args);
	trace_plat_log("%s", line);
}

TRACE_DEFAULT void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

TRACE_DEFAULT void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
	if (ftrace_kill)
		ftrace_kill();
}
