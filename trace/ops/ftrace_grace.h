/*
 * Waiting until every thread has left some code that is to be freed, such as a trampoline.
 *
 * No site leads to the code any more, but a thread may have been preempted inside, or in a function
 * that was called from there. So every thread has to be seen outside once: nothing on its stack or
 * on its shadow stack points into the code, and it was not interrupted there. A thread that spins
 * elsewhere, waits for a CPU or has never run is outside at the first look.
 *
 *   begin --> queue --> slot: a bit of trace_thread.grace, set in every thread
 *                        | look: cleared in each thread that is outside
 *                        v
 *                       no thread has the bit: done(), the code may be freed
 *
 * A look goes through the stacks of all threads. A waiting thread looks; and so does the host's
 * worker, every 10 ms, as long as something is pending. Waits in different slots do not hold each
 * other up. After 10 s the log says which threads are inside.
 *
 * Context:   thread, interrupts on. A waiting thread holds neither ftrace_lock nor the config lock.
 * Locking:   a lock for looks (taken before ftrace_lock, held while done() runs), one for the lists
 *            (taken last).
 * Ownership: a wait belongs to this module from its begin until done() is called, which is the last
 *            access to it. It is embedded in the object to be freed, so that beginning a wait needs
 *            no memory and cannot fail.
 */
#ifndef FTRACE_GRACE_H
#define FTRACE_GRACE_H

#include <trace/platform.h>

/* The addresses from `start` to `end`, both included. Both 0: no code. */
struct ftrace_code {
	uintptr_t start;
	uintptr_t end;
};

/*
 * The function or trampoline that holds `addr`; if it has no name, the 4096 bytes from `addr` on.
 */
struct ftrace_code ftrace_code_at(uintptr_t addr);
bool ftrace_code_has(struct ftrace_code code, uintptr_t addr);
/*
 * Does a return address on the shadow stack of `thread` lie in the code? Graph tracing has replaced
 * those on the stack itself. The thread does not run.
 */
bool ftrace_code_in_shadow(struct ftrace_code code, const struct trace_thread *thread);

enum ftrace_wait_state {
	FTRACE_WAIT_IDLE,
	FTRACE_WAIT_QUEUED,
	FTRACE_WAIT_IN_SLOT,
	FTRACE_WAIT_AGAIN, /* in a slot, and begun again: it goes back to the queue afterwards */
};

struct ftrace_wait {
	/* Code to be left, of the caller; one of the two may be all 0. */
	struct ftrace_code code[2];

	/* For ftrace_grace.c only. Zero before first use. */
	void (*done)(struct ftrace_wait *wait);
	struct ftrace_wait *next;
	uint64_t number; /* ascends with each begin */
	int32_t pid;	 /* the thread that began it; below 0 when several threads did */
	enum ftrace_wait_state state;
};

/*
 * From now on every thread has to be seen outside of wait->code; then done(wait) is called, unless
 * `done` is NULL. A wait that is pending begins anew. May be called with any lock held, because it
 * does not look. The caller calls ftrace_grace_look() or ftrace_grace_wait() afterwards, when it
 * has released ftrace_lock.
 */
void ftrace_wait_begin(struct ftrace_wait *wait, void (*done)(struct ftrace_wait *wait));

/*
 * Look once, without waiting. Usually no thread is inside, and everything pending is done by this
 * one look; if not, the worker goes on. done() and functions of ftrace_call_after() may run in
 * here.
 */
void ftrace_grace_look(void);

/* The number that the next wait gets: for ftrace_grace_wait(). */
uint64_t ftrace_grace_mark(void);
/*
 * Return 0 when the waits that this thread began since it took `mark` are done. With
 * `may_interrupt` returns -EINTR when the user interrupts (Ctrl-C): the waits go on, and the worker
 * ends them.
 */
int ftrace_grace_wait(uint64_t mark, bool may_interrupt);

struct ftrace_after {
	void (*fn)(struct ftrace_after *after);
	struct ftrace_after *next; /* ftrace_grace.c's */
	uint64_t number;
};
/*
 * Call after->fn(after) when all waits that have begun until now are done. That may be before this
 * returns, or later in another thread. fn runs with the lock for looks held and may take
 * ftrace_lock. The caller does not hold ftrace_lock.
 */
void ftrace_call_after(struct ftrace_after *after);

#endif
