/*
 * printk(): formats a message into the dmesg ring and lets the console know; see <kernel/printk.h>.
 */
#include <kernel/console.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <trace/events/printk.h>
#include <trace/fmt.h>
#include <trace/trace.h>
#include "dmesg.h"

static void printk_line(enum log_level level, const char *line, size_t len)
{
	trace_console(line, len);
	dmesg_write(level, line, len);
}

static void printk_args(enum log_level level, const char *fmt, va_list args)
{
	char text[PRINTK_LINE_MAX];
	char *line = text;

	trace_vsnprintf(text, sizeof(text), fmt, args);
	/* Each line becomes a message of its own. There is no line behind the last newline. */
	for (;;) {
		char *end = strchr(line, '\n');

		if (!end || !end[1]) {
			printk_line(level, line, end ? (size_t)(end - line) : strlen(line));
			break;
		}
		printk_line(level, line, (size_t)(end - line));
		line = end + 1;
	}
	console_flush_messages();
}

/* No call sites: probes call it. */
TRACE_NOTRACE void printk_from_probe(const char *line, size_t len)
{
	if (trace_console_enabled())
		trace_console_call(line, len);
	dmesg_write(LOG_WARN, line, len);
	console_flush_later();
}

void printk(enum log_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printk_args(level, fmt, args);
	va_end(args);
}

void kernel_warn(const char *fmt, ...)
{
	va_list args;

	trace_host_warned((uintptr_t)__builtin_return_address(0));
	va_start(args, fmt);
	printk_args(LOG_WARN, fmt, args);
	va_end(args);
}
