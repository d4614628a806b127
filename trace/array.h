/*
 * One tracing instance: a ring buffer, its tracer, its options. There is one, the global one; the
 * code takes it as a parameter, so that there can be more.
 *
 * Context:   thread where nothing else is said.
 * Locking:   `trace_config_lock` guards every field that changes, unless a field says otherwise;
 *            probes read `buffer` and `options` without it. Order: config lock, read lock, then
 *            ftrace's and the ring buffer's own.
 * Ownership: instances live for good.
 */
#ifndef TRACE_ARRAY_H
#define TRACE_ARRAY_H

#include <stdatomic.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/tracer.h>
#include "func/graph.h"
#include "options.h"
#include "pids.h"

#define TRACE_BUF_SIZE_DEFAULT 1441792u /* bytes per CPU: the 1408 KiB that users know */

struct ftrace_ops;
struct trace_clock;

struct trace_array_cpu {
	bool is_masked; /* tracing_cpumask leaves it out */
	bool is_piped;	/* a trace_pipe of this CPU, or of all, is open */
};

struct trace_array {
	struct ring_buffer *buffer; /* set once */
	_Atomic uint32_t options;   /* bits of enum trace_option; probes read it */
	bool is_expanded;	    /* the buffer has its full size */
	size_t wanted_bytes;	    /* per CPU, once it is expanded */
	struct tracer *tracer;	    /* never NULL */
	struct ftrace_ops *ops;	    /* of the function tracer */
	const struct trace_clock *clock;
	struct trace_array_cpu *cpus;
	_Atomic uint64_t
		start_ts;	/* when the buffer was emptied last: zero of the latency format */
	uint32_t nr_pipes;	/* open trace_pipe files: the tracer may not change */
	struct trace_pids pids; /* set_ftrace_pid */
	struct trace_pids no_pids; /* set_ftrace_notrace_pid */
	_Atomic uint64_t thresh_ns;
	_Atomic uint64_t max_latency_ns;
	struct trace_graph graph;	  /* of the function_graph tracer */
	struct trace_plat_lock read_lock; /* consuming readers, one at a time */
	struct trace_plat_waitq pipe_wait;
};

extern struct trace_plat_lock trace_config_lock;

/* NULL before trace_init(). Any context. */
struct trace_array *trace_global_array(void);

/* What boot parameters may set before trace_init(). */
void trace_set_boot_size(size_t bytes);

/* Give the buffer its full size, at the first use. Config lock held. 0 or -ENOMEM. */
int trace_array_expand(struct trace_array *tr);
/* New size in bytes, not 0, of `cpu` or RING_BUFFER_ALL_CPUS. -ENOMEM, -EBUSY. Config lock held. */
int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu);
/* Forget the events of `cpu` or RING_BUFFER_ALL_CPUS. */
void trace_array_reset(struct trace_array *tr, int cpu);
/* The tracing_on file: also starts and stops the tracer. Config lock held. */
void trace_array_switch(struct trace_array *tr, bool on);

/* tracer.c */
struct tracer *tracer_find(const char *name);
/* The next of all registered, newest first; start with NULL. */
struct tracer *tracer_next(const struct tracer *tracer);
/* -EINVAL: no such tracer. -EBUSY: a trace_pipe is open. Config lock held. */
int tracer_switch(struct trace_array *tr, const char *name);
extern struct tracer tracer_nop;

/* trace_functions.c */
extern struct tracer tracer_function;
/* set_ftrace_pid became used or unused: choose the callback. Config lock held. */
int tracer_function_update_pids(struct trace_array *tr);

/* clocks.c */
struct trace_clock {
	const char *name;
	ring_clock_fn now; /* NULL: the ring buffer's own */
	bool is_ns;
};
extern const struct trace_clock trace_clocks[];
extern const size_t trace_nr_clocks;
const struct trace_clock *trace_clock_find(const char *name);
/* Switch and empty the buffer: times of two clocks do not mix. Config lock held. */
void trace_array_set_clock(struct trace_array *tr, const struct trace_clock *clock);

#endif
