/*
 * Probes switched on and off many at once, of whatever kinds, by one batch. See probe.h,
 * ops/ftrace_batch.h.
 *
 * Context: thread, config lock held.
 */
#ifndef PROBE_SWITCH_H
#define PROBE_SWITCH_H

#include "probe.h"

struct ftrace_part;

/* In the order in which their locks are taken. */
enum probe_rank {
	PROBE_RANK_INSTRUCTION,
	PROBE_RANK_RETURN,
	PROBE_RANK_TRACEPOINT,
	PROBE_RANK_PROGRAM, /* no part of a batch: it has no make_part */
	PROBE_NR_RANKS
};

/*
 * Functions that switch many targets of one kind at once, as a part of a batch with other kinds:
 * ops/ftrace_batch.h. A list has `bytes` for each.
 */
struct probe_many {
	enum probe_rank rank;
	size_t bytes;
	void (*put)(struct probe *probe, bool on, void *to);
	/* Config lock held until the change has been made, so that one struct will do. */
	struct ftrace_part *(*make_part)(void *list, size_t nr, bool on);
	/*
	 * Make the change of this part and those of higher ranks, NULL for the highest; or that of
	 * a list alone, by more batches where it has to be. All or nothing: 0 or -errno.
	 */
	int (*change)(struct ftrace_part *const *parts, size_t nr);
	int (*change_alone)(void *list, size_t nr, bool on);
	/*
	 * Give back the places of those that are off; again for each by probe_kind.detach(). Or
	 * NULL.
	 */
	void (*detach)(void *list, size_t nr);
};

/* For struct trace_event_class. */
void trace_probes_change(struct trace_event_change *changes, size_t nr);
/* For struct dyn_event_kind. */
void trace_probes_detach_chosen(const struct dyn_event_kind *kind);

#endif
