/*
 * Data that each CPU keeps for itself, reached through the GS base.
 *
 * Context: any. Once a CPU runs, only it writes its fields, each with one instruction, so that an
 * interrupt sees the value before or after, never half of one.
 */
#ifndef ARCH_CPU_LOCAL_H
#define ARCH_CPU_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;
struct trace_thread;

struct cpu_local {
	struct cpu_local *self; /* gs:0 */
	struct thread *current; /* running thread; never NULL once threads are up */
	uint32_t id;		/* logical number, dense from 0 */
	uint32_t apic_id;
	uint32_t preempt_count;	  /* see <trace/platform.h>; bit 31 set: no reschedule wanted */
	uint32_t trace_recursion; /* of trace/, which reads it with preempt_count as one word */
	int32_t current_pid;	  /* of `current`; 0 for idle */
	struct trace_thread *trace_thread; /* of `current` */
	uint64_t tsc_mult;		   /* ns = ((tsc - tsc_base) * tsc_mult) >> 32 */
	uint64_t tsc_base;
	uint64_t tick_count;	   /* timer ticks that this CPU took */
	uint64_t kernel_stack_top; /* of `current` */
	uintptr_t irq_stack_top;   /* end of the outermost interrupt's trap frame; 0 in none */
	void *arch_private;	   /* arch/: descriptor tables, stacks */
	void *kernel_private;	   /* kernel/: run queue, timers */
	uint64_t user_rsp;	   /* of a program, in the first instructions of its system call */
};

#define PREEMPT_NO_RESCHED 0x80000000u
#define PREEMPT_INITIAL	   PREEMPT_NO_RESCHED

/* Read a field of the running CPU. With preemption on, the thread may be on another one by now. */
#define cpu_local_read(field)	      (((volatile struct cpu_local __seg_gs *)0)->field)
#define cpu_local_write(field, value) (((volatile struct cpu_local __seg_gs *)0)->field = (value))

static inline void cpu_local_add32(size_t offset, uint32_t delta)
{
	__asm__ volatile("addl %1, %%gs:(%0)" : : "r"(offset), "ri"(delta) : "memory", "cc");
}

#endif
