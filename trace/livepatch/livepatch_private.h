/*
 * Shared declarations of the files of live patching.
 *
 *   livepatch.c       patches: enabling, disabling, the transition
 *   livepatch_site.c  one replaced function: its patches, the callback, the jump
 *   livepatch_names.c patches by name, for files
 *   livepatch_stack.c finds threads that are inside given functions
 *
 * Locking:   klp_lock guards everything. The callback reads `top`, `below`, `is_moving` and the
 *            thread's side without it, preemption off.
 */
#ifndef LIVEPATCH_PRIVATE_H
#define LIVEPATCH_PRIVATE_H

#include <stdatomic.h>
#include "ops/ftrace_grace.h"
#include <trace/ftrace.h>
#include <trace/livepatch.h>
#include <trace/thread.h>

extern struct trace_plat_lock klp_lock;

/* ---- Patches; klp_lock held ---- */

extern struct klp_patch *klp_patches; /* active ones, in the order in which they were enabled */

/* Is the patch in transition? */
bool klp_is_moving(const struct klp_patch *patch);
/* klp_disable_patch() and so on, for callers that hold klp_lock. */
int klp_disable_locked(struct klp_patch *patch);
int klp_reenable_locked(struct klp_patch *patch);
int klp_force_locked(struct klp_patch *patch);

/* ---- One replaced function ---- */

struct klp_site {
	struct ftrace_ops ops;
	uintptr_t func;		      /* the original function */
	struct klp_func *_Atomic top; /* its replacements, newest first, linked by `below` */
	struct klp_site *next;
	struct ftrace_after after; /* frees it after its removal */
};

/*
 * Let `func` cover the function of its name, or an earlier replacement of it. It is moving from
 * here on: threads on the old side do not call it yet. 0, or with nothing changed -ENOENT, -EINVAL,
 * -EBUSY, -ENOMEM, -ENODEV as klp_enable_patch() says.
 */
int klp_site_push(struct klp_func *func);
/*
 * Take `func` out again, when all threads have moved to the old side. When this returns no thread
 * is in the callback on its behalf.
 */
void klp_site_pop(struct klp_func *func);
/*
 * `may_jump` false, before a transition: let the site of `func` call the callback. True, after it:
 * let the site jump to its newest function. 0, or -ENODEV: tracing is dead, the site is left as it
 * is. That does no harm after a transition, because the callback sends calls to the same function;
 * but before one it means that the transition must not begin.
 */
int klp_site_settle(const struct klp_func *func, bool may_jump);
/* The function that runs where `func` does not: the replacement below it, or the original. */
uintptr_t klp_func_covered(const struct klp_func *func);

/* ---- Sides ---- */

/* The sides of a transition, one of which a thread is on: struct trace_thread.livepatch. */
enum klp_side {
	KLP_OLD,
	KLP_NEW
};

static inline void klp_set_side(struct trace_thread *thread, enum klp_side side)
{
	__atomic_store_n(&thread->livepatch, (uint32_t)side, __ATOMIC_RELAXED);
}

static TRACE_ALWAYS_INLINE enum klp_side klp_side_of(const struct trace_thread *thread)
{
	return (enum klp_side)__atomic_load_n(&thread->livepatch, __ATOMIC_RELAXED);
}

/* Called by the parent of a new thread, which gets the side of its parent. Thread. */
void klp_thread_created(struct trace_thread *thread);

/* ---- Stacks ---- */

struct klp_ranges {
	struct ftrace_code *range;
	size_t nr;
	size_t max;
};

/* Ranges besides those of functions: the callback, which may have read the side and not used it. */
#define KLP_RANGES_FIXED 1u
/*
 * The code that a thread must not be in when it moves to `side`: the functions of the patch that it
 * will not call there, and the callback. 0 or -ENOMEM.
 */
int klp_ranges_make(struct klp_ranges *ranges, const struct klp_patch *patch, enum klp_side side);
void klp_ranges_free(struct klp_ranges *ranges);
/*
 * Move every thread to `side` that has no address in the ranges on its stack. Returns how many
 * threads have not been moved.
 */
size_t klp_move_threads(const struct klp_ranges *ranges, enum klp_side side);

/* The address of the callback. */
uintptr_t klp_callback_address(void);

#endif
