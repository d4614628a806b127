/*
 * The function_graph tracer: its settings, and its callbacks.
 *
 *   options/funcgraph-*, set_graph_function, max_graph_depth --> struct trace_graph of the instance
 *   graph_tracer.c  the tracer: options, start and stop      graph_calls.c  the callbacks
 *   graph_record.c  events in any context, decisions by the settings
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
	TRACE_GRAPH_RELTIME = 1u << 13,	   /* not an option: latency tracers print with this flag */
	TRACE_GRAPH_ARGS = 1u << 14,	   /* entries are recorded as GRAPH_ARGS_ENT */
};

#define TRACE_GRAPH_DEFAULT                                                                        \
	(TRACE_GRAPH_CPU | TRACE_GRAPH_OVERHEAD | TRACE_GRAPH_DURATION | TRACE_GRAPH_IRQS |        \
	 TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME)

/* Settings of one instance. */
struct trace_graph {
	_Atomic uint32_t options;   /* while the tracer runs */
	_Atomic uint32_t max_depth; /* deeper calls are not recorded; 0: no limit */
	/*
	 * Not a real ops, never registered: its filter is set_graph_function, its exceptions are
	 * set_graph_notrace. Callbacks read sets.func_hash with preemption off.
	 */
	struct ftrace_ops sets;

	struct fgraph_user user;     /* of the frames that graph_calls.c pushes */
	_Atomic bool measures_sleep; /* sleep_ns of all its frames is set: no sleep-time */
};
TRACE_SLOT(trace_graph_of, struct trace_graph, graph)

struct fgraph_frame;

extern struct tracer tracer_function_graph;

/*
 * Start and stop the callbacks of an instance, at the sites of tr->ops. update is to be called
 * after a change of a setting that they obey (options, max_depth, sets, threshold, thread filters),
 * also when they do not run. Config lock held. start returns 0 or an error of
 * register_ftrace_graph(); update 0, or, only when sleep-time was changed, an error of
 * ftrace_graph_sleep_get().
 */
int trace_function_graph_start(struct trace_array *tr);
void trace_function_graph_stop(struct trace_array *tr);
int trace_function_graph_update(struct trace_array *tr);

/*
 * graph_calls.c: the func of tr->ops, another one for funcgraph-args, and three exits of its user:
 * for the default settings; for sleep-time cleared, when sleep_ns of all frames is set; and for any
 * settings.
 */
struct trace_thread;
void trace_graph_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
void trace_graph_entry_args(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs);
void trace_graph_exit(struct fgraph_frame *frame, struct trace_thread *thread,
		      struct fgraph_user *user);
void trace_graph_exit_awake(struct fgraph_frame *frame, struct trace_thread *thread,
			    struct fgraph_user *user);
void trace_graph_exit_any(struct fgraph_frame *frame, struct trace_thread *thread,
			  struct fgraph_user *user);

/*
 * Write an event of function_graph into the buffer of `tr`, of the type that the options ask for.
 * In any context; the caller has disabled preemption exactly once. False: recording is off, or the
 * event was dropped.
 */
bool trace_graph_write_entry(struct trace_array *tr, const struct ftrace_graph_ent *ent);
bool trace_graph_write_return(struct trace_array *tr, const struct ftrace_graph_ret *ret);
/*
 * The same for the entry of a frame that was pushed. True, with no event, if the frame is hidden.
 */
bool trace_graph_write_frame(struct trace_array *tr, const struct fgraph_frame *frame);

/* The same with the arguments of the call. */
bool trace_graph_write_frame_args(struct trace_array *tr, const struct fgraph_frame *frame,
				  const struct ftrace_regs *fregs);

/*
 * Is a call of the function at `ip` by the running thread to be recorded, by the settings of `tr`?
 * `next` is the result of fgraph_next(). Returns the head for the frame of the call; FGRAPH_NO_HEAD
 * when the sets, the depth, the thread filters or the options exclude the call. A head with
 * FGRAPH_HIDDEN is for a function of set_graph_notrace: it gets a frame without events, so that the
 * calls inside are known not to be recorded. Preemption is off.
 */
uint32_t trace_graph_wanted_head(struct trace_array *tr, uintptr_t ip, uint32_t next);

#endif
