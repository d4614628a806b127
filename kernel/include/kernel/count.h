/*
 * Counts of events, for the command stat: how often tracepoints were passed, and the CPU time of
 * threads, in rows by CPU or by thread. Nothing is recorded; an event costs an addition.
 *
 * A count is about all threads, or about those that the caller starts between count_children(counts)
 * and count_children(NULL), and their children in turn.
 *
 *   count_open --> count_add, for each column --> count_start --> count_stop --> count_value --> count_close
 *
 * Context:   thread, preemption on.
 * Locking:   none: one thread uses a count. Probes add to it on all CPUs, each to its own row.
 * Ownership: count_open() and count_close().
 */
#ifndef KERNEL_COUNT_H
#define KERNEL_COUNT_H

#include <kernel/base.h>
#include <kernel/thread.h>

#define COUNT_COLUMNS 32u
#define COUNT_ROWS    128u /* CPUs, or threads; the last is of all threads beyond */

struct counts;

/* The threads of a count, and its rows. */
#define COUNT_ALL 0x1u /* all threads, idle ones included */
#define COUNT_BY_THREAD                                                                            \
	0x2u /* a row for each thread that is born into it, in that order; not with COUNT_ALL */

/* 0; -ENOMEM; -EBUSY: another count has rows by thread, which one may have at a time. */
int count_open(uint32_t flags, struct counts **out_counts);
void count_close(struct counts *counts);

/* Events of a column. */
enum count_kind {
	COUNT_PASSED,	/* each time that the tracepoint is passed by a thread that counts */
	COUNT_RUN_TIME, /* of sched_stat_runtime: CPU time, in nanoseconds */
	COUNT_MOVED, /* of sched_migrate_task: moves of a thread that counts, whichever one moves it */
};
/*
 * Add a tracepoint to the column `column`, which may have several. 0; -ENOENT: there is no such
 * tracepoint; -ENOSPC: there are COUNT_COLUMNS. Before count_start().
 */
int count_add(struct counts *counts, uint32_t column, const char *tracepoint, enum count_kind kind);
/* 0, or with nothing changed an error of tracepoint_change_probes(). */
int count_start(struct counts *counts);
/* On return no probe adds any more. */
void count_stop(struct counts *counts);

/* Threads that the caller starts from now on belong to the count; NULL: to none. */
void count_children(const struct counts *counts);
uint64_t count_value(const struct counts *counts, uint32_t column, uint32_t row);
/*
 * The pid of a row by thread, and the name (THREAD_NAME_LEN bytes) that it had when it ran last, if a column
 * has its run time. 0: no thread has the row.
 */
int32_t count_thread(uint32_t row, char *out_name);

/* For the birth of `child`, which has not run: it counts where `parent` does. */
void count_inherit(struct thread *child, const struct thread *parent);

#endif
