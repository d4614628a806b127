/*
 * A set of thread ids, ascending. Small: searched when a thread is made or a filter changes, never
 * from a probe, which looks at a bit in the thread's flag word instead.
 *
 * Context:   thread.
 * Locking:   the owner's.
 * Ownership: the set owns its memory until trace_pids_clear(). Zeroed is empty.
 */
#ifndef TRACE_PIDS_H
#define TRACE_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_pids {
	int32_t *pids;
	size_t nr;
	size_t capacity;
};

struct trace_array;
struct trace_thread;

bool trace_pids_has(const struct trace_pids *set, int32_t pid);
/* 0, also when it is there already, or -ENOMEM. */
int trace_pids_add(struct trace_pids *set, int32_t pid);
void trace_pids_remove(struct trace_pids *set, int32_t pid);
int trace_pids_copy(struct trace_pids *to, const struct trace_pids *from);
void trace_pids_clear(struct trace_pids *set);

/*
 * Make `*set`, one of the two of `tr`, be `*with`, which is empty afterwards. -ENOSPC: 64 instances
 * filter threads already; nothing changed. Config lock held.
 */
int trace_pids_replace(struct trace_array *tr, struct trace_pids *set, struct trace_pids *with);
/* Empty both sets of `tr`. Config lock held. */
void trace_pids_release(struct trace_array *tr);

/*
 * A thread was made, and has the bits of all instances that leave it out; with function-fork the
 * sets of its parent are its own too. A thread ends. No lock held.
 */
void trace_pids_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
void trace_pids_thread_exited(int32_t pid);

#endif
