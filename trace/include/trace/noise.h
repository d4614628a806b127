/*
 * Noise of the machine: the tracer hwlat, which looks for times in which the machine itself kept a CPU
 * from running. It needs threads of the host; everything else, the directory hwlat_detector/ included, is
 * here. docs/noise.md shows its use.
 *
 *   echo hwlat > current_tracer --> start() of the host: threads that watch the clock, interrupts off
 *   echo nop > current_tracer   --> wake(), then join() for each
 *
 * A host that never calls trace_noise_host_set() has neither tracer nor files, and needs no function for
 * this.
 *
 * Context:   thread, but for trace_noise_nmi().
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
	 * The calling thread, one of start(), sleeps for `ns` nanoseconds, or until done(arg) is true:
	 * that is asked at first, and after each wake().
	 */
	void (*sleep)(uint64_t ns, bool (*done)(void *arg), void *arg);
	/* All threads in sleep() look again. Config lock held. */
	void (*wake)(void);
	/* The calling thread, one of start(), runs on that CPU from now on. 0; -EINVAL: it is offline. */
	int (*move)(uint32_t cpu);
	/* Nanoseconds since 1970, UTC. Interrupts are off. */
	void (*real)(uint64_t *out_ns);
};

/* For the host, once, before trace_init(). */
void trace_noise_host_set(const struct trace_noise_host *host);
/*
 * For the host, at the beginning and at the end of each NMI: hwlat tells the time in NMIs apart from that
 * of the machine. NMI; not traced. A host without NMIs leaves it out.
 */
void trace_noise_nmi(bool enters);

TRACE_END_DECLS

#endif
