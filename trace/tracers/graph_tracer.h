/*
 * The function_graph tracer: what its options and files say, and where its callbacks begin.
 *
 *   options/funcgraph-*, set_graph_function, max_graph_depth --> struct trace_graph of the instance
 *   graph_tracer.c  the tracer: options, start and stop      graph_calls.c  the callbacks
 *   graph_event.c  events in any context, what the settings say
 *
 * Context:   fields are written by threads, config lock held, and read by probes.
 */
#ifndef TRACE_GRAPH_H
#define TRACE_GRAPH_H

#include <stdatomic.h>
#include <trace/fgraph.h>
#include <trace/tracer.h>
#include "instance/array.h"

/* Options of the tracer, as bits. */
enum trace_graph_option {
	TRACE_GRAPH_OVERRUN = 1u << 0,
	TRACE_GRAPH_CPU = 1u << 1,
	TRACE_GRAPH_OVERHEAD = 1u << 2,
	TRACE_GRAPH_PROC = 1u << 3,
	TRACE_GRAPH_DURATION = 1u << 4,
	TRACE_GRAPH_ABSTIME = 1u << 5,
	TRACE_GRAPH_IRQS = 1u << 6, /* off: calls in hardirq context are not recorded */
	TRACE_GRAPH_TAIL = 1u << 7,
	TRACE_GRAPH_RETVAL = 1u << 8, /* returns are recorded as GRAPH_RETVAL */
	TRACE_GRAPH_RETVAL_HEX = 1u << 9,
	TRACE_GRAPH_RETADDR = 1u << 10,	   /* entries are recorded as GRAPH_RETADDR_ENT */
	TRACE_GRAPH_SLEEP_TIME = 1u << 11, /* durations include time spent switched out */
	TRACE_GRAPH_GRAPH_TIME = 1u << 12, /* the function profiler counts called functions too */
	TRACE_GRAPH_RELTIME = 1u << 13,	   /* no option: latency tracers print with it */
};

#define TRACE_GRAPH_DEFAULT                                                                        \
	(TRACE_GRAPH_CPU | TRACE_GRAPH_OVERHEAD | TRACE_GRAPH_DURATION | TRACE_GRAPH_IRQS |        \
	 TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME)

/* Settings of one instance. */
struct trace_graph {
	_Atomic uint32_t options;   /* while the tracer runs */
	_Atomic uint32_t max_depth; /* deeper calls are not recorded; 0: no limit */
	/*
	 * Never registered: its filter is set_graph_function, its exceptions are
	 * set_graph_notrace. Probes look at sets.func_hash with preemption off.
	 */
	struct ftrace_ops sets;

	/* graph_calls.c */
	struct fgraph_user user;
	_Atomic bool measures_sleep; /* frames know how long their thread had slept */
};

TRACE_SLOT_FITS(struct trace_graph, graph);

static inline struct trace_graph *trace_graph_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, graph);
}

struct fgraph_frame;

extern struct tracer tracer_function_graph;

/*
 * The callbacks of an instance, at the sites of tr->ops: function_graph_update() after any setting
 * that they obey has changed (options, max_depth, sets, the threshold, thread filters); it may be
 * called when they are not running too. Config lock held. Errors as register_ftrace_graph() of the
 * one, as ftrace_graph_sleep_get() of the other, which can fail only if sleep-time has changed.
 */
int function_graph_start(struct trace_array *tr);
void function_graph_stop(struct trace_array *tr);
int function_graph_update(struct trace_array *tr);

/*
 * graph_calls.c: the func of tr->ops, and the exits of its user: with settings as they are at
 * first, without sleep-time (all frames know how long their thread had slept), and with any.
 */
struct trace_thread;
void trace_graph_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
void trace_graph_exit(struct fgraph_frame *frame, struct trace_thread *thread,
		      struct fgraph_user *user);
void trace_graph_exit_awake(struct fgraph_frame *frame, struct trace_thread *thread,
			    struct fgraph_user *user);
void trace_graph_exit_any(struct fgraph_frame *frame, struct trace_thread *thread,
			  struct fgraph_user *user);

/*
 * Write an event of the graph into the buffer of `tr`, of the type that the options ask for, for
 * tracers that have callbacks of their own. False: there was no room, or recording is off.
 * Preemption is off, once.
 */
bool trace_graph_write_entry(struct trace_array *tr, const struct ftrace_graph_ent *ent);
bool trace_graph_write_return(struct trace_array *tr, const struct ftrace_graph_ret *ret);
/* The entry of a frame that was pushed; one that only hides what it calls has none: true. */
bool trace_graph_write_frame(struct trace_array *tr, const struct fgraph_frame *frame);

/*
 * What the settings of `tr` say to a call of `ip` by the current thread, whose frame starts from
 * `next`, as fgraph_next() has it: the head for the frame, or FGRAPH_NO_HEAD when the sets, the
 * depth, the thread filters or the options do not want it. With FGRAPH_HIDDEN the frame has no
 * event: it hides what it calls. Preemption is off.
 */
uint32_t trace_graph_wanted_head(struct trace_array *tr, uintptr_t ip, uint32_t next);

#endif
