/*
 * Graph tracing: entry and return of functions, through a shadow stack per thread.
 *
 *   call site --> entry of each user --> one of them wants the return: a frame on the thread's
 *   shadow stack keeps the return address, the function returns into us --> return of each user
 *   that wanted it --> the caller
 *
 * A user fills a struct fgraph_ops, may give its `ops` filters (ftrace_set_filter(&gops->ops,
 * ...)), and registers it. Several users share one frame. Interrupts use the stack of the thread
 * that they interrupt.
 *
 * Guarantees: a call whose entry returned true has its return called, exactly once, unless the
 * thread ends inside the function or the user is unregistered before.
 *
 * Context:   callbacks - probe, entered at most once per context. register, unregister - thread.
 * Locking:   as <trace/ftrace.h>.
 * Ownership: a gops belongs to its user, and is its own again when unregister returns: frames that
 *            are still on stacks forget it.
 */
#ifndef TRACE_FGRAPH_H
#define TRACE_FGRAPH_H

#include <trace/ftrace.h>

#define FGRAPH_MAX_USERS 16 /* registered at once */

struct ftrace_graph_ent {
	uintptr_t func;	   /* address of the call site */
	uintptr_t retaddr; /* where the function will return to */
	uint32_t depth;	   /* 0: the outermost frame of this thread */
};

struct ftrace_graph_ret {
	uintptr_t func;
	uintptr_t retval;
	uint64_t calltime; /* trace_plat_clock_ns() at entry and return */
	uint64_t rettime;
	uint64_t sleep_ns; /* of it, spent switched out */
	uint64_t child_ns; /* of it, spent in calls right below this frame that had a frame too */
	uint32_t depth;
	uint32_t overrun; /* calls of this thread that found no room, so far */
};

struct fgraph_ops {
	/* True: call retfunc when the function returns. */
	bool (*entryfunc)(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops);
	/* Optional. */
	void (*retfunc)(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops);
	struct ftrace_ops ops; /* filters; the rest is ours */
	void *private;
	uint32_t index; /* ours: number among the users */
};

/* 0, -EINVAL (no entryfunc), -EBUSY (registered, or FGRAPH_MAX_USERS are), -ENOMEM, -ENODEV. */
int register_ftrace_graph(struct fgraph_ops *gops);
/* 0, -EINVAL (not registered). */
int unregister_ftrace_graph(struct fgraph_ops *gops);

/*
 * The real return address for `ret`, found on a stack at `slot`: `ret` itself unless it is ours.
 * `thread` is whose shadow stack to ask. Any context; for a thread that runs elsewhere the result
 * may be wrong, never harmful.
 */
struct trace_thread;
uintptr_t ftrace_graph_ret_addr(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *slot);

#endif
