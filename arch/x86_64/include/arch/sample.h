/*
 * Interruptions for the profiler: each period of time one of this CPU, by its timer; or by an NMI that the
 * timer of another CPU sends, which comes while interrupts are off, too.
 *
 *   CPU 1's timer --> sample_interrupt() --> upcall_sample()                     clock TIMER
 *                                        --> NMI --> CPU 0: sample_nmi() --> upcall_sample()   NMI
 *
 * Context: interrupts off; about the running CPU, where nothing else is said. Times are those of
 * tsc_clock_ns().
 */
#ifndef ARCH_SAMPLE_H
#define ARCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* An interruption: the argument of upcall_sample(). */
struct arch_sample {
	uint64_t ip;	 /* the interrupted instruction */
	uintptr_t frame; /* its trap's, as backtraces begin with it */
	uint32_t period_ns;
	uint32_t preempt_count; /* of the interrupted code */
	uint32_t periods;	/* since the one before; those between the two were missed */
	bool is_nmi;
	bool is_user;
	bool irqs_off;
};

/* Interrupt this CPU every `period_ns`; 0: no more. */
void arch_sample_set(uint32_t period_ns);
/* Send an NMI to CPU `target` every `period_ns`; 0: no more. One target for each CPU. */
void arch_sample_set_nmi(uint32_t target, uint32_t period_ns);

/* Interrupt this CPU once, as soon as interrupts are on. Any context; an NMI may return to code that has them on. */
void arch_sample_interrupt(void);

/* For timer.c: the timer has fired. Returns when it is wanted next, TIMER_NONE for not at all. Not traced. */
uint64_t sample_interrupt(const struct trap_frame *regs, uint64_t now);
/*
 * The interrupt has done what samples need. An NMI before that counts for the interrupted code, so that
 * the profiler does not find itself. Not traced.
 */
void sample_leave(void);
/* For the handler of NMIs: takes a sample if this NMI is one for that. Returns false if not. Not traced. */
bool sample_nmi(const struct trap_frame *regs);

#endif
