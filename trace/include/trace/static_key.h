/*
 * Static keys: switches that are asked often and turned seldom.
 *
 * A host that can patch its code provides a header <trace_plat_static_key.h>, in the folder of its
 * <trace_plat_inline.h>. It defines TRACE_PLAT_STATIC_BRANCH(key), an inline expression that costs
 * one NOP while the key is off; and the host defines trace_plat_static_branches_update(). Without
 * that header asking a key is a load and a test of its flag.
 *
 * Context:   trace_static_key_enabled() - any, NMI included. set - thread.
 * Locking:   the owner of a key has its own lock around set, which takes that of tracepoints: one
 *            change of branches at a time.
 * Ownership: keys are static: code refers to them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_STATIC_KEY_H
#define TRACE_STATIC_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <trace/atomic.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_poke;

struct trace_static_key { /* zeroed is off */
	TRACE_ATOMIC bool is_on;
};

TRACE_END_DECLS

#if __has_include(<trace_plat_static_key.h>)
#include <trace_plat_static_key.h>
#endif

TRACE_BEGIN_DECLS

#ifdef TRACE_PLAT_STATIC_BRANCH
/*
 * Patch every branch by the `is_on` of its key, the branches of one key in one batch. Returns 0, or
 * -errno when the code at a branch is damaged. Thread context, interrupts on.
 */
int trace_plat_static_branches_update(void);
/*
 * List the changes of code of such a switch, ascending, for a batch with other changes: at most
 * `room` are written to `pokes`. Returns their number. Same context.
 */
size_t trace_plat_static_branches_list(struct trace_poke *pokes, size_t room);
#else
#define TRACE_PLAT_STATIC_BRANCH(key) trace_atomic_load_relaxed(&(key)->is_on)
static inline int trace_plat_static_branches_update(void)
{
	return 0;
}
static inline size_t trace_plat_static_branches_list(struct trace_poke *pokes, size_t room)
{
	(void)pokes;
	(void)room;
	return 0;
}
#endif

/* Is the key on? `key` is the address of a static object. Any context. */
static TRACE_ALWAYS_INLINE bool trace_static_key_enabled(struct trace_static_key *key)
{
	return TRACE_PLAT_STATIC_BRANCH(key);
}

/*
 * Turn the key on or off. 0, or the error of trace_plat_static_branches_update(): the key's flag is
 * as it was then. Thread context; the caller's lock keeps others from turning the same key.
 */
int trace_static_key_set(struct trace_static_key *key, bool on);

TRACE_END_DECLS

#endif
