/*
 * The answers to <trace/arch_host.h> about memory, for a host whose text is written where it lies:
 * its <trace_arch_inline.h> includes this. How other CPUs are made to serialise is left to the
 * host; <trace/arch_one_cpu.h> has it for those with one.
 *
 * The page tables may say that text is read-only: for as long as a write takes, this CPU does not
 * look at that bit (WP of CR0; CR4.CET has to be off). No other CPU can write meanwhile, and no
 * page has to be writable and executable.
 *
 * The host's linker script has text_start and text_end around what can be changed; a host with
 * other names defines TRACE_TEXT_START and TRACE_TEXT_END before. Code that is made at run time
 * lies in trace_exec_room, 16 KiB of the library's text; a host with other room for it defines
 * TRACE_EXEC_START and TRACE_EXEC_END.
 *
 * Context: as there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_IN_PLACE_H
#define TRACE_ARCH_IN_PLACE_H

#include <trace/arch_host.h>

TRACE_BEGIN_DECLS

#ifndef TRACE_TEXT_START
extern char text_start[], text_end[];
#define TRACE_TEXT_START text_start
#define TRACE_TEXT_END	 text_end
#endif

#ifndef TRACE_EXEC_START
extern char trace_exec_room[], trace_exec_room_end[]; /* exec_room.asm */
#define TRACE_EXEC_START trace_exec_room
#define TRACE_EXEC_END	 trace_exec_room_end
#endif

#define TRACE_ARCH_CR0_WP (1ull << 16)

static inline bool trace_arch_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)TRACE_TEXT_START && addr < (uintptr_t)TRACE_TEXT_END;
}

static inline uintptr_t trace_arch_exec_start(void)
{
	return (uintptr_t)TRACE_EXEC_START;
}

static inline size_t trace_arch_exec_bytes(void)
{
	return (size_t)((uintptr_t)TRACE_EXEC_END - (uintptr_t)TRACE_EXEC_START);
}

static inline void trace_arch_view_open(void)
{
}

static inline void trace_arch_view_close(void)
{
}

static inline struct trace_arch_view trace_arch_view_enter(void)
{
	struct trace_arch_view view;

	view.irqs = trace_plat_irq_save();
	__asm__ volatile("mov %%cr0, %0" : "=r"(view.space));
	__asm__ volatile("mov %0, %%cr0" : : "r"(view.space & ~TRACE_ARCH_CR0_WP) : "memory");
	return view;
}

static inline void trace_arch_view_leave(struct trace_arch_view view)
{
	__asm__ volatile("mov %0, %%cr0" : : "r"(view.space) : "memory");
	trace_plat_irq_restore(view.irqs);
}

static inline void *trace_arch_view_of(uintptr_t addr)
{
	return (void *)addr;
}

static inline void trace_arch_serialise(void)
{
	uint32_t eax = 0, ecx = 0;

	__asm__ volatile("cpuid" : "+a"(eax), "+c"(ecx) : : "ebx", "edx", "memory");
}

static inline void trace_arch_relax(void)
{
	__asm__ volatile("pause");
}

TRACE_END_DECLS

#endif
