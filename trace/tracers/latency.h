/*
 * What the latency tracers have in common: each looks for the longest time of a kind, and keeps
 * what happened in it.
 *
 *   probe: a time begins --> calls are recorded on its CPU --> probe: it ends
 *                                                               |  longer than the maximum?
 *                          snapshot <-- exchange of buffers <---'  then struct trace_max too
 *
 * `trace` shows the snapshot while such a tracer is current, from the begin of the maximum on.
 *
 * Context:   probe: of tracepoints (interrupts or preemption off), and callbacks. start,
 *            stop - thread, config lock held.
 * Locking:   trace_max_lock(), interrupts off, guards trace_max_of(tr) and what decides about it.
 * Ownership: a struct trace_latency is static; one instance uses it at a time, and has it in
 *            its slot.
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
	struct trace_array *_Atomic tr; /* NULL: nobody uses it */
	_Atomic bool is_on;		/* tracing_on: no times begin or end without */
	/*
	 * Let its probes come: all, or on failure none. Let them go: none begins any more, but one
	 * may still run.
	 */
	int (*listen)(void);
	void (*stop_listening)(void);
	/*
	 * Are calls on this CPU part of a time? Preemption off, count as the traced code left it.
	 */
	bool (*records)(const struct trace_latency *lat, uint32_t cpu, uint32_t preempt_count);
	/* When that time began. */
	uint64_t (*start_ts)(uint32_t cpu);

	/* latency.c */
	bool has_calls; /* the ops of `tr` is registered for us, */
	bool is_graph;	/* and `graph` added */
	struct fgraph_user graph;
	uint32_t saved_options;
};

/* Of an instance. */
struct trace_latency_use {
	struct trace_latency *_Atomic running;
};
TRACE_SLOT_FITS(struct trace_latency_use, latency);

static inline struct trace_latency_use *trace_latency_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, latency);
}

/*
 * Begin for `tr`, which has room for a snapshot: options are set as latency tracers want them,
 * calls and probes come. -EBUSY: another instance uses `lat`; -ENOMEM. Nothing is left behind then.
 */
int trace_latency_start(struct trace_latency *lat, struct trace_array *tr);
/* The other members that their struct tracer have in common. */
void trace_latency_reset(struct trace_array *tr);
void trace_latency_switch_on(struct trace_array *tr);
void trace_latency_switch_off(struct trace_array *tr);
int trace_latency_option(struct trace_array *tr, uint32_t option, bool on);

static inline bool trace_latency_is_recording(struct trace_latency *lat)
{
	struct trace_array *tr = lat->tr;

	return tr && lat->is_on && ring_buffer_record_is_set_on(tr->buffer);
}

/* A place in the trace, from a probe. Interrupts or preemption off. */
void trace_latency_point(struct trace_latency *lat, uintptr_t ip, uintptr_t parent_ip);
/* The callers of the tracepoint's `ip`, with `inclusive` itself first. */
void trace_latency_stack(struct trace_array *tr, uintptr_t ip, bool inclusive);

/* Time in the unit of the buffer's events. */
static inline uint64_t trace_latency_now(struct trace_array *tr)
{
	return ring_buffer_time_stamp(tr->buffer);
}

/* latency_graph.c: the same in the form of function_graph. */
int trace_latency_graph_start(struct trace_latency *lat, struct trace_array *tr);
void trace_latency_graph_stop(struct trace_latency *lat, struct trace_array *tr);
/* A place, as a function that is entered and left at once. */
void trace_latency_graph_point(struct trace_array *tr, uintptr_t ip);
void trace_latency_print_header(struct trace_iter *iter, struct trace_seq *seq);
bool trace_latency_print_line(struct trace_iter *iter, struct trace_seq *seq);

/* Is it a new maximum, or over the threshold? */
bool trace_latency_is_news(const struct trace_array *tr, uint64_t ns);
/* Keep `max`, and the buffers in the snapshot: those of max->cpu alone if it is_one_cpu. With
 * trace_max_lock(). */
void trace_latency_keep(struct trace_array *tr, const struct trace_max *max);
/* Whose time it was. */
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

/* In a callback that has turned preemption off once: preempt_count as the traced code left it. */
static TRACE_ALWAYS_INLINE uint32_t trace_latency_traced_count(void)
{
	uint32_t count = trace_plat_preempt_count();

	return count - 1 - trace_recursion_list_depth(trace_recursion_context(count));
}

#endif
