/*
 * Tracers, the choices of the file current_tracer. While it is current a tracer writes events into
 * the buffer; it may have options and its own way of printing. A tracer can be written outside of
 * trace/, too: docs/adding.md has an example.
 *
 *   nop -- init --> running -- reset --> nop      start and stop: tracing_on switched while running
 *
 * Several instances may run the same tracer at the same time. So it keeps its data for each of
 * them, in tracer_data(), and writes into the buffer of each, by <trace/event.h>.
 *
 * Context:   every member - thread, may block; print_header and print_line: any. The config lock is
 *            held in all but these two, so they may not wait for a write to tracefs, nor call
 *            register_tracer() and the like.
 * Ownership: a tracer cannot be unregistered. An instance that a member or a callback was given
 *            exists as long as the tracer runs in it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/ftrace.h>

TRACE_BEGIN_DECLS

struct ring_buffer;
struct trace_array;
struct trace_iter;
struct trace_seq;

/* Options of an instance, which concern every tracer: trace_options and options/NAME. */
enum trace_option {
	TRACE_OPT_PRINT_PARENT,
	TRACE_OPT_SYM_OFFSET,
	TRACE_OPT_SYM_ADDR,
	TRACE_OPT_VERBOSE,
	TRACE_OPT_RAW,
	TRACE_OPT_HEX,
	TRACE_OPT_BIN,
	TRACE_OPT_BLOCK,
	TRACE_OPT_FIELDS,
	TRACE_OPT_TRACE_PRINTK,
	TRACE_OPT_ANNOTATE,
	TRACE_OPT_USERSTACKTRACE,
	TRACE_OPT_SYM_USEROBJ,
	TRACE_OPT_PRINTK_MSG_ONLY,
	TRACE_OPT_CONTEXT_INFO,
	TRACE_OPT_LATENCY_FORMAT,
	TRACE_OPT_RECORD_CMD,
	TRACE_OPT_RECORD_TGID,
	TRACE_OPT_OVERWRITE,
	TRACE_OPT_DISABLE_ON_FREE,
	TRACE_OPT_IRQ_INFO,
	TRACE_OPT_MARKERS,
	TRACE_OPT_EVENT_FORK,
	TRACE_OPT_PRINTK_DEST,
	TRACE_OPT_COPY_MARKER,
	TRACE_OPT_PAUSE_ON_TRACE,
	TRACE_OPT_HASH_PTR,
	TRACE_OPT_BITMASK_LIST,
	TRACE_OPT_FUNCTION_TRACE,
	TRACE_OPT_FUNCTION_FORK,
	TRACE_OPT_DISPLAY_GRAPH,
	TRACE_OPT_STACKTRACE,
	TRACE_OPT_ERRNO_NAMES, /* ours: names of errors in events of system calls */
	TRACE_NR_OPTIONS,
};

struct tracer_option {
	const char *name;
	uint32_t bit;
};

struct tracer {
	const char *name;
	/* Begin; the buffer was just emptied. 0, or -errno with everything undone. */
	int (*init)(struct trace_array *tr);
	/* End. When it returns no event may come any more. This and all that follow may be NULL. */
	void (*reset)(struct trace_array *tr);
	/* The file tracing_on is switched on; was switched off. */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
	/* Its option `bit` is to be changed. -errno refuses: the option stays as it was. */
	int (*set_option)(struct trace_array *tr, uint32_t bit, bool on);
	/*
	 * An option of the instance (enum trace_option) has been changed. -errno refuses: the
	 * option is set back.
	 */
	int (*instance_option)(struct trace_array *tr, uint32_t option, bool on);
	/* tracing_thresh, or which threads the instance traces, has changed. 0 or -errno. */
	int (*settings_changed)(struct trace_array *tr);
	/* Print the header of `trace`, behind the name of the tracer. NULL: the usual one. */
	void (*print_header)(struct trace_iter *iter, struct trace_seq *seq);
	/* The line of one event; false leaves it to the usual printing. */
	bool (*print_line)(struct trace_iter *iter, struct trace_seq *seq);
	const struct tracer_option *options;
	size_t nr_options;
	size_t instance_bytes; /* size of tracer_data(); 0: it has none */
	bool uses_snapshot;    /* it keeps its maximum in the snapshot, which `trace` then shows */
	uint32_t default_bits; /* options that are set in an instance at first */

	/* For the registry, guarded by the config lock. Zero before registration. */
	uint32_t index;
	struct tracer *next;
};

/*
 * To be called at any time from trace_init() on. The files of its options appear in options/ of
 * every instance. 0; -EEXIST (the name is taken), -EINVAL (no name or no init), -ENOSPC (there are
 * 16 tracers), -ENOMEM. Thread context, without the config lock.
 */
int register_tracer(struct tracer *tracer);

/* ---- Functions for tracers about an instance. Any context, unless stated otherwise. ---- */

/*
 * The instance_bytes bytes that `tracer` keeps for `tr`; NULL before its first init there. They are
 * zeroed before the first init, and later inits find them as they were left. They are freed with
 * the instance, when no callback can run any more.
 */
void *tracer_data(const struct trace_array *tr, const struct tracer *tracer);
/* Is its option `bit` set? While set_option() runs this is the old state. */
bool tracer_option_is_set(const struct trace_array *tr, const struct tracer *tracer, uint32_t bit);
bool trace_option_is_set(const struct trace_array *tr, enum trace_option option);
/* Is the running thread one that the instance does not trace (set_ftrace_pid)? Preemption off. */
bool trace_array_ignores_current(const struct trace_array *tr);
/* tracing_thresh in nanoseconds, one for all instances. 0: no threshold. */
uint64_t tracing_thresh_ns(void);
/*
 * The buffer that is recorded into now, for its clock and its counters. A snapshot may exchange it
 * with another one at any moment.
 */
struct ring_buffer *trace_array_buffer(const struct trace_array *tr);

/*
 * For init() or start(): have `func` called for the functions of the instance's set_ftrace_filter,
 * with `tr` as ops->private. Results are those of register_ftrace_function(). Thread context.
 */
int tracer_register_function(struct trace_array *tr, ftrace_func_t func);
/*
 * For reset() or stop(): when this returns sites do not call any more. A thread that was preempted
 * on its way may still call `func` once; the instance exists until then. Thread context.
 */
void tracer_unregister_function(struct trace_array *tr);

TRACE_END_DECLS

#endif
