/*
 * Default: the machine goes on, but nothing more is traced.
 */
#include <stdarg.h>
#include <trace/fmt.h>
#include <trace/platform.h>

#define LINE_BYTES 512

TRACE_DEFAULT void trace_plat_panic(const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	trace_vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	trace_plat_bug("%s", line);
}
