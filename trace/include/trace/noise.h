/*
 * Noise, the times in which a thread that wants to run cannot: the tracer hwlat finds those that the machine
 * takes, osnoise those of interrupts and other threads, too, and timerlat those between a timer's deadline and
 * its thread. They need threads of the host; everything else, the directories hwlat_detector/ and osnoise/
 * included, is here. docs/noise.md shows their use.
 *
 *   echo hwlat > current_tracer --> start() of the host: threads that watch the clock, interrupts off
 *   echo nop > current_tracer   --> wake(), then join() for each
 *
 * A host that never calls trace_noise_host_set() has neither tracers nor files, and needs no function for
 * this.
 *
 * Context:   thread, but for the functions that tell of interrupts.
 * Ownership: the struct belongs to the host, and is there for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_NOISE_H
#define TRACE_NOISE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_noise_host {
	/*
	 * Run fn(arg) in a new thread of that name, which is copied. The handle for join(), or NULL:
	 * out of memory. Config lock held; the thread never takes it.
	 */
	void *(*start)(const char *name, int (*fn)(void *arg), void *arg);
	/* Wait until that function has returned, and free the thread. Config lock held. */
	void (*join)(void *thread);
	/*
	 * The calling thread sleeps for `ns` nanoseconds, or until done(arg) is true:
	 * that is asked at first, and after each wake().
	 */
	void (*sleep)(uint64_t ns, bool (*done)(void *arg), void *arg);
	/* All threads in sleep() look again. Config lock held. */
	void (*wake)(void);
	/* The calling thread, one of start(), runs on that CPU from now on. 0; -EINVAL: it is offline. */
	int (*move)(uint32_t cpu);
	/* Nanoseconds since 1970, UTC. Interrupts are off. */
	void (*real)(uint64_t *out_ns);

	/* ---- For osnoise and timerlat; a host that leaves `listen` out has neither. ---- */

	/*
	 * Begin to call trace_noise_irq(), trace_noise_softirq() and trace_noise_timer(). 0; or -errno, with
	 * nothing begun. Config lock held.
	 */
	int (*listen)(void);
	/* End that; calls that have begun may go on. Config lock held. */
	void (*unlisten)(void);
	/* As sleep(), until trace_plat_clock_ns() of this CPU has come to `deadline_ns`. */
	void (*sleep_until)(uint64_t deadline_ns, bool (*done)(void *arg), void *arg);
	/* The calling thread, one of start(), becomes a real-time thread: Linux's FIFO, priority 95. */
	void (*urge)(void);

	/* ---- For timerlat_fd, by which programs take the place of timerlat's threads; or NULL. ---- */

	/* May the running thread, of a program, use that CPU alone? */
	bool (*is_pinned)(uint32_t cpu);
	/* As sleep_until(), for the thread of a program: 0, or -EINTR when a signal ends it. */
	int (*sleep_user)(uint64_t deadline_ns, bool (*done)(void *arg), void *arg);
};

/* For the host, once, before trace_init(). */
void trace_noise_host_set(const struct trace_noise_host *host);
/*
 * For the host, at the beginning and at the end of each NMI: their time is told apart from that of the
 * machine. NMI; not traced. A host without NMIs leaves it out.
 */
void trace_noise_nmi(bool enters);
/*
 * For the host, at the beginning and at the end of each interrupt, and of each softirq. The name is read at
 * the end only. Interrupts, or preemption, off; not traced.
 */
void trace_noise_irq(bool enters, int vector, const char *name);
void trace_noise_softirq(bool enters, int vector, const char *name);
/* For the host, in the interrupt of this CPU's timer, behind trace_noise_irq(). Not traced. */
void trace_noise_timer(void);

TRACE_END_DECLS

#endif
