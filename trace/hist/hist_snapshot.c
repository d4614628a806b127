/*
 * The action snapshot(): the instance takes a snapshot, and the histogram records the event that
 * caused the last one. See hist_action.h, instance/snapshot.h.
 *
 * An entry has its greatest or last value, and so has the whole histogram: that of the last
 * snapshot. Only a value that replaces both makes a new one. The record of the last one changes
 * together with it, under the lock of exchanges.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_run.h"
#include "hist_view.h"
#include "instance/snapshot.h"
#include "feature/feature.h"

static const struct hist_action_type hist_snapshot_type;

/* The last snapshot. Histograms of one name share it. */
struct hist_snapshot {
	uint32_t nr_users;
	uint64_t value;
	/* Entry of the event that caused it; NULL when none was taken. */
	const struct hist_entry *entry;
};

/* ---- Acting, in any context ---- */

struct hit {
	const struct hist_action *action;
	const struct hist_entry *entry;
	uint64_t value;
};

static bool is_better(const struct trace_snapshot_wish *wish)
{
	const struct hit *hit = wish->arg;
	struct hist_snapshot *last = hit->action->private;

	if (!hit->action->handler->replaces(last->value, hit->value))
		return false;
	last->value = hit->value;
	last->entry = hit->entry;
	return true;
}

static void hist_snapshot_take(const struct trace_trigger_hit *hit,
			       const struct trace_trigger_later *later)
{
	struct hit wanted = { later->what, later->entry, later->value };

	trace_snapshot_take_if(hit->file->tr,
			       &(struct trace_snapshot_wish){ .is_wanted = is_better,
							      .arg = &wanted,
							      .nr_taken = later->nr_taken });
}

/* Take the snapshot behind the record, so that the event that causes it is in it. */
static void snapshot_act(struct hist_run *run, struct hist_action *action, uint64_t value)
{
	trace_trigger_later(run->hit,
			    &(struct trace_trigger_later){
				    .func = hist_snapshot_take,
				    .what = action,
				    .entry = run->entry,
				    .value = value,
				    .nr_taken = trace_snapshot_nr_taken(run->hit->file->tr) });
}

/* ---- Creation and removal ---- */

static struct hist_action *hist_snapshot_find_in(const struct hist *hist)
{
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		if (hist->actions[i]->type == &hist_snapshot_type)
			return hist->actions[i];
	}
	return NULL;
}

static int snapshot_begin(struct hist *hist, struct hist_action *action)
{
	struct hist_snapshot *last;
	int err;

	if (hist->shared) {
		last = hist_snapshot_find_in(hist->shared)->private;
		last->nr_users++;
		action->private = last;
		return 0;
	}
	last = trace_plat_alloc(sizeof(*last));
	if (!last)
		return -ENOMEM;
	err = trace_snapshot_claim(hist->tr);
	if (err) {
		trace_plat_free(last, sizeof(*last));
		return err;
	}
	last->nr_users = 1;
	action->private = last;
	return 0;
}

/* End the action. The record of the table's own histogram stays for later ones of its name. */
static void snapshot_end(struct hist *hist, struct hist_action *action)
{
	struct hist_action *owner = hist_snapshot_find_in(hist->shared ? hist->shared : hist);
	struct hist_snapshot *last = action->private;

	if (action != owner)
		action->private = NULL;
	if (--last->nr_users)
		return;
	owner->private = NULL;
	trace_snapshot_release(hist->tr);
	trace_plat_free(last, sizeof(*last));
}

static void snapshot_clear(struct hist_action *action)
{
	struct hist_snapshot *last = action->private;

	last->value = 0;
	last->entry = NULL;
}

/* ---- As text ---- */

static void snapshot_print(const struct hist_view *view, const struct hist_action *action,
			   struct trace_seq *seq)
{
	const struct hist *hist = view->hist;
	struct hist_snapshot last;
	uint64_t flags;

	if (!action->private)
		return; /* the histogram is no longer set */
	flags = trace_snapshot_lock(trace_snapshot_of(hist->tr));
	last = *(const struct hist_snapshot *)action->private;
	trace_snapshot_unlock(trace_snapshot_of(hist->tr), flags);
	if (!last.entry)
		return;
	trace_seq_printf(seq,
			 "\nSnapshot taken (see tracing/snapshot).  Details:\n"
			 "\ttriggering value { %s(%.*s) }: %10llu\ttriggered by event with key: ",
			 action->handler->name, (int)action->of.len, action->of.at,
			 (unsigned long long)last.value);
	trace_hist_print_key(hist, (const void *)last.entry, seq);
	trace_seq_putc(seq, '\n');
}

static const struct hist_action_type hist_snapshot_type = {
	.name = "snapshot",
	.needs_variable = true,
	.hides_value = true,
	.begin = snapshot_begin,
	.end = snapshot_end,
	.clear = snapshot_clear,
	.act = snapshot_act,
	.print_end = snapshot_print,
};

/* ---- The feature ---- */

static struct hist_action_entry hist_snapshot_entry = { .type = &hist_snapshot_type };

static int hist_snapshot_init(void)
{
	trace_hist_action_register(&hist_snapshot_entry);
	return 0;
}

const struct trace_feature trace_feature_hist_snapshot = {
	.name = "hist_snapshot",
	.init = hist_snapshot_init,
};
