/*
 * A thread as a CPU: its GS base, which Linux leaves to programs, points to what belongs to it. It
 * is set before the thread calls its first traced function, and never changes, so what the library
 * inlines from here stays in the same thread all the time. Signals are the interrupts. The names
 * have a prefix because the files of the library see all that is declared here.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <trace/thread.h>

#define PROCESS_CPUS	 8
#define PROCESS_NAME_LEN 16

/* Of preempt_count: this CPU is never wanted for another thread. */
#define PROCESS_NO_RESCHED 0x80000000u
/* Of preempt_count: a signal handler runs. */
#define PROCESS_IN_SIGNAL 0x00010000u

struct process_cpu {
	struct process_cpu *self;
	uint32_t id;
	int32_t pid; /* of the thread */
	/* These two are the halves of one aligned word: trace_plat_context_word() loads both. */
	uint32_t preempt_count;
	uint32_t recursion;
	uint32_t nr_traps; /* handlers of int3s that run */
	uintptr_t stack_low, stack_top;
	const uintptr_t *interrupted; /* registers, while it answers cpu_call() */
	struct trace_thread thread;
	char name[PROCESS_NAME_LEN];
} __attribute__((aligned(64)));

/*
 * A field of the running CPU. THIS_CONST is for fields that no other thread changes, or only a signal
 * handler, which restores them: the compiler may load such a field once for several uses.
 */
#define THIS_CPU(field)	  (((volatile struct process_cpu __seg_gs *)0)->field)
#define THIS_CONST(field) (((const struct process_cpu __seg_gs *)0)->field)

extern uint64_t process_ns_per_cycle; /* times 2^32 */

/* The text of the program, and the distance of its writable view above it: text.c. */
extern struct process_text {
	uintptr_t start, end;
	intptr_t view_offset;
} process_text;
extern char process_exec_start[], process_exec_end[]; /* room for trampolines, in the text */

/* Block all signals of this thread that no instruction causes. Returns which were blocked before, for restore. */
uint64_t process_signals_block(void);
void process_signals_restore(uint64_t blocked);

/* Let every thread of the process execute a serialising instruction, and wait for that. */
void process_sync_cores(void);

#endif
