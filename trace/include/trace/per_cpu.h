/*
 * The library's data for a CPU, for hosts that put it into their own struct of a CPU.
 * <trace/arch_per_cpu.h> reaches and uses it, but is not needed to have one.
 *
 * Context:   of another CPU only trace_per_cpu_init(), before that calls traced functions.
 * Ownership: the struct belongs to its CPU.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PER_CPU_H
#define TRACE_PER_CPU_H

#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_thread;

struct trace_per_cpu {
	/* The halves of one word: trace_plat_context_word(). */
	uint32_t preempt_word; /* the count; its highest bit is set while no switch is wanted */
	uint32_t recursion;
	uint32_t id;
	int32_t pid; /* of the running thread, as are these two */
	struct trace_thread *thread;
	uintptr_t stack_end;
};

#define TRACE_PER_CPU_NO_SWITCH 0x80000000u
#define TRACE_PER_CPU_IRQ	0x00010000u
#define TRACE_PER_CPU_NMI	0x00100000u

/* The CPU with this number runs that thread; it need not be the CPU that calls this. */
static inline void trace_per_cpu_init(struct trace_per_cpu *cpu, uint32_t id,
				      struct trace_thread *thread, int32_t pid, uintptr_t stack_end)
{
	cpu->preempt_word = TRACE_PER_CPU_NO_SWITCH;
	cpu->recursion = 0;
	cpu->id = id;
	cpu->thread = thread;
	cpu->pid = pid;
	cpu->stack_end = stack_end;
}

TRACE_END_DECLS

#endif
