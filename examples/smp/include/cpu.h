/*
 * What belongs to one CPU, behind its GS base; each runs one thread, for good. The files of the
 * library see all that this declares: hence the prefix.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <trace/thread.h>

#define MAX_CPUS 4

struct smp_cpu {
	struct smp_cpu *self;
	uint32_t id;
	uint32_t preempt_count; /* how often callbacks have turned it off: nobody preempts here */
	uint32_t recursion;
	uint64_t calls;	  /* of work() */
	uint64_t counted; /* of them, by a callback */
	struct trace_thread thread;
};

extern struct smp_cpu smp_cpus[MAX_CPUS];
extern _Atomic uint32_t smp_nr_cpus; /* running */

/* A field of the running CPU. */
#define THIS_CPU(field) (((volatile struct smp_cpu __seg_gs *)0)->field)

/* Returns when all other CPUs have been interrupted: the IRET serialises. */
void smp_sync(void);

#endif
