/*
 * Sets of threads that an instance traces: set_ftrace_pid and set_ftrace_notrace_pid for functions,
 * set_event_pid and set_event_notrace_pid for events. The sets are searched when a thread is made
 * or a set changes; probes look at the instance's bit in the thread's word instead, which is
 * tr->pid_mask or tr->event_pid_mask.
 *
 * Context:   thread.
 * Locking:   the config lock.
 */
#ifndef TRACE_PID_FILTER_H
#define TRACE_PID_FILTER_H

#include "array.h"
#include "pids.h"

struct trace_thread;

/* Purposes of sets. */
enum trace_pid_kind {
	TRACE_PIDS_FUNCTIONS,
	TRACE_PIDS_EVENTS,
	TRACE_NR_PID_KINDS
};

/* The two sets of an instance for one of these. */
struct trace_pid_sets {
	struct trace_pids only;	  /* set_ftrace_pid: these alone are traced, unless it is empty */
	struct trace_pids except; /* set_ftrace_notrace_pid */
};

struct trace_pid_kinds {
	struct trace_pid_sets of[TRACE_NR_PID_KINDS];
};
TRACE_SLOT(trace_pid_kinds_of, struct trace_pid_kinds, pids)

static inline struct trace_pid_sets *trace_pid_sets_of(const struct trace_array *tr,
						       enum trace_pid_kind kind)
{
	return &trace_pid_kinds_of(tr)->of[kind];
}

static inline bool trace_pid_filter_is_used(const struct trace_array *tr, enum trace_pid_kind kind)
{
	const struct trace_pid_sets *sets = trace_pid_sets_of(tr, kind);

	return sets->only.nr || sets->except.nr;
}

/* The user of a kind of sets. */
struct trace_pid_user {
	enum trace_pid_kind kind;
	/*
	 * A set has changed. When this returns and neither set is used any more, no probe looks at
	 * the instance's bit. 0 or -errno. Config lock held.
	 */
	int (*changed)(struct trace_array *tr);
};
extern const struct trace_pid_user trace_function_pids;

/*
 * Move `*with` to `*set`, which is one of the two sets of `tr` for this user; `*with` is empty
 * afterwards. 0; -ENOSPC with nothing changed: all 64 bits are taken; or an error of the user's
 * callback for the change. Config lock held.
 */
int trace_pid_filter_replace(struct trace_array *tr, const struct trace_pid_user *user,
			     struct trace_pids *set, struct trace_pids *with);
/* Empty both sets of `tr` for this user. Config lock held. */
void trace_pid_filter_release(struct trace_array *tr, const struct trace_pid_user *user);

#endif
