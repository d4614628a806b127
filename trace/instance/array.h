/*
 * One tracing instance: a ring buffer, its tracer, its options. The global one is always there;
 * instance.c makes and removes the others, the directories in instances/.
 *
 * Context:   thread unless a function says otherwise.
 * Locking:   `trace_config_lock` guards every field that changes, unless a field says otherwise;
 *            probes read `buffer` and `options` without it. The list of instances changes with that
 *            lock and `trace_arrays_lock` held, so either of them is enough to walk it. With
 *            preemption off one may walk it without a lock, to use the buffers. Order of locks:
 *            config lock, arrays lock; config lock, read lock, then those of ftrace and the ring
 *            buffer.
 * Ownership: the holder of a reference (instance.h) may use the instance; so may code that found it
 *            in the list, as long as it holds the config lock. The global one is never freed.
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
#include "switch.h"

#define TRACE_BUF_SIZE_DEFAULT	     1441792u /* bytes per CPU: the 1408 KiB that users know */
#define TRACE_BUF_SIZE_MINIMAL	     (2ul * (RING_SUBBUF_BYTES - 16)) /* the two sub-buffers of a ring */
#define TRACE_BUFFER_PERCENT_DEFAULT 50u
#define TRACE_MAX_TRACERS	     16u
#define TRACE_INSTANCE_NAME	     128u /* NUL included */

struct ftrace_ops;
struct trace_array;
struct trace_clock;
struct trace_kept;

/* The data of one tracer in an instance: tracer_data(). */
struct trace_tracer_data {
	void *memory; /* NULL: the tracer has not run in this instance, or keeps nothing */
	size_t bytes;
};

struct trace_array_cpu {
	bool is_there;		  /* it is online, or was, or is about to be: it has a ring */
	_Atomic bool is_masked;	  /* tracing_cpumask leaves it out */
	bool is_piped;		  /* a trace_pipe of this CPU, or of all, is open */
	_Atomic int32_t piped_by; /* by the thread that opened it last */
	/* When poll last said that its ring is not filled enough; 0: since then it was. */
	_Atomic uint64_t polled_ns;
};

/* `len` bytes of `text` have been recorded; `ip` is where they came from. Thread. */
typedef void trace_marker_fn(struct trace_array *tr, uintptr_t ip, const char *text, size_t len);

struct trace_array {
	/*
	 * The buffer that is recorded into. A snapshot may exchange it with the other one at any
	 * moment (snapshot.h), so load it once for each event. Both live as long as the instance.
	 */
	struct ring_buffer *_Atomic buffer;

	char name[TRACE_INSTANCE_NAME];	  /* set once; "": the global one */
	struct trace_array *_Atomic next; /* in the order of creation */
	uint32_t nr_refs;		  /* arrays lock; see instance.h */
	struct trace_tree *tree;	  /* arrays lock: its files; NULL before there are any */
	_Atomic uint64_t options;	  /* bits of enum trace_option; probes read it */
	_Atomic uint32_t tracer_bits[TRACE_MAX_TRACERS]; /* tracer_option_bits() */
	bool is_expanded;				 /* the buffer has its full size */
	_Atomic bool holds_last;			 /* trace_kept_holds() */
	size_t wanted_bytes;				 /* per CPU, once it is expanded */
	struct tracer *tracer;				 /* never NULL */
	/*
	 * Ops of its tracer; set once. NULL: the global one, before, or without,
	 * the feature `functions`.
	 */
	struct ftrace_ops *ops;
	const struct trace_clock *clock;
	struct trace_array_cpu *cpus;
	/* A time before the oldest event of `buffer`: the latency format counts from there. */
	_Atomic uint64_t start_ts;
	/* Fill level of a CPU's ring, in percent, that wakes pollers. */
	_Atomic uint32_t buffer_percent;
	/*
	 * Number of trace_printk() calls that are using this instance, when it is not the global
	 * one: printk.h.
	 */
	_Atomic uint32_t nr_printing;
	uint32_t nr_pipes; /* open trace_pipe files: the tracer may not change */
	/*
	 * Its bits in trace_thread.ignored_by, of functions and of events; 0 while threads are not
	 * filtered. See pid_filter.h.
	 */
	_Atomic uint64_t pid_mask;
	_Atomic uint64_t event_pid_mask;
	uint32_t
		user_stack_bit; /* its own in trace_thread.user_stacks_due, or shared with others. Set once */
	struct trace_off_note off; /* switch.h */
	struct trace_kept *kept;   /* kept.h; NULL for usual ones. Set once */
	/*
	 * Time when the buffer was emptied last, by trace_plat_clock_ns(); and the cause of the
	 * last time that it had events, or NULL.
	 */
	_Atomic uint64_t emptied_ns;
	const char *_Atomic emptied_by;
	struct trace_error_log errors;
	struct trace_plat_lock read_lock; /* consuming readers, one at a time */
	struct trace_plat_waitq pipe_wait;
	struct trace_slots slots;
	/* By the number of the tracer. Set once, with the config lock held. */
	struct trace_tracer_data tracer_data[TRACE_MAX_TRACERS];
	/* Called with each text written to trace_marker; NULL without a listener. */
	trace_marker_fn *_Atomic marker_written;
};

