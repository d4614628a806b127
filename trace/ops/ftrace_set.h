/*
 * Sets of ops that share call sites. A site that several ops want calls a trampoline that was made
 * for just those ops and calls them one after the other, so that no hash has to be searched at each
 * call.
 *
 *   record -- number of its set --> { ops A, ops B } -- trampoline: save, call A, call B, restore
 *
 * A set is made when the first site needs it. When the last site has left it, it is stale: it can
 * be used again for a site that wants the same ops, until an ops is unregistered or all numbers are
 * in use; then stale sets are released. Threads may still be in the trampoline of a released set;
 * it is freed when they have left: ftrace_grace.h.
 *
 * A site without a set (number 0: no memory, too many sets, too many ops in one) calls the shared
 * trampoline, whose list function finds the same ops by their hashes.
 *
 * Context:   thread.
 * Locking:   ftrace_lock is held by the caller.
 * Ownership: of the trampolines: these functions. Ops have to live as long as trampolines that name
 *            them: see ftrace_unregister().
 */
#ifndef FTRACE_SET_H
#define FTRACE_SET_H

#include "ftrace_private.h"

#define FTRACE_MAX_SETS	     255u /* FTRACE_SET_MASK has numbers for these, and 0 */
#define FTRACE_MAX_SET_OPS   16u  /* in one set */
#define FTRACE_MAX_KNOWN_OPS 64u  /* registered ones that can be in sets; bits of a mask */

/*
 * Give an ops that is being registered a number in sets, if there is one left; or take it away,
 * when no site wants the ops any more and no set names it.
 */
void ftrace_set_add_ops(struct ftrace_ops *ops);
void ftrace_set_remove_ops(struct ftrace_ops *ops);

/*
 * The number of the set of all ops in the list that want `ip`; counts one more site that uses it.
 * 0 when there is no such set and none can be made. The caller calls ftrace_set_put() when the site
 * has left the set.
 */
uint32_t ftrace_set_get(uint32_t ip);
void ftrace_set_put(uint32_t number);
/* The address that sites of the set call. */
uintptr_t ftrace_set_address(uint32_t number);

/*
 * Make all sets that name `ops` call `func` for it. 0, or -ENODEV when a trampoline is damaged;
 * tracing has then been stopped for good.
 */
int ftrace_set_retarget(const struct ftrace_ops *ops, ftrace_func_t func);
/* Begin to wait for threads in trampolines of sets that name `ops`. */
void ftrace_set_wait(const struct ftrace_ops *ops);
/*
 * Release stale sets. Not in the middle of an update: a site may have left a set in its record
 * while its text still calls the trampoline.
 */
void ftrace_set_free_stale(void);
/* ftrace_set_free_stale(), if there is no number left for one more set. */
void ftrace_set_make_room(void);

#endif
