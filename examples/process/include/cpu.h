/*
 * A thread as a CPU: what belongs to it lies behind its GS base, which Linux leaves to programs. It
 * is set before the thread calls its first traced function, and never changes: what is inlined into
 * the library from here runs in this thread from its first to its last instruction. Signals are the
 * interrupts. The files of the library see all that this declares: hence the prefix.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <trace/thread.h>

#define PROCESS_CPUS	 8
#define PROCESS_NAME_LEN 16

/* Of preempt_count: nobody wants this CPU for another thread, ever. */
#define PROCESS_NO_RESCHED 0x80000000u
/* Of preempt_count: a signal handler runs. */
#define PROCESS_IN_SIGNAL 0x00010000u

struct process_cpu {
	struct process_cpu *self;
	uint32_t id;
	int32_t pid; /* of the thread */
	/* Two halves of one word, 8-byte aligned: trace_plat_context_word() loads both. */
	uint32_t preempt_count;
	uint32_t recursion;
	uintptr_t stack_low, stack_top;
	const uintptr_t *interrupted; /* registers, while it answers cpu_call() */
	struct trace_thread thread;
	char name[PROCESS_NAME_LEN];
} __attribute__((aligned(64)));

/*
 * A field of the running CPU. The const one is for what changes at most under a signal, which
 * leaves it as it was: one load may serve several readers.
 */
#define THIS_CPU(field)	  (((volatile struct process_cpu __seg_gs *)0)->field)
#define THIS_CONST(field) (((const struct process_cpu __seg_gs *)0)->field)

extern uint64_t process_ns_per_cycle; /* in units of 2^-32 */

/* The text of the program, and how far above it its writable view lies: text.c. */
extern struct process_text {
	uintptr_t start, end;
	intptr_t view_offset;
} process_text;
extern char process_exec_start[], process_exec_end[]; /* room for trampolines, in it */

/* Block all signals of this thread but SIGTRAP; the signals that were blocked before. */
uint64_t process_signals_block(void);
void process_signals_restore(uint64_t blocked);

/* Returns when every thread of the process has executed a serialising instruction. */
void process_sync_cores(void);

#endif
