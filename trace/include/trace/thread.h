/*
 * The data of trace/ for each thread. The host embeds it in its thread, zeroed at birth, and hands
 * it out by trace_plat_current() and trace_plat_each_thread().
 *
 * Context:   the comment of a field names its writer; probes of the thread itself read all.
 * Ownership: the memory belongs to the host; memory that the fields point to belongs to trace/. The
 *            host reports a new thread by trace_thread_created() of <trace/trace.h>, and its end by
 *            trace_thread_exited(), the last call that may read it. With the profile `graph` these
 *            are ftrace_graph_thread_created() and _exited() of <trace/fgraph.h>.
 *
 * SPDX-License-Identifier: MIT
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
struct uprobe_thread;

struct trace_thread {
	/*
	 * Each bit: an instance does not trace functions (set_ftrace_pid), or does not record
	 * events (set_event_pid), of this thread. Config lock.
	 */
	uint64_t ignored_by;
	/* Live patching: which side of a transition it is on. Changed under livepatch's lock. */
	uint32_t livepatch;
	/* Bit n: wait n for all threads has not seen this thread outside its code yet. */
	uint32_t grace;

	/*
	 * The shadow stack of <trace/fgraph.h>. Changed by the thread itself, and by interrupts on
	 * it, which leave it as they found it. Both pointers are NULL when it has none.
	 * The first user of graph tracing gives one to every thread that exists.
	 */
	struct fgraph_frame *graph_base;
	struct fgraph_frame *TRACE_ATOMIC graph_top;   /* the next free frame */
	uint64_t graph_next[TRACE_THREAD_GRAPH_USERS]; /* by user: the head of its next frame */
	union {					       /* parts as on a little-endian machine */
		uint32_t graph_overrun_word; /* as the event of a return has it, beside the depth */
		struct {
			uint16_t graph_unused;	/* 0 */
			uint16_t graph_overrun; /* calls that found no room; 65535: or more */
		};
	};
	bool graph_has_ended; /* the thread exits: give it no stack any more */

	/* Synthetic events that are being written; interrupts leave it as they found it. */
	TRACE_ATOMIC uint32_t synth_depth;

	/*
	 * Probes in programs: the thread's data, NULL until it has come to one; and not 0 while it is in handlers.
	 * Changed by the thread itself.
	 */
	struct uprobe_thread *uprobe;
	TRACE_ATOMIC uint64_t uprobe_phase;

	/* Instances with events that wait for the stack of the thread's program, by user_stack_bit. */
	TRACE_ATOMIC uint32_t user_stacks_due;

	/* Changed by a probe of sched_switch, between ftrace_graph_sleep_get() and _put(). */
	TRACE_ATOMIC uint64_t sleep_ns;	       /* time spent switched out, so far */
	TRACE_ATOMIC uint64_t switched_out_ns; /* when it was switched out last; 0: not known */
};

TRACE_END_DECLS

#endif
