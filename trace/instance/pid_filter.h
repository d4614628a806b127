/*
 * Which threads an instance traces: set_ftrace_pid and set_ftrace_notrace_pid. The sets are
 * searched when a thread is made or a set changes; probes look at the instance's bit (pid_mask) in
 * the thread's word instead.
 *
 * Context:   thread.
 * Locking:   the config lock.
 */
#ifndef TRACE_PID_FILTER_H
#define TRACE_PID_FILTER_H

#include "array.h"
#include "pids.h"

struct trace_thread;

/* The two sets of an instance. */
struct trace_pid_sets {
	struct trace_pids only;	  /* set_ftrace_pid: these alone are traced, unless it is empty */
	struct trace_pids except; /* set_ftrace_notrace_pid */
};
TRACE_SLOT_FITS(struct trace_pid_sets, pids);

static inline struct trace_pid_sets *trace_pid_sets_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, pids);
}

/*
 * Move `*with` to `*set`, which is one of the two sets of `tr`; `*with` is empty afterwards. 0;
 * -ENOSPC with nothing changed: 64 instances filter threads already; or an error of the tracer,
 * which is told of the change. Config lock held.
 */
int trace_pid_filter_replace(struct trace_array *tr, struct trace_pids *set,
			     struct trace_pids *with);
/* Empty both sets of `tr`. Config lock held. */
void trace_pid_filter_release(struct trace_array *tr);

/*
 * To be called for a new thread before it runs, and for a thread that ends. A new thread gets the
 * bits of all instances that do not trace it; in an instance with the option function-fork it is
 * put into the sets that its parent is in. No lock held.
 */
void trace_pid_filter_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
void trace_pid_filter_thread_exited(int32_t pid);

#endif
