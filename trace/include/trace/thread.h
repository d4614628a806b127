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

#include <stdbool.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

#define TRACE_THREAD_GRAPH_USERS 17 /* FGRAPH_MAX_USERS, counted from 1 */

struct fgraph_frame;

struct trace_thread {
	/* Bit n: the thread filter of instance n leaves this thread out. Config lock. */
	uint64_t ignored_by;
	/* Live patching: the side of a transition. Its lock, or the thread stands still. */
	uint32_t livepatch;
	/* Bit n: this thread has yet to be seen outside of code that goes: ops/ftrace_grace.h. */
	uint32_t grace;

	/*
	 * The shadow stack of <trace/fgraph.h>, changed by the thread itself and by interrupts on
	 * it, which leave it as they found it. All NULL: it has none. Given and taken by
	 * fgraph_stack.c.
	 */
	struct fgraph_frame *graph_base;
	struct fgraph_frame *TRACE_ATOMIC graph_top;   /* the next free frame */
	uint64_t graph_next[TRACE_THREAD_GRAPH_USERS]; /* by user: what its next frame gets */
	union {					       /* of a little-endian machine */
		uint32_t graph_overrun_word; /* as the event of a return has it, beside the depth */
		struct {
			uint16_t graph_unused;	/* 0 */
			uint16_t graph_overrun; /* calls that found no room; 65535: or more */
		};
	};
	bool graph_has_ended; /* it exits: no stack for it any more */

	/* As long as somebody wants to know: a probe of sched_switch. */
	TRACE_ATOMIC uint64_t sleep_ns; /* spent switched out, so far */
	TRACE_ATOMIC uint64_t
		switched_out_ns; /* when it was, last; 0: before anybody wanted to know */
};

TRACE_END_DECLS

#endif
