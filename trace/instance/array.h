/*
 * One tracing instance: a ring buffer, its tracer, its options. The global one is always there;
 * instance.c makes and removes the others, the directories in instances/.
 *
 * Context:   thread where nothing else is said.
 * Locking:   `trace_config_lock` guards every field that changes, unless a field says otherwise;
 *            probes read `buffer` and `options` without it. The list of instances changes under
 *            it and `trace_arrays_lock`, so either is enough to walk it; so is preemption that is
 *            off, for the buffers. Order: config lock, arrays lock; config lock, read lock, then
 *            ftrace's and the ring buffer's own.
 * Ownership: whoever holds a reference (instance.h), or the config lock and found the instance in
 *            the list, may use it. The global one stays for good.
 */
#ifndef TRACE_ARRAY_H
#define TRACE_ARRAY_H

#include <stdatomic.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/tracer.h>
#include "error_log.h"
#include "options.h"
#include "slots.h"

#define TRACE_BUF_SIZE_DEFAULT	     1441792u /* bytes per CPU: the 1408 KiB that users know */
#define TRACE_BUF_SIZE_MINIMAL	     (2ul * (RING_SUBBUF_BYTES - 16)) /* the two sub-buffers of a ring */
#define TRACE_BUFFER_PERCENT_DEFAULT 50u
#define TRACE_MAX_TRACERS	     16u
#define TRACE_INSTANCE_NAME	     128u /* NUL included */

struct ftrace_ops;
struct trace_clock;

/* What a tracer keeps here: tracer_data(). */
struct trace_tracer_data {
	void *memory; /* NULL: it has not run here, or keeps nothing */
	size_t bytes;
};

struct trace_array_cpu {
	bool is_there;	/* it is online, or was, or is about to be: it has a ring */
	bool is_masked; /* tracing_cpumask leaves it out */
	bool is_piped;	/* a trace_pipe of this CPU, or of all, is open */
};

struct trace_array {
	/*
	 * What is recorded into. A snapshot exchanges it with another one at any moment, see
	 * snapshot.h: load it once for each event. Both live as long as tr.
	 */
	struct ring_buffer *_Atomic buffer;

	char name[TRACE_INSTANCE_NAME];	  /* set once; "": the global one */
	struct trace_array *_Atomic next; /* in the order of creation */
	uint32_t nr_refs;		  /* arrays lock; see instance.h */
	struct trace_tree *tree;	  /* arrays lock: its files; NULL before there are any */
	_Atomic uint32_t options;	  /* bits of enum trace_option; probes read it */
	_Atomic uint32_t tracer_bits[TRACE_MAX_TRACERS]; /* tracer_option_bits() */
	bool is_expanded;				 /* the buffer has its full size */
	size_t wanted_bytes;				 /* per CPU, once it is expanded */
	struct tracer *tracer;				 /* never NULL */
	struct ftrace_ops *ops;				 /* of the tracer; set once */
	const struct trace_clock *clock;
	struct trace_array_cpu *cpus;
	/* Before the oldest event: zero of the latency format. It goes with the buffer. */
	_Atomic uint64_t start_ts;
	_Atomic uint32_t buffer_percent; /* how full a CPU's buffer wakes who polls it */
	uint32_t nr_pipes;		 /* open trace_pipe files: the tracer may not change */
	bool filters_pids;		 /* set_ftrace_pid or set_ftrace_notrace_pid is in use */
	/* Its bit in trace_thread.ignored_by; 0 while it filters no threads. */
	_Atomic uint64_t pid_mask;
	struct trace_error_log errors;
	struct trace_plat_lock read_lock; /* consuming readers, one at a time */
	struct trace_plat_waitq pipe_wait;
	struct trace_slots slots;
	/* By the number of the tracer. Config lock until it is there, then it stays. */
	struct trace_tracer_data tracer_data[TRACE_MAX_TRACERS];
};

/* tracing_thresh: one for all instances; probes read it. 0: none. */
extern _Atomic uint64_t trace_thresh_ns;

extern struct trace_plat_lock trace_config_lock;
extern struct trace_plat_lock trace_arrays_lock;

/* Without a buffer before trace_init(). */
extern struct trace_array trace_global;
/* NULL before trace_init(). Any context. */
struct trace_array *trace_global_array(void);
/* The next of all instances, the global one first; start with NULL. Config or arrays lock held. */
struct trace_array *trace_array_next(const struct trace_array *tr);
/*
 * Give an instance that nobody knows yet its buffer, in the mode of its options, and its CPUs.
 * -ENOMEM leaves nothing.
 */
int trace_array_init(struct trace_array *tr, size_t bytes);
/*
 * A CPU comes: rings for it in every instance and snapshot. -ENOMEM: some have none. Config lock
 * held.
 */
int trace_arrays_add_cpu(uint32_t cpu);
/* The global one, in the small size that it has until it is used, and nop. 0 or -ENOMEM. */
int trace_arrays_init(void);
/* Free what init made; nobody uses it any more. */
void trace_array_release(struct trace_array *tr);

static inline bool trace_array_is_global(const struct trace_array *tr)
{
	return !tr->name[0];
}

/* What boot parameters may set before trace_init(). */
void trace_set_boot_size(size_t bytes);

/* Give the buffer its full size, at the first use. Config lock held. 0 or -ENOMEM. */
int trace_array_expand(struct trace_array *tr);
/* New size in bytes, not 0, of `cpu` or RING_BUFFER_ALL_CPUS. -ENOMEM, -EBUSY. Config lock held. */
int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu);
/*
 * As ring_buffer_subbuf_order_set(), for the buffer and, where there is one, the snapshot. Config
 * lock held.
 */
int trace_array_set_subbuf_order(struct trace_array *tr, int order);
/*
 * Forget the events of `cpu` or RING_BUFFER_ALL_CPUS. No snapshot is taken meanwhile: a latency
 * tracer misses a maximum whose events would be forgotten in part.
 */
void trace_array_reset(struct trace_array *tr, int cpu);
/* The same of what is in the snapshot; fine when there is none. */
void trace_array_reset_snapshot(struct trace_array *tr, int cpu);
/* The tracing_on file: also starts and stops the tracer. Config lock held. */
void trace_array_switch(struct trace_array *tr, bool on);

/* tracer.c */
/* Options of `tracer` in this instance. Any context. */
static inline uint32_t tracer_option_bits(const struct trace_array *tr, const struct tracer *tracer)
{
	return tr->tracer_bits[tracer->index];
}
struct tracer *tracer_find(const char *name);
/* The next of all registered, newest first; start with NULL. */
struct tracer *tracer_next(const struct tracer *tracer);
/* -EINVAL: no such tracer. -EBUSY: a trace_pipe is open. Config lock held. */
int tracer_switch(struct trace_array *tr, const char *name);
/* Tell the current tracer, see <trace/tracer.h>. 0 or -errno. Config lock held. */
int tracer_settings_changed(struct trace_array *tr);
extern struct tracer tracer_nop;

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
