/*
 * What trace/ keeps for each thread. The host embeds it in its thread, zeroed at birth, and hands
 * it out by trace_plat_current() and trace_plat_each_thread().
 *
 * Context:   each field says who changes it; probes of the thread itself read all.
 * Ownership: the memory is the host's; what the fields point to is trace/'s. trace_thread_exited()
 *            is the last call that may look at it.
 */
#ifndef TRACE_THREAD_H
#define TRACE_THREAD_H

#include <stdint.h>

struct trace_thread {
	/* Bit n: the thread filter of instance n leaves this thread out. Config lock. */
	uint64_t ignored_by;
};

#endif
