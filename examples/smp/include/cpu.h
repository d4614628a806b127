/*
 * The data of one CPU; its GS base points to it. Each CPU has threads of its own, which its timer
 * switches. The names have a prefix because the files of the library see all that is declared here.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <trace/atomic.h>
#include <trace/per_cpu.h>
#include <trace/thread.h>

#define SMP_MAX_CPUS	4
#define SMP_NR_THREADS	2 /* of a CPU */
#define SMP_STACK_BYTES 16384

struct smp_thread {
	struct trace_thread trace;
	uintptr_t rsp; /* while it does not run */
	uintptr_t stack_end;
	int32_t pid;
	bool was_interrupted; /* it was switched out by the timer, and not by a call */
	uint64_t calls;	      /* of work() */
	uint64_t counted;     /* those of them that a callback has counted */
	uint64_t seen;	      /* and those that the ops has seen which comes and goes */
};

struct smp_cpu {
	struct trace_per_cpu trace;
	struct smp_thread threads[SMP_NR_THREADS];
	uint32_t running; /* the thread that runs */
};

extern struct smp_cpu smp_cpus[SMP_MAX_CPUS];
extern uint32_t TRACE_ATOMIC smp_nr_cpus; /* running */

/* Switch to the next thread, which was wanted and could not be while preemption was off; if interrupts are on. */
void smp_reschedule(void);

#endif
