/*
 * The part of <trace/platform.h> that is about threads (tier 2), which is how it is included.
 *
 * Context: stated per function.
 */
#ifndef TRACE_PLATFORM_THREAD_H
#define TRACE_PLATFORM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_thread;

struct trace_plat_lock { /* sleeping lock; zeroed is unlocked */
	uint64_t opaque[8];
};
void trace_plat_lock(struct trace_plat_lock *lock);
void trace_plat_unlock(struct trace_plat_lock *lock);
bool trace_plat_lock_held(const struct trace_plat_lock *lock);

struct trace_plat_waitq { /* zeroed is empty */
	uint64_t opaque[8];
};
/*
 * Sleep until `done(arg)`; it is asked again after each wake and at least every 10 ms, so that
 * probes need not wake. -EINTR when the user interrupts. Thread context, no lock held.
 */
int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg);
/* Thread, softirq or irq; not NMI. */
void trace_plat_wake(struct trace_plat_waitq *queue);

/*
 * Sleep for about `ns`. With `may_interrupt` it ends early, with -EINTR, when the user interrupts,
 * and at once when he has. 0 otherwise. Thread context.
 */
int trace_plat_pause(uint64_t ns, bool may_interrupt);
/* Return when every preempt-off section that ran at the call has ended. Thread. */
void trace_plat_synchronize_preempt(void);
/*
 * Copy the name of thread `pid`, or return false. With `may_wait` thread context, without it any:
 * it gives up rather than wait.
 */
bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm);
/* Call fn for every thread that exists. Thread context. */
void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg);

/* The running thread as the scheduler sees it; ip and parent_ip are 0. Any context but NMI. */
struct trace_sched_thread;
void trace_plat_current_sched(struct trace_sched_thread *out_thread);

/*
 * Call `deferred->fn(deferred)` soon, in a thread of the host. Probe context. It may be given again
 * once `fn` has begun; until then it stays the host's.
 */
struct trace_plat_deferred {
	void (*fn)(struct trace_plat_deferred *deferred);
	struct trace_plat_deferred *next; /* the host's */
};
void trace_plat_defer(struct trace_plat_deferred *deferred);

/*
 * Call exactly the hooks of `mask` (<trace/hooks.h>) from now on. When it returns, no CPU is inside
 * a hook that was taken away. Thread.
 */
void trace_plat_set_hooks(uint32_t mask);

/*
 * A look at the stacks of all threads, each at a moment when it does not run or is interrupted.
 * What stands on one: every return address and every instruction that was interrupted; perhaps also
 * what its registers held, and what earlier calls have left there.
 */
struct trace_plat_look {
	/* Which of 32 things, a bit each, are among these words? Asked piece by piece. */
	uint32_t (*find)(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg);
	/* All of this stack has been shown; `found` is what there is on it, of all pieces. */
	void (*seen)(struct trace_thread *thread, uint32_t found, void *arg);
	void *arg;
};

/*
 * Where something is found, the host may look once more, at that stack without what earlier calls
 * left there, if it can tell. A thread that is missed (it was just being switched) is not `seen`
 * and comes with a later call. Both functions may not block: interrupts may be off. Thread context,
 * interrupts on.
 */
void trace_plat_each_stack(const struct trace_plat_look *look);

struct trace_plat_later { /* zeroed is idle */
	uint64_t opaque[24];
};
/*
 * Call fn() in a thread, not before `delay_ns` from now; once, however often it is asked for until
 * it begins. `later` is for one fn. Thread.
 */
void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns);

#endif
