/*
 * Common code of the latency tracers. Each looks for the longest time of its kind, such as the
 * longest time with interrupts off, and keeps the events that were recorded during it.
 *
 *   a probe sees a time begin --> calls on that CPU are recorded --> a probe sees it end
 *                                                                     | longer than the maximum?
 *                                                                     v
 *                      the buffers are exchanged: snapshot; the maximum goes to struct trace_max
 *
 * While such a tracer is current, `trace` shows the snapshot, from the begin of the maximum on.
 *
 * Context:   probes of tracepoints (interrupts or preemption off) and callbacks - probe. start,
 *            stop - thread, config lock held.
 * Locking:   trace_max_lock(), with interrupts off, guards the maximum, from the comparison on.
 * Ownership: a struct trace_latency is static. One instance at a time uses it, and points to it
 *            from its slot.
 */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include <stdatomic.h>
#include <trace/fgraph.h>
#include <trace/ftrace.h>
#include <trace/host_tracepoints.h>
#include <trace/recursion.h>
#include "instance/array.h"
#include "instance/max.h"

struct trace_iter;
struct trace_seq;

struct trace_latency {
	struct trace_array *_Atomic tr; /* the instance that uses it, or NULL */
	_Atomic bool is_on;		/* tracing_on: while it is off no time begins or ends */
	/* Register the probes of its tracepoints: all of them, or on failure none. 0 or -errno. */
	int (*listen)(void);
	/* Unregister them. A probe may still be running when this returns. */
	void (*stop_listening)(void);
	/*
	 * Does a call on this CPU belong to a time that is being measured? Preemption is off;
	 * `preempt_count` is that of the traced code.
	 */
	bool (*records)(const struct trace_latency *lat, uint32_t cpu, uint32_t preempt_count);
	/* When the time that is being measured on this CPU began. */
	uint64_t (*start_ts)(uint32_t cpu);

	/* For latency.c only. */
	bool has_calls;		  /* tr->ops is registered with our callback */
	bool is_graph;		  /* that callback is the one of display-graph */
	struct fgraph_user graph; /* added while both are true */
	uint64_t saved_options;	  /* the instance's, from before the start */
};

/* The use of a latency tracer by an instance. */
struct trace_latency_use {
	struct trace_latency *_Atomic running; /* the current tracer's, or NULL */
};
TRACE_SLOT(trace_latency_of, struct trace_latency_use, latency)

/*
 * Begin for `tr`, which has room for a snapshot: set the options that latency tracers need, have
 * calls recorded, register the probes. 0; -EBUSY: an instance uses `lat` already; -ENOMEM, or an
 * error of registering. On failure everything is undone.
 */
int trace_latency_start(struct trace_latency *lat, struct trace_array *tr);
/* The members reset, start, stop and instance_option of each latency tracer's struct tracer. */
void trace_latency_reset(struct trace_array *tr);
void trace_latency_switch_on(struct trace_array *tr);
void trace_latency_switch_off(struct trace_array *tr);
int trace_latency_option(struct trace_array *tr, uint32_t option, bool on);

static inline bool trace_latency_is_recording(struct trace_latency *lat)
{
	struct trace_array *tr = lat->tr;

	return tr && lat->is_on && ring_buffer_record_is_set_on(tr->buffer);
}

/* For a probe: write the event of a call, to show where something happened. Preemption off. */
void trace_latency_point(struct trace_latency *lat, uintptr_t ip, uintptr_t parent_ip);
/* For a probe: write a stack trace from the caller of `ip` on; with `inclusive` from `ip` on. */
void trace_latency_stack(struct trace_array *tr, uintptr_t ip, bool inclusive);

/* Time in the unit of the buffer's events. */
static inline uint64_t trace_latency_now(struct trace_array *tr)
{
	return ring_buffer_time_stamp(tr->buffer);
}

/* latency_graph.c: calls in the form of function_graph, for the option display-graph. */
int trace_latency_graph_start(struct trace_latency *lat, struct trace_array *tr);
void trace_latency_graph_stop(struct trace_latency *lat, struct trace_array *tr);
/* trace_latency_point() in that form: a function that is entered and left at once. */
void trace_latency_graph_point(struct trace_array *tr, uintptr_t ip);
void trace_latency_print_header(struct trace_iter *iter, struct trace_seq *seq);
bool trace_latency_print_line(struct trace_iter *iter, struct trace_seq *seq);

/* Is a time of `ns` to be kept: is it a new maximum or, with tracing_thresh, not below that? */
bool trace_latency_is_news(const struct trace_array *tr, uint64_t ns);
/*
 * Make `max` the maximum, and take a snapshot: of the ring of max->cpu alone if is_one_cpu is set.
 * Nothing happens when no snapshot can be taken now. trace_max_lock() is held.
 */
void trace_latency_keep(struct trace_array *tr, const struct trace_max *max);
/* Fill in the thread that the maximum belongs to. */
void trace_latency_name(struct trace_max *max, const struct trace_sched_thread *thread);

#define TRACE_LATENCY_MEMBERS                                                                      \
	.start = trace_latency_switch_on, .stop = trace_latency_switch_off,                        \
	.print_header = trace_latency_print_header, .print_line = trace_latency_print_line,        \
	.instance_option = trace_latency_option, .uses_snapshot = true

extern struct tracer tracer_irqsoff;
extern struct tracer tracer_preemptoff;
extern struct tracer tracer_preemptirqsoff;
extern struct tracer tracer_wakeup;
extern struct tracer tracer_wakeup_rt;

/* Register them all, at start. */
int trace_latency_init(void);

/* For a callback that has disabled preemption once: the preempt count of the traced code. */
static TRACE_ALWAYS_INLINE uint32_t trace_latency_traced_count(void)
{
	uint32_t count = trace_plat_preempt_count();

	return count - 1 - trace_recursion_list_depth(trace_recursion_context(count));
}

#endif
