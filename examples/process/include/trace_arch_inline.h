/*
 * The answers to <trace/arch_host.h>: text is written through a second mapping of it, which is
 * always there, and the core sync is a system call. See text.c.
 */
#ifndef TRACE_ARCH_INLINE_HOST_H
#define TRACE_ARCH_INLINE_HOST_H

#include "cpu.h"

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return addr >= process_text.start && addr < process_text.end;
}

static inline void trace_arch_view_open(void)
{
}

static inline void trace_arch_view_close(void)
{
}

/* Signals stay on: a handler may call what is being changed, just as another thread may. */
static inline struct trace_arch_view trace_arch_view_enter(void)
{
	return (struct trace_arch_view){ 0 };
}

static inline void trace_arch_view_leave(struct trace_arch_view view)
{
	(void)view;
}

static inline void *trace_arch_view_of(uintptr_t addr)
{
	return (void *)(addr + (uintptr_t)process_text.view_offset);
}

/* A new thread needs no waiting: Linux has serialised before it runs. */
static inline void trace_arch_cpus_hold(void)
{
}

static inline void trace_arch_cpus_release(void)
{
}

static inline void trace_arch_sync_cores(void)
{
	process_sync_cores();
}

static inline void trace_arch_serialise(void)
{
	process_sync_cores();
}

static inline void trace_arch_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* It may be: qemu-x86_64 runs programs of Linux. */
static inline bool trace_arch_is_emulated(void)
{
	return true;
}

static inline uintptr_t trace_arch_exec_start(void)
{
	return (uintptr_t)process_exec_start;
}

static inline size_t trace_arch_exec_bytes(void)
{
	return (size_t)(process_exec_end - process_exec_start);
}

#endif
