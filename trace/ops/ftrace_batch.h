/*
 * Several changes of call sites and of probes at instructions by one batch of text changes, which
 * takes three core syncs:
 *
 *   new filters of ops --> ftrace_update() of each --> ftrace_pokes.h --> one batch
 *   breakpoints, jumps --------------------------------^
 *
 * All or none: when somebody's breakpoint is in the way of a probe, the updates are taken back.
 *
 * Context:   thread, interrupts on.
 * Locking:   ftrace_lock is held by whoever calls; who has released it calls ftrace_grace_look().
 */
#ifndef FTRACE_BATCH_H
#define FTRACE_BATCH_H

#include "ftrace_private.h"

/* What one ops is to want; it has no follower, no exceptions, and may not modify calls. */
struct ftrace_batch_ops {
	struct ftrace_ops *ops;
	struct ftrace_hash *filter; /* NULL: it is not registered any more. The batch's to free */
	uint8_t done;		    /* for ftrace_batch.c only */
};

struct ftrace_batch {
	struct ftrace_batch_ops *ops;
	size_t nr_ops;
	const struct trace_poke *pokes; /* of probes, ascending */
	size_t nr_pokes;
};

/*
 * Register, unregister and filter the ops, and write the changes of probes. When this returns, no
 * callback runs that was called from a site which an ops has left. 0; or nothing has changed:
 * -ENOMEM, -EBUSY (a breakpoint is in the way), -ENOSPC (too many ops). -ENODEV: tracing is dead.
 */
int ftrace_batch_make(const struct ftrace_batch *batch);

/* Does the site call a function that looks for ops in whose filters it is, not these themselves? */
bool ftrace_site_searches(uintptr_t ip);

/* ---- For the batch: the halves of what ftrace_ops.c does in one go ---- */

/* Into the list of ops, and to its sites; or away from them. As ftrace_update(). */
int ftrace_ops_come(struct ftrace_ops *ops);
int ftrace_ops_leave(struct ftrace_ops *ops);
/*
 * It has left: its sites are written, unless `err`, and trace_plat_synchronize_preempt() was called.
 */
void ftrace_ops_left(struct ftrace_ops *ops, int err);

#endif
