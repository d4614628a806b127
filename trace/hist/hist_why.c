/*
 * Sentences of the file `why` about histograms: see instance/why.h. Triggers are looked at with
 * preemption off: they, and their tables, are freed after a grace period.
 */
#include "events/event_file.h"
#include "hist.h"
#include "hist_trigger.h"
#include "hist_why.h"

typedef void (*look_fn)(struct trace_why *why, const struct trace_trigger *trigger);

static void each_hist(struct trace_why *why, look_fn look)
{
	const struct trace_event_file *file;
	const struct trace_trigger *trigger;

	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file; file = file->next_of_array) {
		for (size_t i = 0; (trigger = trace_hist_trigger_at(file, i)); i++)
			look(why, trigger);
	}
	trace_plat_preempt_enable();
}

static void count_one(struct trace_why *why, const struct trace_trigger *trigger)
{
	(void)trigger;
	why->nr_hists++;
}

static void look_at_one(struct trace_why *why, const struct trace_trigger *trigger)
{
	const struct trace_event_call *call = trigger->file->call;
	const struct hist *hist = trace_hist_of(trigger);
	uint64_t drops = atomic_load(&hist->map->drops);
	uint32_t size = hist->map->shape.nr_entries;

	if (atomic_load(&hist->is_paused))
		trace_why_say(why,
			      "The histogram of %s is paused; write its line with :cont to "
			      "events/%s/%s/trigger.",
			      call->event.name, call->event.system, call->event.name);
	if (drops)
		trace_why_say(why,
			      "The histogram of %s has left out %s event%s, because all its %s "
			      "entries are taken; set it anew with a larger :size=.",
			      call->event.name, trace_why_number(drops).text, trace_why_s(drops),
			      trace_why_number(size).text);
	if (!drops && !atomic_load(&hist->map->nr_taken) && !atomic_load(&hist->is_paused))
		trace_why_say(why, "The histogram of %s is empty: %s%.128s%s.", call->event.name,
			      trigger->filter_text ? "no event has met its condition, "
						   : "the event has not occurred",
			      trigger->filter_text ? trigger->filter_text : "",
			      why->tr->event_pid_mask ? ", in a thread of set_event_pid" : "");
}

static void count_hists(struct trace_why *why)
{
	each_hist(why, count_one);
}

static void look_at_hists(struct trace_why *why)
{
	each_hist(why, look_at_one);
}

const struct trace_why_check trace_hist_whys[] = {
	{ TRACE_WHY_SOURCES, count_hists },
	{ TRACE_WHY_HISTS, look_at_hists },
	{ .say = NULL },
};
