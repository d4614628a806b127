/*
 * What the files of live patching share.
 *
 *   livepatch.c       patches: enabling, disabling, the transition
 *   livepatch_site.c  one replaced function: who covers whom, the callback, the jump
 *   livepatch_names.c the same by name, for files
 *   livepatch_stack.c is a thread inside one of these functions?
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

bool klp_is_moving(const struct klp_patch *patch);
/* As klp_disable_patch() and its like. */
int klp_disable_locked(struct klp_patch *patch);
int klp_reenable_locked(struct klp_patch *patch);
int klp_force_locked(struct klp_patch *patch);

/* ---- One replaced function ---- */

struct klp_site {
	struct ftrace_ops ops;
	uintptr_t func; /* the function that was there first */
	struct klp_func *_Atomic top;
	struct klp_site *next;
	struct ftrace_after after; /* when it goes */
};

/*
 * Let `func` cover what its name is now. -ENOENT, -EINVAL, -EBUSY, -ENOMEM, -ENODEV with nothing
 * changed. Threads on the old side do not see it as long as it is moving.
 */
int klp_site_push(struct klp_func *func);
/* Take it out again. Nobody is in the callback for it when it returns; threads have moved. */
void klp_site_pop(struct klp_func *func);
/*
 * Before a transition: sites of `func` go through the callback. After it: they may jump. -ENODEV
 * leaves the site as it is: through the callback, where it may jump, but maybe jumping to an old
 * function, where it may not.
 */
int klp_site_settle(const struct klp_func *func, bool may_jump);
/* What runs where `func` does not: what it covers, or the first function. */
uintptr_t klp_func_covered(const struct klp_func *func);

/* ---- Sides ---- */

/* Which of the two sides of a transition a thread is on: struct trace_thread.livepatch. */
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

/* A new thread is where its parent is, who calls this. Thread. */
void klp_thread_created(struct trace_thread *thread);

/* ---- Stacks ---- */

struct klp_ranges {
	struct ftrace_code *range;
	size_t nr;
	size_t max;
};

/* Every transition looks for these: the callback, where the side was read and nothing done yet. */
#define KLP_RANGES_FIXED 1u
/* Code of the functions that threads of `patch` leave for `side`. 0 or -ENOMEM. */
int klp_ranges_make(struct klp_ranges *ranges, const struct klp_patch *patch, enum klp_side side);
void klp_ranges_free(struct klp_ranges *ranges);
/* Move every thread to `side` that has none of the ranges on its stack. How many are left. */
size_t klp_move_threads(const struct klp_ranges *ranges, enum klp_side side);

/* Where the callback's code lies. */
uintptr_t klp_callback_address(void);

#endif
