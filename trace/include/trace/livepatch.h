/*
 * Live patching: replacing functions while threads run them.
 *
 *   klp_enable_patch() --> transition --> enabled --> klp_disable_patch() --> transition --> gone
 *
 * During a transition a thread calls either the old versions of all functions of the patch or the
 * new versions of all. It moves to the other side when none of the functions that it is to leave is
 * on its stack; a thread inside one of them first has to return from it. Several patches may
 * replace the same function: the one enabled last counts, and when it is disabled the one before
 * it. They may be disabled in any order.
 *
 * Calls get to the new function in one of two ways. While the patch is in transition, or another
 * ops wants the call site, the site calls a trampoline, and a callback changes where that goes on
 * to (FTRACE_OPS_FL_IPMODIFY). Otherwise the site itself jumps to the new function.
 *
 * Context:   thread, may block.
 * Locking:   one sleeping lock inside.
 * Ownership: a patch, its functions and their names belong to the caller, who may not touch them
 *            from a successful klp_enable_patch() until klp_patch_is_active() says false.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_LIVEPATCH_H
#define TRACE_LIVEPATCH_H

#include <trace/atomic.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>

TRACE_BEGIN_DECLS

struct klp_site;

struct klp_func {
	const char *old_name; /* of a function that has a call site */
	uintptr_t new_func;   /* address of a function with the same parameters and result */

	/* For live patching only. Zero before first use. */
	struct klp_site *site;
	struct klp_func *TRACE_ATOMIC below; /* the replacement that this one covers, or NULL */
	TRACE_ATOMIC bool is_moving;	     /* its patch is in transition */
};

struct klp_patch {
	const char *name; /* shorter than KLP_NAME_LEN */
	struct klp_func *funcs;
	size_t nr_funcs;

	/* For live patching only. Zero before first use. */
	struct klp_patch *next;
	bool is_active;	 /* it is in the list, in transition or not */
	bool is_enabled; /* it is enabled, or in transition to that: the file `enabled` */
};

/*
 * Begin to replace the functions of `patch`; the transition may end after this has returned. While
 * a patch is active ftrace_enabled cannot be set to 0. 0, or with nothing changed:
 *   -EINVAL  no functions; no name, or too long a one; a function without a call site, one that is
 *            named twice, or a name that several functions have
 *   -ENOENT  there is no function of such a name
 *   -EEXIST  the patch is active, or another one of its name
 *   -EBUSY   another patch is in transition; another ops has a direct call or IPMODIFY at a site;
 *            or ftrace_enabled is 0
 *   -ENOMEM
 *   -ENODEV  tracing is dead
 */
int klp_enable_patch(struct klp_patch *patch);
/*
 * Begin a transition back to the functions that the patch replaced; if it is in transition to its
 * own functions, reverse that. 0; -EINVAL: it is not enabled; -EBUSY: another patch is in
 * transition; -ENOMEM; -ENODEV: tracing is dead, so no site can be changed. The patch then stays
 * active for good, and its memory may never be freed.
 */
int klp_disable_patch(struct klp_patch *patch);
/*
 * Reverse the transition of a patch that is being disabled. 0; -EINVAL: it is not in such a
 * transition; -ENOMEM.
 */
int klp_reenable_patch(struct klp_patch *patch);
/*
 * End the transition of `patch` now. Threads that are still inside functions they should have left
 * count as moved, which may break them. 0; -EINVAL: it is not in transition.
 */
int klp_force_transition(struct klp_patch *patch);

bool klp_patch_is_active(const struct klp_patch *patch);
bool klp_patch_in_transition(const struct klp_patch *patch);
/* Look at once whether threads can be moved. A transition looks by itself, every 20 ms. */
void klp_try_complete_transition(void);

/* ---- By name, for files of the host; the patch may become inactive between two calls ---- */

#define KLP_NAME_LEN 64 /* longest name that files show, NUL included */

enum klp_attr {
	KLP_ATTR_ENABLED,
	KLP_ATTR_TRANSITION,
	KLP_ATTR_FORCE,
};

/*
 * The name of active patch number `index`, from 0 (KLP_NAME_LEN bytes); the name of function number
 * `index` of a patch (`size` bytes, cut to fit). 0, or -ENOENT: there are fewer, or no such patch.
 */
int klp_patch_name(size_t index, char *out_name);
int klp_func_name(const char *patch, size_t index, char *out_name, size_t size);
/*
 * Get the value shown in the attribute's file. Returns 0, or -ENOENT when no such patch is active.
 */
int klp_attr_get(const char *patch, enum klp_attr attr, bool *out_on);
/*
 * Write to the file: enabled: klp_disable_patch() or klp_reenable_patch(); force with true:
 * klp_force_transition(), with false: nothing. 0; -ENOENT: no such patch is active; -EINVAL: it is
 * so already, or the attribute cannot be written; or an error of these functions.
 */
int klp_attr_set(const char *patch, enum klp_attr attr, bool on);

/*
 * Tracepoints: threads begin to move to the functions of the patch, or back to the old ones; all
 * have moved. A transition that turns round begins anew. Thread context.
 */
DECLARE_TRACE(livepatch_transition_begin, TP_PROTO(const char *patch, bool is_to_new),
	      TP_ARGS(patch, is_to_new));
DECLARE_TRACE(livepatch_transition_end, TP_PROTO(const char *patch, bool is_to_new),
	      TP_ARGS(patch, is_to_new));

TRACE_END_DECLS

#endif
