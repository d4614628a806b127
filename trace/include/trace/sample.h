/*
 * The profiler: samples of the code that runs, as events profile:sample. The host has a timer for each
 * CPU, or lets other CPUs interrupt it by NMI, and tells of each such interruption; everything else, the
 * files in profile/ of each instance included, is here.
 *
 *   event on in an instance --> set() of the host: a period for each CPU that is sampled
 *   each period, on that CPU --> trace_sample() --> instances whose own period has passed
 *
 * Instances with longer periods take every second, third ... hit of the shortest period. A host that
 * never calls trace_sample_host_set() has neither event nor files, and needs no function for this.
 *
 * Context:   trace_sample() - interrupt or NMI. The rest as stated.
 * Ownership: the struct belongs to the host, and is there for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_SAMPLE_H
#define TRACE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* Origins of hits; the file `clock` has their names. */
enum trace_sample_clock {
	TRACE_SAMPLE_TIMER, /* an interrupt of the CPU: code with interrupts off is not seen */
	TRACE_SAMPLE_NMI,   /* an NMI that another CPU sends */
	TRACE_SAMPLE_NR_CLOCKS
};

#define TRACE_SAMPLE_BITS 31 /* the highest bit of the word is the host's own */

/* A sample that waits for the stack of the program. */
struct trace_sample_due {
	enum trace_sample_clock clock; /* of the hit */
	uint32_t bits;		       /* not 0; the lowest TRACE_SAMPLE_BITS */
};

struct trace_sample_host {
	/* NULL: hits by that clock can be had; or the reason why not. Thread. */
	const char *(*lacks)(enum trace_sample_clock clock);
	/*
	 * From now on hit that CPU, which is online, every `period_ns` nanoseconds by that clock; 0:
	 * no more. A hit that is on its way may still come. Thread, config lock held; it may wait for
	 * other CPUs.
	 */
	void (*set)(uint32_t cpu, enum trace_sample_clock clock, uint32_t period_ns);
	/*
	 * Call trace_sample_return() with these bits before the running thread goes back to its program; if
	 * it has none, nothing is to be done. Bits of several calls before that are told together. A
	 * program that ends, or that execve() replaces, is left after such a call. NULL: programs' stacks are
	 * read in the interrupt, as far as that can be done. Interrupt or NMI, as the clock says.
	 */
	void (*at_return)(const struct trace_sample_due *due);
};

/* For the host, once, before trace_init(). */
void trace_sample_host_set(const struct trace_sample_host *host);

struct trace_sample_hit {
	uint64_t ip; /* the interrupted instruction, of the kernel or of a program */
	uintptr_t
		frame; /* from which trace_plat_backtrace() finds `ip` first; 0: from here it does later */
	uint64_t now_ns;    /* trace_plat_clock_ns() at the beginning of the interrupt */
	uint32_t period_ns; /* that set() has asked for */
	uint32_t periods;   /* since the hit before, 1 or more: those between the two were missed */
	uint32_t preempt_count; /* of the interrupted code: trace_plat_preempt_count() */
	enum trace_sample_clock clock;
	bool is_user;  /* a program was interrupted */
	bool irqs_off; /* the interrupted code had interrupts off */
};

/*
 * A CPU was hit. The handler of that interrupt calls this on the interrupted stack's behalf: the
 * backtraces of <trace/platform_events.h> lead over it to the interrupted code. Interrupts and
 * preemption are off.
 */
void trace_sample(const struct trace_sample_hit *hit);
/*
 * Write the stack of the running program behind the samples that have asked for it by `bits`. Thread,
 * interrupts and preemption on: pages of the program that are not there may be made.
 */
void trace_sample_return(uint32_t bits);

TRACE_END_DECLS

#endif
