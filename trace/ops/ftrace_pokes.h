/*
 * The list of text changes that updates make. Each update adds a run, whose sites ascend. When none
 * is open, the list is written at the end of the update. While one is open, it waits for those of
 * further updates and of probes:
 *
 *   open, update, update, ..., write     one batch for all
 *
 * A site that several updates change is in the list once: from what it holds to what the last one
 * wants. So an update that takes back another one takes its changes out of the list.
 *
 * Context:   thread, interrupts on.
 * Locking:   ftrace_lock is held by whoever calls.
 */
#ifndef FTRACE_POKES_H
#define FTRACE_POKES_H

#include "ftrace_private.h"

/*
 * Begin an update's run of at most `bound` changes. Returns its memory, and in *out_room the number
 * of changes that fit: at least 1, and fewer than `bound` for want of memory while no list is open.
 */
struct trace_poke *ftrace_pokes_begin(size_t bound, size_t *out_room);
/*
 * Write `nr` of the run now; the next ones come to the same place. 0 or -ENODEV, after
 * ftrace_bug().
 */
int ftrace_pokes_flush(size_t nr);
/* The run has ended, with `nr` changes. The same result, 0 while a list is open. */
int ftrace_pokes_end(size_t nr);

/*
 * Open the list for updates that together change at most `bound` sites; they may be taken back
 * again. 0 or -ENOMEM.
 */
int ftrace_pokes_open(size_t bound);
bool ftrace_pokes_are_open(void);
/* Changes at places that are no call sites, which ascend: `bound` counts these, too. */
void ftrace_pokes_add(const struct trace_poke *pokes, size_t nr);
/*
 * Write the list. Returns 0; -ENODEV, after ftrace_bug(); -EBUSY, with nothing written, when a
 * breakpoint of another owner is at one of the added places. Then the updates have to be taken
 * back.
 */
int ftrace_pokes_write(void);
void ftrace_pokes_close(void);

#endif
