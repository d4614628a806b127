/*
 * The functions that the library asks of its host in <trace/platform.h> and <trace/arch_host.h>,
 * beside those in threads.c and patch_*.c. The library has defaults for those that are neither here
 * nor in include/. Nothing here is traced.
 */
#include <stdarg.h>
#include <trace/arch_host.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "smp.h"

#define LINE_BYTES 256

void print(const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	trace_vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	console_write(line);
	console_write("\n");
}

void trace_plat_log(const char *fmt, ...) __attribute__((alias("print")));

void trace_arch_broken(const char *what)
{
	print("%s", what);
	power_off();
}

/* Also before they run: buffers are made for all of them. */
uint32_t trace_plat_nr_cpus(void)
{
	return machine_nr_cpus();
}
