/*
 * Graph tracing: entry and return of functions, through a shadow stack per thread.
 *
 *   call site --> entryfunc of each user
 *                    | returns true: a frame on the thread's shadow stack keeps the return address,
 *                    v and the function returns into a hook instead
 *   return ----> hook --> retfunc of the user --> the caller
 *
 * A user fills a struct fgraph_ops, may give its `ops` filters (ftrace_set_filter(&gops->ops,
 * ...)), and registers it. Interrupts use the stack of the thread that they interrupt.
 *
 * Guarantees: for a call whose entryfunc returned true retfunc is called, exactly once, unless the
 * thread ends inside the function or the user is unregistered before. A shadow stack has 72 frames;
 * for a call that finds it full no retfunc is called, and the thread's overrun counts it.
 *
 * Context:   callbacks - probe, entered at most once per context. Everything else - thread.
 * Locking:   as <trace/ftrace.h>.
 * Ownership: a gops belongs to its user. Between register and unregister it may not be changed or
 *            freed. When unregister returns 0 nothing refers to it any more, not even frames of
 *            calls that have not returned yet.
 *
 * SPDX-License-Identifier: MIT
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
	uintptr_t func;	       /* address of the call site */
	uintptr_t retaddr;     /* address to which the function will return */
	uint32_t depth;	       /* calls around this one that this user traces; 0: the outermost */
	uint64_t *data;	       /* a word for the user, kept until the return; not initialised */
	uint64_t *parent_data; /* the word of the next call around this one, or NULL */
};

struct ftrace_graph_ret {
	uintptr_t func;	   /* address of the call site */
	uintptr_t retval;  /* the register that functions return values in */
	uint64_t calltime; /* trace_plat_clock_ns() at the entry */
	uint64_t rettime;  /* the same at the return */
	uint64_t sleep_ns; /* time between them switched out: see ftrace_graph_sleep_get() */
	uint64_t child_ns; /* time between them in calls below that this user traces, too */
	uint32_t depth;	   /* these are as at the entry */
	uint32_t overrun;  /* calls of this thread that found its shadow stack full, so far */
	uint64_t *data;
	uint64_t *parent_data;
};

/* A user as the core sees it: the owner of frames. */
struct fgraph_user {
	/*
	 * The function of `frame`, the topmost one of `thread`, returns. Called with preemption
	 * off; has to pop the frame and enable preemption, see fgraph_pop().
	 */
	void (*exit)(struct fgraph_frame *frame, struct trace_thread *thread,
		     struct fgraph_user *user);
	/* Or NULL. The thread of `frame` ends: the function will not return. Thread. */
	void (*abandon)(struct fgraph_frame *frame, struct fgraph_user *user);
	TRACE_ATOMIC uint32_t flags;	    /* enum fgraph_user_flags */
	uint32_t index;			    /* number among the users, from 1 */
	bool is_added;			    /* guarded by the core's lock */
	TRACE_ATOMIC uint64_t nr_abandoned; /* calls that will never return: their threads ended */
};

enum fgraph_user_flags {
	FGRAPH_USER_DEAD = 1u << 0,    /* push no frames: it is removed, or graph tracing is dead */
	FGRAPH_USER_SPECIAL = 1u << 1, /* for the user itself: do not take its fast path */
};

struct fgraph_ops {
	/* Called at the entry. True: call retfunc at the return. NULL counts as true. */
	bool (*entryfunc)(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops);
	/* Called at the return. One of the two may be NULL. */
	void (*retfunc)(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops);
	struct ftrace_ops ops;	 /* for the user's filters; register fills in the rest */
	void *TRACE_PRIVATE;	 /* for the user */
	struct fgraph_user user; /* for the core; zero before first use */
};

/*
 * 0, or with nothing changed: -EINVAL (both functions are NULL), -EBUSY (it is registered, or
 * FGRAPH_MAX_USERS are), -ENOMEM, or an error of register_ftrace_function().
 */
int register_ftrace_graph(struct fgraph_ops *gops);
/*
 * Returns when no callback runs any more. 0; -EINVAL: it is not registered; -ENODEV: tracing is
 * dead, sites may go on calling, and the memory of `gops` may never be freed.
 */
int unregister_ftrace_graph(struct fgraph_ops *gops);

/*
 * The number of calls of a registered user that were entered and have not returned, in all threads.
 * Exact while nothing is traced. Calls of ended threads are counted in user.nr_abandoned instead.
 * Thread.
 */
uint64_t ftrace_graph_pending(struct fgraph_ops *gops);

/*
 * The number of frames on the shadow stack of `thread`, which is the running one: of all users,
 * including unregistered ones.
 */
uint32_t ftrace_graph_depth(const struct trace_thread *thread);
/*
 * The number of threads that have a shadow stack. All have one while there is a user; later those
 * that were in a hooked call when the last user was unregistered. Thread.
 */
uint64_t ftrace_graph_nr_stacks(void);

/*
 * Threads that come and go; with the profile `full` trace_thread_created() and
 * trace_thread_exited() of <trace/trace.h> call these. Thread context, may sleep.
 *
 * Called by the parent of a new thread, before that runs for the first time, and when it is already
 * in the list that trace_plat_each_thread() walks. Without it, or without memory, a thread that is
 * created while there is a user has no shadow stack, and none of its calls is hooked.
 */
void ftrace_graph_thread_created(struct trace_thread *thread);
/*
 * Called by a thread that ends, before it leaves that list: it gives back its shadow stack, and no
 * call of it is hooked any more. Calls that it is still in count in user.nr_abandoned.
 */
void ftrace_graph_thread_exited(struct trace_thread *thread);

/*
 * Begin and end to measure the time that threads are switched out; the calls nest. Outside of them
 * ftrace_graph_ret.sleep_ns is 0. In calls that began earlier, sleep counts from the begin. get
 * returns 0, or an error of register_trace_sched_switch(): then put is not to be called. Thread.
 */
int ftrace_graph_sleep_get(void);
void ftrace_graph_sleep_put(void);

/*
 * Stop graph tracing for good: no call is hooked and no callback called any more. Calls that were
 * hooked before still return to their callers. Any context.
 */
void ftrace_graph_stop(void);
bool ftrace_graph_is_dead(void);

/*
 * For unwinders: `ret` was found at `slot` on the stack of `thread` (NULL: unknown). If it is the
 * hook, this returns the real return address; otherwise, or when that is not found, `ret` itself.
 * Any context, preemption off. The answer may be wrong for a thread that runs on another CPU.
 */
uintptr_t ftrace_graph_ret_addr(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *slot);

TRACE_END_DECLS

#endif
