/*
 * Probes of functions, and the commands of set_ftrace_filter that set them (`schedule:traceoff:5`).
 *
 * Model:     a probe is a thing to do when a function is entered. For each instance and each struct
 *            ftrace_probe_ops there is one ops on call sites; each function under it has a word of
 *            its own, of which `func` makes what it likes.
 * Context:   func - probe, entered at most once per context. Everything else - thread, may block.
 * Locking:   one sleeping lock inside; probes look without it.
 * Ownership: probe_ops and commands live as long as they are registered. An instance that goes away
 *            takes its probes along.
 */
#ifndef TRACE_FTRACE_PROBE_H
#define TRACE_FTRACE_PROBE_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct trace_array;
struct ftrace_probe_ops;

/* A call of a function that has a probe. */
struct ftrace_probe_hit {
	uintptr_t ip;
	uintptr_t parent_ip;
	struct trace_array *tr;
	TRACE_ATOMIC uint64_t *data; /* the function's word */
};

struct ftrace_probe_ops {
	const char *name; /* of the command, as the list of functions shows it */
	void (*func)(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops);
	bool is_counted; /* data is how often it still acts: listed as count=N, not as unlimited */
	void *TRACE_PRIVATE;
};

/*
 * Set the probe for each function that matches `glob`, with `data` as its word. -EINVAL: nothing
 * matches, or nothing that had not got it, or `!`; -ENOMEM, -ENODEV (tracing is dead). On failure
 * nothing has changed.
 */
int register_ftrace_function_probe(const char *glob, struct trace_array *tr,
				   const struct ftrace_probe_ops *ops, uint64_t data);
/*
 * Take it away from each function that matches; "" and "*": from all. It does not run any more when
 * this returns. -ENODEV: the instance has no such probe, -EINVAL: no function of it matches.
 */
int unregister_ftrace_function_probe_func(const char *glob, struct trace_array *tr,
					  const struct ftrace_probe_ops *ops);
/* All probes of an instance. */
void ftrace_clear_probes(struct trace_array *tr);

/* Act once more? Takes one from the count of a counted probe. Probe context. */
static TRACE_ALWAYS_INLINE bool ftrace_probe_take(const struct ftrace_probe_hit *hit,
						  const struct ftrace_probe_ops *ops)
{
	uint64_t left = trace_atomic_load_relaxed(hit->data);

	if (!ops->is_counted)
		return true;
	while (left) {
		if (trace_atomic_compare_exchange(hit->data, &left, left - 1))
			return true;
	}
	return false;
}

/* ---- The list in set_ftrace_filter ---- */

struct ftrace_probe_cursor { /* zeroed: at the first line */
	uint64_t id;	     /* below this one; 0: start */
	size_t record;
};

/* The next line, newline included, newest kind of probe first; its length, 0 at the end. */
size_t ftrace_probe_next_line(struct trace_array *tr, struct ftrace_probe_cursor *cursor,
			      char *line, size_t size);

/* ---- Commands ---- */

/* What was written: FUNCTION:NAME[:PARAM]. */
struct ftrace_command_args {
	struct trace_array *tr;
	const char *glob;  /* may start with ! */
	const char *param; /* NULL without the second colon */
	bool enable;	   /* it was written to set_ftrace_filter, not to set_ftrace_notrace */
	/* For error_log, on failure, when there is more to say: what, about which of the above. */
	const char *why;
	const char *where;
};

struct ftrace_func_command {
	const char *name;
	/* 0 or -errno. */
	int (*func)(const struct ftrace_func_command *command, struct ftrace_command_args *args);
	void *TRACE_PRIVATE;
	struct ftrace_func_command *next; /* the registry's */
};

/* -EBUSY: the name is taken. */
int register_ftrace_command(struct ftrace_func_command *command);
/* -ENODEV: not registered. Probes that it has set stay. */
int unregister_ftrace_command(struct ftrace_func_command *command);
/* Carry out; -EINVAL for an unknown command, -ENODEV without `tr`: the file takes none. */
int ftrace_run_command(const char *name, struct ftrace_command_args *args);

TRACE_END_DECLS

#endif
