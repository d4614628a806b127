/*
 * Probes of functions, and the commands of set_ftrace_filter that set them (`schedule:traceoff:5`).
 *
 * Model:     a probe is something to do when a function is entered, described by a struct
 *            ftrace_probe_ops. An instance sets it on any number of functions. Each of these has a
 *            data word of 64 bits, whose meaning is the probe's.
 * Context:   func - probe; entered at most once per context of a CPU. Everything else - thread, may
 *            block.
 * Locking:   one sleeping lock inside; func runs without it.
 * Ownership: probe_ops and commands live as long as they are registered. An instance that goes away
 *            takes its probes along.
 *
 * SPDX-License-Identifier: MIT
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
	uintptr_t ip;		     /* address of the call site */
	uintptr_t parent_ip;	     /* return address into the caller */
	struct trace_array *tr;	     /* the instance that has set the probe */
	TRACE_ATOMIC uint64_t *data; /* the function's data word */
};

struct ftrace_probe_ops {
	const char *name; /* of the command, as the list of functions shows it */
	void (*func)(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops);
	bool is_counted; /* data counts how often it still acts; listed as count=N, not unlimited */
	/*
	 * Unless NULL: one function more has this data word, or one fewer; after put func does not
	 * use it for that function. Thread context; they take only tracepoint_lock and what comes
	 * behind it (docs/locking.md).
	 */
	void (*data_get)(uint64_t data);
	void (*data_put)(uint64_t data);
	/*
	 * Unless NULL: write to `text` the list's text behind the name of a function and a colon.
	 * Returns the length. Thread context, no lock may be taken.
	 */
	size_t (*describe)(const struct ftrace_probe_ops *ops, uint64_t data, char *text,
			   size_t size);
	void *TRACE_PRIVATE;
};

/*
 * Set the probe on each function that matches `glob` and does not have it yet, with `data` as its
 * data word. 0, or with nothing changed: -EINVAL (no such function, a `!` in front, or a text of
 * 640 characters or more), -ENOMEM, -ENODEV (tracing is dead).
 */
int register_ftrace_function_probe(const char *glob, struct trace_array *tr,
				   const struct ftrace_probe_ops *ops, uint64_t data);
/*
 * Take the probe away from each function that matches; "" and "*": from all. When this returns,
 * func does not act on these functions any more. 0; -ENODEV: the instance has no such probe;
 * -EINVAL: no function of it matches; -ENOMEM.
 */
int unregister_ftrace_function_probe_func(const char *glob, struct trace_array *tr,
					  const struct ftrace_probe_ops *ops);
/* Take all probes of an instance away from all functions. */
void ftrace_clear_probes(struct trace_array *tr);

/*
 * For func: is the probe to act on this call? A counted one takes one from its count, and is not to
 * act when that is 0. Probe context.
 */
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
	uint64_t id;	     /* probes with a smaller id come next; 0: all */
	size_t record;	     /* number of the next record to look at */
};

/*
 * Write the next line of the instance's list to `line`, newline included; the newest probe comes
 * first, its functions by address. Returns the length, 0 at the end.
 */
size_t ftrace_probe_next_line(struct trace_array *tr, struct ftrace_probe_cursor *cursor,
			      char *line, size_t size);

/* ---- Commands ---- */

/* The written text: FUNCTION:NAME[:PARAM]. */
struct ftrace_command_args {
	struct trace_array *tr;
	const char *glob;  /* may start with ! */
	const char *param; /* NULL without the second colon */
	bool enable;	   /* it was written to set_ftrace_filter, not to set_ftrace_notrace */
	/*
	 * Reason for error_log that a failing func may set, and the text it is about; a string that
	 * lasts.
	 */
	const char *why;   /* a string that lasts */
	const char *where; /* points into `glob` or `param` */
};

struct ftrace_func_command {
	const char *name;
	/* Carry the command out. 0 or -errno. Thread context; the lock of all commands is held. */
	int (*func)(const struct ftrace_func_command *command, struct ftrace_command_args *args);
	void *TRACE_PRIVATE;
	struct ftrace_func_command *next; /* the registry's */
};

/* 0, or -EBUSY: there is a command of that name. */
int register_ftrace_command(struct ftrace_func_command *command);
/* 0, or -ENODEV: it is not registered. Probes that it has set stay. */
int unregister_ftrace_command(struct ftrace_func_command *command);
/*
 * Carry out the command `name`. 0, or its error; -EINVAL: there is no such command; -ENODEV:
 * args->tr is NULL, so the file that was written takes no commands. args->why is set for these.
 */
int ftrace_run_command(const char *name, struct ftrace_command_args *args);

TRACE_END_DECLS

#endif
