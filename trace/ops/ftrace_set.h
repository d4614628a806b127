/*
 * Sets of ops that share call sites. A site that several ops want calls a trampoline that was made
 * for just those ops and calls one after the other: nobody has to ask, call by call, who wants it.
 *
 *   record -- number of its set --> { ops A, ops B } -- trampoline: save, call A, call B, restore
 *
 * A set is made when the first site needs it, and is stale when the last has left: it serves again
 * if a site wants the same ops, until an ops is unregistered or numbers run out. Threads may still
 * stand in the trampoline of a stale one, which goes when they have left: ftrace_grace.h.
 *
 * A site without a set (number 0: no memory, too many sets, too many ops in one) calls the shared
 * trampoline, whose list function finds the same ops by their hashes.
 *
 * Context:   thread.
 * Locking:   ftrace_lock is held by whoever calls.
 * Ownership: of the trampolines: these functions. Ops have to live as long as trampolines that name
 *            them: see ftrace_unregister().
 */
#ifndef FTRACE_SET_H
#define FTRACE_SET_H

#include "ftrace_private.h"

#define FTRACE_MAX_SETS	     255u /* FTRACE_SET_MASK has numbers for these, and 0 */
#define FTRACE_MAX_SET_OPS   16u  /* in one set */
#define FTRACE_MAX_KNOWN_OPS 64u  /* registered ones that can be in sets; bits of a mask */

/* Have ops take part in sets, or not any more; no site may want it then. */
void ftrace_set_add_ops(struct ftrace_ops *ops);
void ftrace_set_remove_ops(struct ftrace_ops *ops);

/*
 * The set of all ops of the list that want `ip`, for one more site; 0: there is none. Give it back
 * with ftrace_set_put() when the site has left it.
 */
uint32_t ftrace_set_get(uint32_t ip);
void ftrace_set_put(uint32_t number);
/* Where sites of the set call. */
uintptr_t ftrace_set_address(uint32_t number);

/* Have all sets that name `ops` call `func`. 0, or -ENODEV: text was damaged, tracing is dead. */
int ftrace_set_retarget(const struct ftrace_ops *ops, ftrace_func_t func);
/* Begin to wait for threads in trampolines of sets that name `ops`. */
void ftrace_set_wait(const struct ftrace_ops *ops);
/* Release what no site calls any more, as its text is now: not in the middle of an update. */
void ftrace_set_free_stale(void);
/* The same, if there is no number left for one more set. */
void ftrace_set_make_room(void);

#endif
