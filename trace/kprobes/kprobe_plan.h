/*
 * A plan: the changes about to be made at places. See kprobe_arm.c. Breakpoints and jumps become
 * changes of text, call sites come to the filter of an ops or leave it: kprobe_sites.c.
 *
 * Context, locking: as kprobe_private.h.
 */
#ifndef KPROBE_PLAN_H
#define KPROBE_PLAN_H

#include "ops/ftrace_batch.h"

struct kprobe;
struct kprobe_place;

/* The lists have room for `room` each. */
struct kprobe_plan {
	struct trace_poke *pokes;
	struct kprobe_place **sites;
	void *memory; /* of the lists; NULL: they are the static ones */
	size_t room;
	size_t nr_pokes;
	size_t nr_sites;
	int err;
};

/* ---- Many at once, by a batch with others: kprobe_arm.c ---- */

/* Plan the changes at the places of these probes. Returns 0 or -ENOMEM. */
int kprobe_plan_make(struct kprobe_plan *plan, struct kprobe *const *ps, size_t nr);
/* 0, -ENOMEM; -EAGAIN: it has to be done in steps. ftrace_lock is held. */
int kprobe_plan_add(const struct kprobe_plan *plan, struct ftrace_batch *batch);
/* The batch is made, or with an error nothing has changed. */
void kprobe_plan_end(struct kprobe_plan *plan, int err);

/* ---- Call sites: kprobe_sites.c ---- */

/* The sites of a plan to add to filters or to remove. */
enum kprobe_sites_part {
	KPROBE_COMERS = 1,
	KPROBE_LEAVERS = 2,
};

/* Is another ops to call for it than now, or none, or one at last? */
bool kprobe_site_changes(const struct kprobe_place *place);
/* It does, and is part of the plan from now on. */
void kprobe_site_begin(struct kprobe_place *place);
/*
 * Add the new filters of each ops. Returns 0, -ENOMEM; -EAGAIN: some have to come first, and others
 * to leave then. After an error the batch has a part of it. ftrace_lock is held.
 */
int kprobe_sites_add(const struct kprobe_plan *plan, unsigned parts, struct ftrace_batch *batch);
/*
 * From here on the callback of the one ops does nothing, and that of the other calls handlers.
 * After an error all are as before; but where tracing is dead, those that are to be disarmed are.
 */
void kprobe_sites_settle(const struct kprobe_plan *plan, int err);
/*
 * Take leaving sites out of filters, one ops after the other. A failure for want of memory leaves
 * sites that call, and then find no probe. A damaged text ends all tracing.
 */
void kprobe_sites_remove(const struct kprobe_plan *plan);

#endif