/* tracing_thresh in nanoseconds, one for all instances; probes read it. 0: no threshold. */
extern _Atomic uint64_t trace_thresh_ns;

extern struct trace_plat_lock trace_config_lock;
extern struct trace_plat_lock trace_arrays_lock;

/* The global instance. Its `buffer` is NULL before trace_init(). */
extern struct trace_array trace_global;
/* The global instance; NULL before trace_init(). Any context. */
struct trace_array *trace_global_array(void);
/* The next of all instances, the global one first; start with NULL. Config or arrays lock held. */
struct trace_array *trace_array_next(const struct trace_array *tr);
/*
 * Give a new instance, which is in no list yet, its buffer, of `bytes` bytes per CPU and in the
 * mode that its options say, and its array of CPUs. 0, or -ENOMEM with nothing allocated.
 */
int trace_array_init(struct trace_array *tr, size_t bytes);
/* The same with a buffer that has rings for all CPUs; it is the instance's if that succeeds. */
int trace_array_init_buffer(struct trace_array *tr, struct ring_buffer *buffer);
/*
 * `cpu` comes online: give it rings in every instance and snapshot. 0; -ENOMEM: some instances have
 * none for it. Config lock held.
 */
int trace_arrays_add_cpu(uint32_t cpu);
/*
 * Make the global instance, in the small size that it has until it is used, and register the nop
 * tracer. 0 or -ENOMEM.
 */
int trace_arrays_init(void);
/*
 * Free the memory of trace_array_init(), and the data of tracers. The instance has no users any
 * more.
 */
void trace_array_release(struct trace_array *tr);

static inline bool trace_array_is_global(const struct trace_array *tr)
{
	return !tr->name[0];
}

/* For a boot parameter, before trace_init(): the full size of the global instance, per CPU. */
void trace_set_boot_size(size_t bytes);

/* Give the buffer its full size, at the first use. Config lock held. 0 or -ENOMEM. */
int trace_array_expand(struct trace_array *tr);
/*
 * Give the ring of `cpu`, or RING_BUFFER_ALL_CPUS, a new size in bytes, not 0. 0; -ENOMEM, also for
 * a size that no ring can have; -EBUSY while `trace` is being read. Config lock held.
 */
int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu);
/*
 * As ring_buffer_subbuf_order_set(), for the buffer and, where there is one, the snapshot. Config
 * lock held.
 */
int trace_array_set_subbuf_order(struct trace_array *tr, int order);
/* For `why`: the buffer is about to be emptied by that. */
void trace_array_note_emptied(struct trace_array *tr, const char *by);
/*
 * Forget the events of `cpu` or RING_BUFFER_ALL_CPUS; `by`, a text that lasts, names the cause for
 * the file `why`. No snapshot is taken meanwhile, so a latency tracer may miss a maximum, a part of
 * whose events would have been forgotten. Config lock held.
 */
void trace_array_reset(struct trace_array *tr, int cpu, const char *by);
/* The same for the events in the snapshot, if there is one. */
void trace_array_reset_snapshot(struct trace_array *tr, int cpu);
/*
 * Switch recording as a user does: also starts and stops the tracer. `by` is the origin of
 * switching off. Config lock held.
 */
void trace_array_switch(struct trace_array *tr, bool on, enum trace_off_by by);

/* ---- tracer.c ---- */

/* The options of `tracer` that are set in this instance, as bits. Any context. */
static inline uint32_t tracer_option_bits(const struct trace_array *tr, const struct tracer *tracer)
{
	return tr->tracer_bits[tracer->index];
}
/* The tracer of that name, or NULL. Config lock held. */
struct tracer *tracer_find(const char *name);
/* The next of all registered tracers, newest first; start with NULL. Config lock held. */
struct tracer *tracer_next(const struct tracer *tracer);
/*
 * End the current tracer, empty the buffer and begin the one of that name. 0; -EINVAL: there is no
 * such tracer; -EBUSY: a trace_pipe is open; -ENOMEM, or an error of the new tracer. When it cannot
 * begin the instance is left with nop. Config lock held.
 */
int tracer_switch(struct trace_array *tr, const char *name);
/* Call settings_changed() of the current tracer, see <trace/tracer.h>. Config lock held. */
int tracer_settings_changed(struct trace_array *tr);
extern struct tracer tracer_nop;

/* ---- clocks.c ---- */

struct trace_clock {
	const char *name;
	ring_clock_fn now; /* NULL: trace_plat_clock_ns(), the default of the ring buffer */
	bool is_ns;	   /* it counts nanoseconds */
};
extern const struct trace_clock trace_clocks[];
extern const size_t trace_nr_clocks;
const struct trace_clock *trace_clock_find(const char *name);
/* Set the clock and empty the buffers, since times of two clocks do not mix. Config lock held. */
void trace_array_set_clock(struct trace_array *tr, const struct trace_clock *clock);

#endif
