/*
 * A tracer: what current_tracer switches between. It owns where events come from while it is
 * current, and may have options and a way of printing of its own.
 *
 *   nop -- init --> running -- reset --> nop      stop / start: tracing_on while running
 *
 * Context:   every member - thread, the tracing configuration locked, may block.
 * Ownership: a registered tracer stays registered for good.
 */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_array;
struct trace_iter;
struct trace_seq;

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

TRACE_END_DECLS

#endif
