/*
 * A tracer: what current_tracer switches between. It owns where events come from while it is
 * current, and may have options and a way of printing of its own. It can be written anywhere:
 * docs/adding.md has one.
 *
 *   nop -- init --> running -- reset --> nop      stop / start: tracing_on while running
 *
 * Each instance may run it, at the same time as others do: what a tracer keeps belongs to one of
 * them, tracer_data(). It writes into that one's buffer, by <trace/event.h>.
 *
 * Context:   every member - thread, the tracing configuration locked, may block. So none may wait
 *            for who writes to tracefs; and register_tracer() and the like are not for them.
 * Ownership: a registered tracer stays registered for good. An instance that a member or a callback
 *            was given stays while the tracer runs there.
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
	TRACE_OPT_TRACE_PRINTK,
	TRACE_OPT_ANNOTATE,
	TRACE_OPT_PRINTK_MSG_ONLY,
	TRACE_OPT_CONTEXT_INFO,
	TRACE_OPT_LATENCY_FORMAT,
	TRACE_OPT_RECORD_CMD,
	TRACE_OPT_OVERWRITE,
	TRACE_OPT_DISABLE_ON_FREE,
	TRACE_OPT_IRQ_INFO,
	TRACE_OPT_MARKERS,
	TRACE_OPT_PAUSE_ON_TRACE,
	TRACE_OPT_FUNCTION_TRACE,
	TRACE_OPT_FUNCTION_FORK,
	TRACE_OPT_DISPLAY_GRAPH,
	TRACE_OPT_STACKTRACE,
	TRACE_NR_OPTIONS,
};

struct tracer_option {
	const char *name;
	uint32_t bit;
};

struct tracer {
	const char *name;
	/* Begin; the buffer was just emptied. On failure nothing may be left behind. */
	int (*init)(struct trace_array *tr);
	/* End. No event may come any more when it returns. */
	void (*reset)(struct trace_array *tr);
	/* The rest is optional. tracing_on was switched on, off. */
	void (*start)(struct trace_array *tr);
	void (*stop)(struct trace_array *tr);
	/* May refuse with -errno: the option then stays as it was. */
	int (*set_option)(struct trace_array *tr, uint32_t bit, bool on);
	/*
	 * An option of the instance (enum trace_option) has changed. It may refuse with -errno: the
	 * option then goes back to what it was.
	 */
	int (*instance_option)(struct trace_array *tr, uint32_t option, bool on);
	/* tracing_thresh, or which threads the instance traces, has changed. 0 or -errno. */
	int (*settings_changed)(struct trace_array *tr);
	/* Instead of the usual header of `trace`. */
	void (*print_header)(struct trace_iter *iter, struct trace_seq *seq);
	/* The line of one event; false leaves it to the usual printing. */
	bool (*print_line)(struct trace_iter *iter, struct trace_seq *seq);
	const struct tracer_option *options;
	size_t nr_options;
	size_t instance_bytes; /* of tracer_data(); 0: it has none */
	bool uses_snapshot;    /* it keeps the worst case there: `trace` shows that one */
	uint32_t default_bits; /* options that a new instance has set; each has its own */

	/* The registry's, under the configuration lock. Zero before registration. */
	uint32_t index;
	struct tracer *next;
};

/*
 * At any time from trace_init() on: the files in options/ appear in every instance.
 * 0, -EEXIST when the name is taken, -EINVAL without name or init, -ENOSPC when there are too many,
 * -ENOMEM.
 */
int register_tracer(struct tracer *tracer);

/* ---- What a tracer asks of an instance. Any context, where nothing else is said. ---- */

/*
 * What `tracer` keeps in `tr`: instance_bytes, zero before the first init there; later inits find
 * what was left. It goes with the instance, when no callback can run any more. NULL before the
 * first init.
 */
void *tracer_data(const struct trace_array *tr, const struct tracer *tracer);
/* Is its option `bit` set? While set_option() runs: was it? */
bool tracer_option_is_set(const struct trace_array *tr, const struct tracer *tracer, uint32_t bit);
bool trace_option_is_set(const struct trace_array *tr, enum trace_option option);
/* Does the instance leave the running thread out (set_ftrace_pid)? */
bool trace_array_ignores_current(const struct trace_array *tr);
/* tracing_thresh, which is one for all instances. 0: none. */
uint64_t tracing_thresh_ns(void);
/*
 * What is recorded into now, for its clock and its counters; a snapshot may put another one in its
 * place at any moment.
 */
struct ring_buffer *trace_array_buffer(const struct trace_array *tr);

/*
 * From init() or start(): let `func` be called for the functions of the instance's
 * set_ftrace_filter, with `tr` as ops->private. As register_ftrace_function().
 */
int tracer_register_function(struct trace_array *tr, ftrace_func_t func);
/*
 * From reset() or stop(): no call begins any more. A thread that was preempted on its way may call
 * `func` once more, as long as the instance is there.
 */
void tracer_unregister_function(struct trace_array *tr);

TRACE_END_DECLS

#endif
