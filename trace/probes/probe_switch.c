/*
 * Switching probes on and off, and giving back their places: many at once, whatever they are, by
 * one batch of text changes; one by one where that cannot be. See probe.h.
 *
 *   changes of events --> for each struct probe_many a list of targets --> parts --> one batch
 */
#include <trace/platform.h>
#include "probe_switch.h"

/* Targets that are switched in one way. */
struct probe_list {
	const struct probe_many *many; /* NULL: there are none */
	uint8_t *targets;
	size_t nr, room;
};

struct probe_lists {
	struct probe_list of[PROBE_NR_RANKS];
};

/* ---- Lists ---- */

static void probe_switch_count(struct probe_lists *lists, const struct probe_many *many, size_t nr)
{
	lists->of[many->rank].many = many;
	lists->of[many->rank].room += nr;
}

static size_t total(const struct probe_lists *lists)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++)
		nr += lists->of[i].room;
	return nr;
}

static void probe_switch_free_lists(struct probe_lists *lists)
{
	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++) {
		struct probe_list *list = &lists->of[i];

		if (list->targets)
			trace_plat_free(list->targets, list->room * list->many->bytes);
	}
}

/* Memory for as many as were counted. 0 or -ENOMEM. */
static int make_lists(struct probe_lists *lists)
{
	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++) {
		struct probe_list *list = &lists->of[i];

		if (!list->room)
			continue;
		list->targets = trace_plat_alloc(list->room * list->many->bytes);
		if (!list->targets) {
			probe_switch_free_lists(lists);
			return -ENOMEM;
		}
	}
	return 0;
}

static void probe_switch_put(struct probe_lists *lists, const struct probe_many *many,
			     struct probe *probe, bool on)
{
	struct probe_list *list = &lists->of[many->rank];

	many->put(probe, on, list->targets + list->nr++ * many->bytes);
}

/* ---- Switching ---- */

static void count_changes(struct probe_lists *lists, const struct trace_event_change *changes,
			  size_t nr, bool on)
{
	for (size_t i = 0; i < nr; i++) {
		const struct probe_event *event = trace_probe_event_of(changes[i].call);

		if (changes[i].is_begin == on && event->kind->many)
			probe_switch_count(lists, event->kind->many, event->nr_probes);
	}
}

static void put_changes(struct probe_lists *lists, const struct trace_event_change *changes,
			size_t nr, bool on)
{
	for (size_t i = 0; i < nr; i++) {
		const struct probe_event *event = trace_probe_event_of(changes[i].call);
		const struct probe_many *many = event->kind->many;

		if (changes[i].is_begin != on || !many)
			continue;
		for (struct probe *probe = event->first; probe; probe = probe->next)
			probe_switch_put(lists, many, probe, on);
	}
}

/* By one batch; if that cannot be, those of each kind. Which are done? */
static void switch_lists(const struct probe_lists *lists, bool on, bool *out_is_done)
{
	struct ftrace_part *parts[PROBE_NR_RANKS];
	const struct probe_many *first = NULL;
	size_t nr = 0;
	int err;

	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++) {
		const struct probe_list *list = &lists->of[i];

		if (!list->room)
			continue;
		if (!list->many->make_part)
			continue;
		if (!nr)
			first = list->many;
		parts[nr++] = list->many->make_part(list->targets, list->nr, on);
	}
	err = nr > 1 ? first->change(parts, nr) : -EAGAIN;
	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++) {
		const struct probe_list *list = &lists->of[i];

		out_is_done[i] =
			list->room && ((!err && list->many->make_part) ||
				       !list->many->change_alone(list->targets, list->nr, on));
	}
}

/*
 * Change those that begin, or those that end, if they are several. Notes the kinds that are done.
 */
static void change_many(const struct trace_event_change *changes, size_t nr, bool on,
			bool *out_is_done)
{
	struct probe_lists lists = { 0 };

	count_changes(&lists, changes, nr, on);
	if (total(&lists) < 2 || make_lists(&lists))
		return;
	put_changes(&lists, changes, nr, on);
	switch_lists(&lists, on, out_is_done);
	probe_switch_free_lists(&lists);
}

/* Begin with all probes of the event, or none. */
static int probe_switch_begin_all(struct probe_event *event)
{
	struct probe *probe, *begun;
	int err = 0;

	for (probe = event->first; probe && !err; probe = probe->next)
		err = event->kind->begin(probe);
	if (!err)
		return 0;
	for (begun = event->first; begun->next != probe; begun = begun->next)
		event->kind->end(begun);
	return err;
}

static void change_one(struct trace_event_change *change)
{
	struct probe_event *event = trace_probe_event_of(change->call);

	if (change->is_begin) {
		change->err = probe_switch_begin_all(event);
		return;
	}
	for (struct probe *probe = event->first; probe; probe = probe->next)
		event->kind->end(probe);
}

/* One by one, if they cannot be changed all at once, so that each has a result of its own. */
void trace_probes_change(struct trace_event_change *changes, size_t nr)
{
	bool is_done[2][PROBE_NR_RANKS] = { 0 };

	change_many(changes, nr, false, is_done[false]);
	change_many(changes, nr, true, is_done[true]);
	for (size_t i = 0; i < nr; i++) {
		const struct probe_many *many = trace_probe_event_of(changes[i].call)->kind->many;

		if (!many || !is_done[changes[i].is_begin][many->rank])
			change_one(&changes[i]);
	}
}

/* ---- Giving places back ---- */

static const struct probe_many *many_of(const struct dyn_event *dyn)
{
	const struct probe_many *many = trace_probe_event_of(dyn->call)->kind->many;

	return dyn->is_chosen && many && many->detach ? many : NULL;
}

/* Detach many with one wait for their hits. Without memory each waits by itself. */
void trace_probes_detach_chosen(const struct dyn_event_kind *kind)
{
	struct probe_lists lists = { 0 };
	struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(kind, dyn))) {
		if (many_of(dyn))
			probe_switch_count(&lists, many_of(dyn), 1);
	}
	if (total(&lists) < 2 || make_lists(&lists))
		return;
	while ((dyn = trace_dyn_event_next(kind, dyn))) {
		if (many_of(dyn))
			probe_switch_put(&lists, many_of(dyn), trace_probe_of(dyn), false);
	}
	for (uint32_t i = 0; i < PROBE_NR_RANKS; i++) {
		if (lists.of[i].room)
			lists.of[i].many->detach(lists.of[i].targets, lists.of[i].nr);
	}
	probe_switch_free_lists(&lists);
}
