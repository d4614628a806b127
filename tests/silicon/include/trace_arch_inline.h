/*
 * A process as host of trace/arch/x86_64: contracts are in <trace/arch_host.h>. The text that is
 * patched is one mapping of a file in memory, the view of it another, writable one that is always
 * there; trampolines lie in its upper half. There are no interrupts to mask: a breakpoint is a
 * signal, and the kernel's core sync does not wait for its handler.
 */
#ifndef SILICON_TRACE_ARCH_INLINE_H
#define SILICON_TRACE_ARCH_INLINE_H

#define SILICON_TEXT	   0x10000000ul /* where code runs: readable and executable */
#define SILICON_TEXT_BYTES 0x10000ul

extern uint8_t *silicon_view;

/* Has this process's other threads serialise, too. */
void trace_arch_sync_cores(void);

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return addr - SILICON_TEXT < SILICON_TEXT_BYTES;
}

static inline void trace_arch_view_open(void)
{
}

static inline void trace_arch_view_close(void)
{
}

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
	return silicon_view + (addr - SILICON_TEXT);
}

static inline void trace_arch_serialise(void)
{
	trace_arch_sync_cores();
}

static inline void trace_arch_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

static inline uintptr_t trace_arch_exec_start(void)
{
	return SILICON_TEXT + SILICON_TEXT_BYTES / 2;
}

static inline size_t trace_arch_exec_bytes(void)
{
	return SILICON_TEXT_BYTES / 2;
}

#endif
