/*
 * A set of thread ids, ascending. Small; probes may search one that does not change any more.
 *
 * Context:   thread; trace_pids_has() any.
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

bool trace_pids_has(const struct trace_pids *set, int32_t pid);
/* 0, also when the set has it already; -ENOMEM leaves the set as it was. */
int trace_pids_add(struct trace_pids *set, int32_t pid);
/* Does nothing when the set does not have it. */
void trace_pids_remove(struct trace_pids *set, int32_t pid);
/* Make `to` a copy of `from`. 0, or -ENOMEM: `to` is empty. */
int trace_pids_copy(struct trace_pids *to, const struct trace_pids *from);
void trace_pids_clear(struct trace_pids *set);

#endif
