/*
 * Names of threads and the processes that they are of, for lines of the trace. The host knows these
 * of living threads; those of threads that have ended are saved in a ring of fixed size.
 *
 * Context:   thread; trace_cmdlines_find() and trace_cmdlines_tgid() without `may_wait`: any.
 * Locking:   a spinlock inside with interrupts off; find without `may_wait` only tries to take it.
 *            The size changes under the config lock.
 */
#ifndef TRACE_CMDLINES_H
#define TRACE_CMDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform.h>

#define TRACE_CMDLINES_DEFAULT 128ul
#define TRACE_CMDLINES_MAX     32768u

struct trace_cmdline {
	int32_t pid;
	int32_t tgid;		   /* the process; 0: not recorded */
	char comm[TRACE_COMM_LEN]; /* "": not recorded */
};

struct trace_cmdline_list {
	size_t room;
	size_t nr;
	struct trace_cmdline lines[];
};

/* Make room for TRACE_CMDLINES_DEFAULT names. 0 or -ENOMEM. */
int trace_cmdlines_init(void);
/*
 * Make room for `nr` names and forget those that were saved. 0; -EINVAL outside of 1 ..
 * TRACE_CMDLINES_MAX, -ENOMEM: nothing has changed.
 */
int trace_cmdlines_resize(size_t nr);
/* The number of names that fit. */
size_t trace_cmdlines_size(void);
/* A thread ends: save its name and process if a line of a trace may need them. Thread context. */
void trace_cmdlines_note_exit(int32_t pid, const char *comm);
/*
 * All threads that live now, without CPUs' idle threads; none with record-cmd off, or with `tgids` if
 * no instance has record-tgid. The caller's until trace_cmdlines_put_list(). NULL without memory.
 * Thread context.
 */
struct trace_cmdline_list *trace_cmdlines_living(bool tgids);
/* Free it; NULL is fine. */
void trace_cmdlines_put_list(struct trace_cmdline_list *list);
/*
 * The name of thread `pid`, TRACE_COMM_LEN bytes; `<idle>` for 0, `<...>` when it is not known.
 * Thread context; without `may_wait` any context, and the answer may be `<...>` needlessly.
 */
void trace_cmdlines_find(int32_t pid, bool may_wait, char *out_comm);
/* The process of thread `pid`, by its number; 0: not known. Contexts are as above. */
int32_t trace_cmdlines_tgid(int32_t pid, bool may_wait);
/* The saved thread number `index`, from 0; false when there are fewer. */
bool trace_cmdlines_get(size_t index, struct trace_cmdline *out_cmdline);

#endif
