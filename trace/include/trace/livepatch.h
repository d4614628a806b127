/*
 * Live patching: replacing functions while threads run them.
 *
 *   klp_enable_patch() --> transition --> enabled --> klp_disable_patch() --> transition --> gone
 *
 * During a transition each thread calls, of all functions of the patch, either the old ones or the
 * new ones. A thread moves to the other side when none of the functions it is about to leave is on
 * its stack; a thread inside one of them finishes there. Patches stack: the one enabled last covers
 * the functions of earlier ones, and uncovers them when it goes. They may go in any order.
 *
 * A replaced function is reached in one of two ways. While its patch is in transition, or while
 * somebody else wants its call site, the site calls a trampoline and a callback chooses where it
 * returns to (FTRACE_OPS_FL_IPMODIFY). Otherwise the site itself jumps to the new function.
 *
 * Context:   thread, may block.
 * Locking:   one sleeping lock inside.
 * Ownership: a patch, its functions and their names belong to the caller, who may not touch them
 *            from a successful klp_enable_patch() until klp_patch_is_active() says false.
 */
#ifndef TRACE_LIVEPATCH_H
#define TRACE_LIVEPATCH_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct klp_site;

struct klp_func {
	const char *old_name; /* of a function with a call site */
	uintptr_t new_func;   /* same parameters, same result */

	/* The rest is ours. Zero before first use. */
	struct klp_site *site;
	struct klp_func *TRACE_ATOMIC below; /* covered by this one; probes follow it */
	TRACE_ATOMIC bool is_moving;	     /* its patch is in transition; probes read it */
};

struct klp_patch {
	const char *name; /* shorter than KLP_NAME_LEN */
	struct klp_func *funcs;
	size_t nr_funcs;

	/* The rest is ours. Zero before first use. */
	struct klp_patch *next;
	bool is_active;	 /* in the list, in transition or not */
	bool is_enabled; /* as the file `enabled` says */
};

/*
 * Start to replace the functions of `patch`; the transition may end later.
 * -EINVAL: nothing to patch, no name or too long a one, a function without a call site, one named
 * twice, or a name that several functions have.
 * -ENOENT: no such function. -EEXIST: the name is in use, or the patch is. -EBUSY: another patch is
 * in transition, somebody else modifies where a function goes, or ftrace_enabled is 0. -ENOMEM.
 * -ENODEV: tracing is dead. Nothing changes then. While it is there ftrace_enabled stays 1.
 */
int klp_enable_patch(struct klp_patch *patch);
/*
 * Start to go back to what the patch replaced, or, in its transition, turn round.
 * -EINVAL: not enabled. -EBUSY: another patch is in transition. -ENOMEM. -ENODEV: tracing is dead,
 * so no site can be changed: the patch stays enabled, active, and the caller's to keep for good.
 */
int klp_disable_patch(struct klp_patch *patch);
/* In a transition that goes back, turn round once more. -EINVAL: there is none of this patch. */
int klp_reenable_patch(struct klp_patch *patch);
/*
 * End the transition of `patch` now: threads that are still inside old functions are taken as
 * moved, whatever that means to them. -EINVAL: it is in none.
 */
int klp_force_transition(struct klp_patch *patch);

bool klp_patch_is_active(const struct klp_patch *patch);
bool klp_patch_in_transition(const struct klp_patch *patch);
/* Look once more whether threads can move; a transition does so by itself from time to time. */
void klp_try_complete_transition(void);

/* ---- By name, for the files of the host: a patch may be gone at any time ---- */

#define KLP_NAME_LEN 64 /* longest name that files show, NUL included */

enum klp_attr {
	KLP_ATTR_ENABLED,
	KLP_ATTR_TRANSITION,
	KLP_ATTR_FORCE,
};

/* Name of active patch `index`, or of function `index` of a patch. -ENOENT behind the last. */
int klp_patch_name(size_t index, char *out_name);
int klp_func_name(const char *patch, size_t index, char *out_name, size_t size);
/* -ENOENT: no such patch is active. */
int klp_attr_get(const char *patch, enum klp_attr attr, bool *out_on);
/*
 * What the files say when they are written: as the functions above, and -EINVAL for what is so
 * already. `force` with false does nothing.
 */
int klp_attr_set(const char *patch, enum klp_attr attr, bool on);

TRACE_END_DECLS

#endif
