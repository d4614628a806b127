/* See text.h. */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <trace/arch_host.h>
#include <unistd.h>
#include "text.h"

#define RET 0xc3

uint8_t *silicon_view;

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static long membarrier(int command)
{
	return syscall(__NR_membarrier, command, 0, 0);
}

/* CPUs are threads: a new one has serialised when it runs. */
void trace_arch_cpus_hold(void)
{
}

void trace_arch_cpus_release(void)
{
}

/* As on an emulator: what costs more is tried. */
bool trace_arch_is_emulated(void)
{
	return true;
}

void trace_arch_sync_cores(void)
{
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
		panic("membarrier failed");
}

void trace_arch_broken(const char *what)
{
	panic("%s", what);
}

uintptr_t trace_plat_fentry(void)
{
	return SILICON_TEXT;
}

bool text_map(void)
{
	int fd = memfd_create("text", 0);
	int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;

	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
		return false;
	if (fd < 0 || ftruncate(fd, SILICON_TEXT_BYTES) ||
	    mmap((void *)SILICON_TEXT, SILICON_TEXT_BYTES, PROT_READ | PROT_EXEC, flags, fd, 0) ==
		    MAP_FAILED)
		panic("cannot map text");
	silicon_view = mmap(NULL, SILICON_TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (silicon_view == MAP_FAILED)
		panic("cannot map the view");
	memset(silicon_view, RET, SILICON_TEXT_BYTES);
	return true;
}
