/*
 * Code that goes: when has every thread left it?
 *
 * No site leads there any more, but a thread may have been preempted inside, or in what was called
 * from there. So every thread that exists has to be seen once outside: nothing on its stack or on
 * its shadow stack points into the code, nor was it interrupted there. A thread
 * that spins elsewhere, waits for a CPU or has never run is outside at the first look.
 *
 *   begin --> queue --> slot: a bit of trace_thread.grace, set in every thread
 *                        | look: cleared in each thread that is outside
 *                        v
 *                       no thread has the bit: done(), the code may go
 *
 * Whoever waits looks; so does the host's worker, every few milliseconds, as long as something is
 * pending. Waits of different slots do not hold each other up. After 10 s the log says which
 * threads are inside.
 *
 * Context:   thread, interrupts on. What waits holds neither ftrace_lock nor the config lock.
 * Locking:   a lock for looks (taken before ftrace_lock, held while done() runs), one for the lists
 *            (taken last).
 * Ownership: a wait is this module's from its begin until done() is called, its last access. Its
 *            memory lies in what is freed then: putting something off needs none.
 */
#ifndef FTRACE_GRACE_H
#define FTRACE_GRACE_H

#include <trace/platform.h>

/* From `start` to `end`, both included; 0 and 0: none. */
struct ftrace_code {
	uintptr_t start;
	uintptr_t end;
};

/* The function or trampoline that holds `addr`; with no name, what may belong to it. */
struct ftrace_code ftrace_code_at(uintptr_t addr);
bool ftrace_code_has(struct ftrace_code code, uintptr_t addr);
/* Return addresses of `thread` that graph tracing has taken off the stack. It stands still. */
bool ftrace_code_in_shadow(struct ftrace_code code, const struct trace_thread *thread);

enum ftrace_wait_state {
	FTRACE_WAIT_IDLE,
	FTRACE_WAIT_QUEUED,
	FTRACE_WAIT_IN_SLOT,
	FTRACE_WAIT_AGAIN, /* in a slot, and begun again meanwhile */
};

struct ftrace_wait {
	struct ftrace_code code[2]; /* one may be all 0 */

	/* ftrace_grace.c's. Zero before first use. */
	void (*done)(struct ftrace_wait *wait);
	struct ftrace_wait *next;
	uint64_t number; /* ascends with each begin */
	int32_t pid;	 /* who began it */
	enum ftrace_wait_state state;
};

/*
 * Every thread has to be seen outside from now on; then done(wait) is called, unless it is NULL.
 * What is pending already begins anew. Something has to look: ftrace_grace_look() or
 * ftrace_grace_wait(), when ftrace_lock is free. Any lock held.
 */
void ftrace_wait_begin(struct ftrace_wait *wait, void (*done)(struct ftrace_wait *wait));

/* Look once, without waiting: the usual case is over at once. The worker does the rest. */
void ftrace_grace_look(void);

/* The number that the next wait gets. */
uint64_t ftrace_grace_mark(void);
/*
 * Return when the waits that this thread began since `mark` are done. With `may_interrupt` -EINTR
 * when the user interrupts: the worker does the rest, and nothing has been freed early.
 */
int ftrace_grace_wait(uint64_t mark, bool may_interrupt);

struct ftrace_after {
	void (*fn)(struct ftrace_after *after);
	struct ftrace_after *next; /* ftrace_grace.c's */
	uint64_t number;
};
/*
 * Call after->fn(after), when all waits that have begun are done: before this returns when none is
 * pending, else later. fn may take ftrace_lock; it runs with the lock for looks held. ftrace_lock
 * is not held.
 */
void ftrace_call_after(struct ftrace_after *after);

#endif
