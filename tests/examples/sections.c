/*
 * The smallest host of the profile `events`, for a look at what the linker makes of it: it never runs.
 * It announces an event, uses the format of a trace_printk(), and looks for reads that may fault.
 */
#include <trace/arch_read.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace.h>

uint64_t ns_per_cycle;
char text_start[1], text_end[1], exec_start[1], exec_end[1];

void *trace_plat_alloc(size_t bytes)
{
	(void)bytes;
	return NULL;
}

void trace_plat_free(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}

void trace_plat_log(const char *fmt, ...)
{
	(void)fmt;
}

uintptr_t _start(void);
uintptr_t _start(void)
{
	uint64_t word = 0;

	if (trace_init() == 0)
		trace_arch_read_word(&word, 0);
	return trace_fixup_find(word);
}
