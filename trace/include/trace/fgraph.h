/*
 * Graph tracing: entry and return of functions, through a shadow stack per thread.
 *
 *   call site --> entry of each user --> it wants the return: a frame on the thread's shadow stack
 *   keeps the return address, the function returns into us --> return of the user --> the caller
 *
 * A user fills a struct fgraph_ops, may give its `ops` filters (ftrace_set_filter(&gops->ops,
 * ...)), and registers it. Interrupts use the stack of the thread that they interrupt.
 *
 * Guarantees: a call whose entry returned true has its return called, exactly once, unless the
 * thread ends inside the function or the user is unregistered before.
 *
 * Context:   callbacks - probe, entered at most once per context. Everything else - thread.
 * Locking:   as <trace/ftrace.h>.
 * Ownership: a gops belongs to its user, and is its own again when unregister returns: frames that
 *            are still on stacks forget it.
 */
#ifndef TRACE_FGRAPH_H
#define TRACE_FGRAPH_H

#include <trace/atomic.h>
#include <trace/ftrace.h>

TRACE_BEGIN_DECLS

#define FGRAPH_MAX_USERS 16 /* registered at once */

struct fgraph_frame;
struct fgraph_user;
struct trace_thread;

struct ftrace_graph_ent {
	uintptr_t func;	   /* address of the call site */
	uintptr_t retaddr; /* where the function will return to */
	uint32_t depth;	   /* 0: the outermost call of this thread that this user has */
	/*
	 * A word that stays with the call until its return; not initialised. And the one of the
	 * call around it that this user has, NULL for none.
	 */
	uint64_t *data;
	uint64_t *parent_data;
};

struct ftrace_graph_ret {
	uintptr_t func;
	uintptr_t retval;
	uint64_t calltime; /* trace_plat_clock_ns() at entry and return */
	uint64_t rettime;
	uint64_t sleep_ns; /* of it, spent switched out: see ftrace_graph_sleep_get() */
	uint64_t child_ns; /* of it, spent in the calls below that this user has too */
	uint32_t depth;
	uint32_t overrun; /* calls of this thread that found no room, so far */
	uint64_t *data;
	uint64_t *parent_data;
};

/* Of the core: whose frames these are. */
struct fgraph_user {
	/*
	 * The function of `frame`, the topmost of `thread`, returns; preemption is off. Ends in
	 * fgraph_pop().
	 */
	void (*exit)(struct fgraph_frame *frame, struct trace_thread *thread,
		     struct fgraph_user *user);
	TRACE_ATOMIC uint32_t flags;	    /* enum fgraph_user_flags */
	uint32_t index;			    /* number among the users, from 1 */
	bool is_added;			    /* the core's lock */
	TRACE_ATOMIC uint64_t nr_abandoned; /* calls that will never return: their threads ended */
};

enum fgraph_user_flags {
	FGRAPH_USER_DEAD = 1u << 0,    /* graph tracing has stopped for good */
	FGRAPH_USER_SPECIAL = 1u << 1, /* the user's own: not its fast path */
};

struct fgraph_ops {
	/* Optional. False: the return is of no interest. */
	bool (*entryfunc)(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops);
	/* Optional, but one of the two. */
	void (*retfunc)(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops);
	struct ftrace_ops ops; /* filters; the rest is ours */
	void *TRACE_PRIVATE;
	struct fgraph_user user; /* ours */
};

/*
 * 0, -EINVAL (no function), -EBUSY (registered, or FGRAPH_MAX_USERS are), -ENOMEM, -ENODEV: as
 * register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops);
/*
 * 0, -EINVAL (not registered), -ENODEV: no callback runs any more, but sites may go on calling, and
 * the memory of `gops` has to stay.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops);

/*
 * Calls of a registered user that have been entered and not returned, of all threads. Exact while
 * nothing is traced; calls of ended threads are in user.nr_abandoned instead.
 */
uint64_t ftrace_graph_pending(struct fgraph_ops *gops);

/* Calls on the shadow stack of the thread that asks, of all users, past ones included. */
uint32_t ftrace_graph_depth(const struct trace_thread *thread);
/*
 * Threads that have a shadow stack: all while there is a user. Later those that were in a hooked
 * call when the last one went, until they end or another last one goes.
 */
uint64_t ftrace_graph_nr_stacks(void);

/*
 * Time that threads are switched out is measured between the two, which nest; only then is
 * ftrace_graph_ret.sleep_ns more than 0. For calls that began earlier it counts from here. Thread.
 * -ENOMEM, or as register_trace_sched_switch(): it is not measured, and there is nothing to end.
 */
int ftrace_graph_sleep_get(void);
void ftrace_graph_sleep_put(void);

/*
 * Stop graph tracing for good: calls are hooked no more, callbacks no longer called. Any context.
 */
void ftrace_graph_stop(void);
bool ftrace_graph_is_dead(void);

/*
 * The real return address for `ret`, found on a stack at `slot`: `ret` itself unless it is ours.
 * `thread` is whose stack it is. Any context; for a thread that runs elsewhere the result may be
 * wrong, never harmful.
 */
uintptr_t ftrace_graph_ret_addr(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *slot);

TRACE_END_DECLS

#endif
