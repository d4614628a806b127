/*
 * Probes of several kinds that are enabled or disabled by one batch: each kind has a part in it,
 * see ops/ftrace_batch.h.
 *
 * Context, locking: as <trace/kprobe.h>, <trace/kretprobe.h>. kprobes come before kretprobes.
 * Ownership: a part, and the list in it, are the caller's until the change has been made.
 */
#ifndef PROBE_PARTS_H
#define PROBE_PARTS_H

#include <trace/kprobe.h>
#include <trace/kretprobe.h>
#include "kprobe_plan.h"
#include "ops/ftrace_batch.h"

struct kprobe_part {
	struct ftrace_part part;
	struct kprobe *const *ps;
	size_t nr;
	bool on;
	struct kprobe_plan plan;
};

/*
 * As enable_kprobes() or disable_kprobes(), but that it needs memory: -ENOMEM; and -EAGAIN: these
 * two have to do it.
 */
void kprobe_part_init(struct kprobe_part *part, struct kprobe *const *ps, size_t nr, bool on);

struct kretprobe_part {
	struct ftrace_part part;
	struct kretprobe *const *rps;
	size_t nr;
	bool on;
	uint32_t nr_changing;
};

/* As enable_kretprobes() or disable_kretprobes(). */
void kretprobe_part_init(struct kretprobe_part *part, struct kretprobe *const *rps, size_t nr,
			 bool on);

#endif
