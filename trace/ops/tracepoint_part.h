/*
 * Probes of tracepoints that come or go by a batch with other changes: see ftrace_batch.h. Without
 * static branches nothing of text changes with them.
 *
 * Context:   thread, interrupts on.
 * Locking:   that of tracepoint.c.
 * Ownership: a part, and the changes, are the caller's until these have been made.
 */
#ifndef TRACEPOINT_PART_H
#define TRACEPOINT_PART_H

#include <trace/tracepoint.h>
#include "ftrace_batch.h"

struct tracepoint_part {
	struct ftrace_part part;
	struct tracepoint_change *changes;
	size_t nr;
	struct trace_poke *pokes;
	size_t nr_pokes;
};

/* As tracepoint_change_probes(), but that all are made or none. */
void tracepoint_part_init(struct tracepoint_part *part, struct tracepoint_change *changes,
			  size_t nr);
/* Make the changes of this part alone. 0, or the first error, with nothing changed. */
int tracepoint_part_change(struct tracepoint_part *part);

#endif
