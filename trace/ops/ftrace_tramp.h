/*
 * Trampolines: making them, and freeing them when no thread is inside any more.
 *
 * Context:   thread.
 * Locking:   ftrace_lock is held by the caller.
 * Ownership: a trampoline is the caller's until ftrace_tramp_release(); after that it is freed
 *            without the caller.
 */
#ifndef FTRACE_TRAMP_H
#define FTRACE_TRAMP_H

#include "ftrace_grace.h"
#include "ftrace_private.h"

struct ftrace_tramp {
	struct ftrace_wait wait;
	struct trace_trampoline code;
};

/*
 * As trace_plat_trampoline_create(). NULL when there is no memory, or the host makes no such one.
 */
struct ftrace_tramp *ftrace_tramp_create(const struct trace_trampoline_call *calls, size_t nr,
					 bool with_regs);
/* Make call number `index`, counted from 0, go to `func`. 0, or -errno when text is damaged. */
int ftrace_tramp_retarget(struct ftrace_tramp *tramp, uint32_t index, ftrace_func_t func);
/*
 * Begin to wait until every thread has been seen outside of the trampoline, which stays in use: for
 * threads that are on the way to its earlier target. See ftrace_wait_begin().
 */
void ftrace_tramp_wait(struct ftrace_tramp *tramp);
/* No site calls it any more: free it when no thread is inside. It is no longer the caller's. */
void ftrace_tramp_release(struct ftrace_tramp *tramp);

#endif
