/*
 * Several changes of call sites, of probes at instructions and of other code by one batch of text
 * changes, which takes three core syncs:
 *
 *   new filters of ops --> ftrace_update() of each --> ftrace_pokes.h --> one batch
 *   breakpoints, jumps, static branches ---------------^
 *
 * Each kind of probes has a part in it, which gives its changes as data:
 *
 *   begin   get ready, all that can fail, memory included
 *   add     ops with their new filters, changes of text
 *   end     it is written, or nothing has changed
 *
 * All or none: when one part cannot begin, or a debugger's breakpoint is in the way of a probe, the
 * updates are taken back and each part ends with that error.
 *
 * Context:   thread, interrupts on.
 * Locking:   ftrace_lock is held in add() and by the caller of ftrace_batch_make(), who calls
 *            ftrace_grace_look() after releasing it. Parts are given in the order of their locks,
 *            docs/locking.md.
 */
#ifndef FTRACE_BATCH_H
#define FTRACE_BATCH_H

#include "ftrace_private.h"

#define FTRACE_BATCH_OPS  3u /* kprobes have two, kretprobes one */
#define FTRACE_BATCH_RUNS 2u /* of kprobes, of tracepoints */

/*
 * The filters that one ops shall have; it has no follower, no exceptions, and may not modify calls.
 */
struct ftrace_batch_ops {
	struct ftrace_ops *ops;
	struct ftrace_hash *filter; /* NULL: it is not registered any more. The batch's to free */
	uint8_t done;		    /* for ftrace_batch.c only */
};

/* Changes of text that are of no ops, ascending. */
struct ftrace_batch_run {
	const struct trace_poke *pokes;
	size_t nr;
};

struct ftrace_batch { /* zeroed: nothing changes */
	struct ftrace_batch_ops ops[FTRACE_BATCH_OPS];
	struct ftrace_batch_run runs[FTRACE_BATCH_RUNS];
	uint32_t nr_ops, nr_runs;
};

/* There is room for them. `filter`, and the memory of `pokes` until the batch has been made. */
void ftrace_batch_add_ops(struct ftrace_batch *batch, struct ftrace_ops *ops,
			  struct ftrace_hash *filter);
static inline void ftrace_batch_add_pokes(struct ftrace_batch *batch,
					  const struct trace_poke *pokes, size_t nr)
{
	if (nr)
		batch->runs[batch->nr_runs++] = (struct ftrace_batch_run){ pokes, nr };
}
/* It is not made: free the filters. */
void ftrace_batch_drop(struct ftrace_batch *batch);

/*
 * Register, unregister and filter the ops, and write the changes of text. When this returns, no
 * callback runs that was called from a site which an ops has left. 0; or nothing has changed:
 * -ENOMEM, -EBUSY (a breakpoint is in the way), -ENOSPC (too many ops). -ENODEV: tracing is dead.
 */
int ftrace_batch_make(struct ftrace_batch *batch);

/* The part of one kind of probes in a batch; the first member of the kind's own struct. */
struct ftrace_part {
	struct trace_plat_lock *lock; /* taken before begin(); NULL: it is held */
	/* 0, or -errno with nothing done; end() is not called then. */
	int (*begin)(struct ftrace_part *part);
	/* 0 or -errno; end() is called in any case. */
	int (*add)(struct ftrace_part *part, struct ftrace_batch *batch);
	/*
	 * End the part: all is as add() said, or after an error as before; but after -ENODEV,
	 * removed probes stay removed.
	 */
	void (*end)(struct ftrace_part *part, int err);
};

/* Make the changes of the parts by one batch. 0, or the error of a part, or of the batch. */
int ftrace_parts_change(struct ftrace_part *const *parts, size_t nr);

/* Does the site call a function that looks for ops in whose filters it is, not these themselves? */
bool ftrace_site_searches(uintptr_t ip);

/* ---- For the batch: the halves of functions of ftrace_ops.c ---- */

/* Into the list of ops, and to its sites; or away from them. As ftrace_update(). */
int ftrace_ops_come(struct ftrace_ops *ops);
int ftrace_ops_leave(struct ftrace_ops *ops);
/*
 * It has left: its sites are written, unless `err`, and trace_plat_synchronize_preempt() was
 * called.
 */
void ftrace_ops_left(struct ftrace_ops *ops, int err);

#endif
