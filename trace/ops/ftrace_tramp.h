/*
 * Trampolines, from their making until no thread is inside.
 *
 * Context:   thread.
 * Locking:   ftrace_lock is held by whoever calls.
 * Ownership: a trampoline is the caller's until its release; then it goes by itself.
 */
#ifndef FTRACE_TRAMP_H
#define FTRACE_TRAMP_H

#include "ftrace_grace.h"
#include "ftrace_private.h"

struct ftrace_tramp {
	struct ftrace_wait wait;
	struct trace_trampoline code;
};

/* As trace_plat_trampoline_create(); NULL: there is none. */
struct ftrace_tramp *ftrace_tramp_create(const struct trace_trampoline_call *calls, size_t nr,
					 bool with_regs);
int ftrace_tramp_retarget(struct ftrace_tramp *tramp, uint32_t index, ftrace_func_t func);
/* Wait until no thread is between sites and what they called: for one that stays; */
void ftrace_tramp_wait(struct ftrace_tramp *tramp);
/* for one that goes: it is freed then, and is no more the caller's. */
void ftrace_tramp_release(struct ftrace_tramp *tramp);

#endif
