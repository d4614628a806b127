/*
 * See host.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/platform.h>
#include "host.h"

#define PAGE_BYTES 4096u

uint64_t bare_clock_ns;
char bare_log[512];
long bare_nr_alloc;

void *trace_plat_alloc(size_t bytes)
{
	size_t size = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	void *memory = aligned_alloc(PAGE_BYTES, size);

	if (memory)
		memset(memory, 0, size);
	bare_nr_alloc += memory != NULL;
	return memory;
}

void trace_plat_free(void *memory, size_t bytes)
{
	(void)bytes;
	bare_nr_alloc--;
	free(memory);
}

void trace_plat_log(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(bare_log, sizeof(bare_log), fmt, args);
	va_end(args);
}
