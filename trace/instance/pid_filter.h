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

/* Of an instance. */
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
 * Make `*set`, one of the two of `tr`, be `*with`, which is empty afterwards. -ENOSPC: 64 instances
 * filter threads already; nothing changed. Config lock held.
 */
int trace_pid_filter_replace(struct trace_array *tr, struct trace_pids *set,
			     struct trace_pids *with);
/* Empty both sets of `tr`. Config lock held. */
void trace_pid_filter_release(struct trace_array *tr);

/*
 * A thread was made, and has the bits of all instances that leave it out; with function-fork the
 * sets of its parent are its own too. A thread ends. No lock held.
 */
void trace_pid_filter_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
void trace_pid_filter_thread_exited(int32_t pid);

#endif
