/*
 * What belongs to one CPU; its GS base points to it. Each CPU runs one thread, for good. The names
 * have a prefix because the files of the library see all that is declared here.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>
#include <trace/thread.h>

#define MAX_CPUS 4

struct smp_cpu {
	struct smp_cpu *self;
	uint32_t id;
	uint32_t preempt_count; /* how often the library has turned preemption off; there is none */
	uint32_t recursion;
	uint64_t calls;	  /* of work() */
	uint64_t counted; /* those of them that a callback has counted */
	struct trace_thread thread;
};

extern struct smp_cpu smp_cpus[MAX_CPUS];
extern _Atomic uint32_t smp_nr_cpus; /* running */

/* A field of the running CPU. */
#define THIS_CPU(field) (((volatile struct smp_cpu __seg_gs *)0)->field)

/* Interrupt all other CPUs, and return when all have been: before they go on, IRET serialises. */
void smp_sync(void);

#endif
