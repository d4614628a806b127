/*
 * The host of targets without the fake machine: one CPU and one thread, and memory from malloc, of which
 * the pieces are counted. To be included once.
 */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include <stdlib.h>
#include <trace/platform.h>

static struct fake_cpu cpu = { .id = 5, .pid = 9 };
_Thread_local struct fake_cpu *fake_this = &cpu;
static long nr_allocated;

void *trace_plat_alloc(size_t bytes)
{
	nr_allocated++;
	return calloc(1, bytes);
}

void trace_plat_free(void *memory, size_t bytes)
{
	(void)bytes;
	nr_allocated--;
	free(memory);
}

#endif
