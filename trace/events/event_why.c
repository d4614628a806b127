/*
 * Sentences of `why` about trace events. See event_why.h. This file reads an instance's event_files
 * with preemption off: when an event is removed, they leave the list and are freed after a grace
 * period; so are filters, after their flag was cleared.
 */
#include <trace/fmt.h>
#include "event_file.h"
#include "event_filter.h"
#include "event_rejects.h"
#include "event_why.h"
#include "trigger.h"
#include "expr/expr_show.h"
#include "text/str.h"

#define INSNS_SHOWN 4u /* of a filter's program */

static const struct trace_event_file *first_file(const struct trace_why *why)
{
	return trace_events_of(why->tr)->files;
}

static void count_events(struct trace_why *why)
{
	const struct trace_event_file *file;

	trace_plat_preempt_disable();
	for (file = first_file(why); file; file = file->next_of_array) {
		if (trace_event_is_on(file))
			trace_why_add_event(why, file->call->event.name);
	}
	trace_plat_preempt_enable();
}

/* Was recording on since `since_ns`, on all CPUs and in all threads? */
static bool was_on_since(const struct trace_why *why, uint64_t since_ns)
{
	const struct trace_array *tr = why->tr;
	struct trace_off off;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		if (tr->cpus[cpu].is_masked || why->cpus[cpu].glance.nr_disabled)
			return false;
	}
	return ring_buffer_record_is_set_on(tr->buffer) && !tr->event_pid_mask &&
	       (!trace_array_last_off(tr, &off) || off.time_ns < since_ns);
}

/* Was recording on since then, with all events still there to be counted? */
static bool has_all_since(const struct trace_why *why, uint64_t since_ns)
{
	const struct trace_why_ring *all = &why->all;

	return why->has_types && all->entries == all->glance.committed && !all->glance.dropped &&
	       !all->glance.commit_overrun && why->tr->emptied_ns <= since_ns &&
	       was_on_since(why, since_ns);
}

static uint64_t nr_there(const struct trace_why *why, const struct trace_event_file *file)
{
	return file->type < TRACE_WHY_TYPES ? why->types[file->type].nr : 0;
}

/*
 * Does the trace have an event since that time, or with a clock that cannot be compared any event?
 */
static bool has_come_since(const struct trace_why *why, const struct trace_event_file *file,
			   uint64_t since_ns)
{
	return nr_there(why, file) && why->types[file->type].newest_ns >= since_ns;
}

/* ---- Filters ---- */

/* Show what a filter was compiled into, in the form of hist_debug. Preemption is off. */
static void show_program(const struct trace_why *why, const struct trace_event_file *file)
{
	const struct expr_program *filter = atomic_load(&file->filter);

	for (uint32_t i = 0; filter && i < filter->nr && i < INSNS_SHOWN; i++)
		trace_expr_show(filter, i, NULL, why->seq);
	if (filter && filter->nr > INSNS_SHOWN)
		trace_seq_printf(why->seq, "     %u more instructions\n", filter->nr - INSNS_SHOWN);
}

/* Say the counts of a filter; `since` is the time when it began to count. */
static void say_counted(struct trace_why *why, const struct trace_event_file *file, uint64_t since)
{
	const struct trace_event *event = &file->call->event;
	const char *text = trace_event_filter_in_force(file);
	uint64_t nr = trace_event_rejects_nr(file->rejects), there = nr_there(why, file);

	if (has_come_since(why, file, since) || !has_all_since(why, since)) {
		trace_why_note(why,
			       "The filter of %s has turned away %s event%s in %s, and the buffer "
			       "has %s: %.128s.",
			       event->name, trace_why_number(nr).text, trace_why_s(nr),
			       trace_why_ago(why, since).text, trace_why_number(there).text, text);
		return;
	}
	trace_why_say(why,
		      "The filter of %s has let 0 of %s event%s pass in %s: %.128s; echo 0 > "
		      "events/%s/%s/filter.",
		      event->name, trace_why_number(nr).text, trace_why_s(nr),
		      trace_why_ago(why, since).text, text, event->system, event->name);
	show_program(why, file);
}

/* Begin to count, at the first question. Only a filter that no event has passed is worth it. */
static void begin_counting(struct trace_why *why, struct trace_event_file *file)
{
	const char *text = trace_event_filter_in_force(file);
	uint64_t since = file->filter_since_ns;
	struct trace_why_text ago = trace_why_ago(why, since);

	if (has_come_since(why, file, since))
		return;
	trace_snprintf(ago.text + trace_strlen(ago.text), sizeof(ago.text) - trace_strlen(ago.text),
		       " ago");
	trace_why_say(why,
		      "Nothing has passed the filter of %s%s%s: %.128s; what it turns away is "
		      "counted from now on, so ask again.",
		      file->call->event.name,
		      has_all_since(why, since) ? " since it was set "
						: " that is still in the buffer",
		      has_all_since(why, since) ? ago.text : "", text);
	trace_event_filter_count(file, why->now_ns);
}

static void say_filter(struct trace_why *why, struct trace_event_file *file)
{
	uint64_t since = file->rejects->since_ns;

	if (since)
		say_counted(why, file, since);
	else
		begin_counting(why, file);
}

static void look_at_filters(struct trace_why *why)
{
	struct trace_event_file *file;
	uint32_t nr = 0;

	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file; file = file->next_of_array) {
		if (!(atomic_load(&file->front.flags) & TRACE_EVENT_FILTERS) ||
		    !trace_event_is_on(file))
			continue;
		if (nr++ < TRACE_WHY_MAX_NAMED)
			say_filter(why, file);
	}
	trace_plat_preempt_enable();
	if (nr > TRACE_WHY_MAX_NAMED)
		trace_why_note(why, "%u more events have filters: cat show_event_filters.",
			       nr - TRACE_WHY_MAX_NAMED);
}

/* ---- Events that wait to be switched on ---- */

/*
 * Find the trigger that will switch an event on; rather one with a count left than a used up one.
 */
static const struct trace_trigger *find_trigger(const struct trace_why *why,
						const struct trace_event_file *target)
{
	const struct trace_trigger *trigger, *found = NULL;
	const struct trace_event_file *of;

	for (of = first_file(why); of; of = of->next_of_array) {
		for (trigger = of->triggers; trigger; trigger = trigger->next) {
			if (trigger->target == target && !(found && found->count) &&
			    trace_streq(trigger->command->name, "enable_event"))
				found = trigger;
		}
	}
	return found;
}

/* Find the command of a function that will switch an event on. */
static const struct trace_event_switch *
event_why_find_command(const struct trace_event_file *target)
{
	const struct trace_event_switch *command, *found = NULL;

	for (command = target->switches; command; command = command->next) {
		if (command->on && !(found && found->count))
			found = command;
	}
	return found;
}

/*
 * Say which user will switch the event on. Other users, such as monitors and `disable_event`, will
 * not.
 */
static void say_waits(struct trace_why *why, const struct trace_event_file *file)
{
	const struct trace_event_switch *command = event_why_find_command(file);
	const struct trace_trigger *trigger = find_trigger(why, file);
	const struct trace_event *event = &file->call->event;

	if (trigger && trigger->count)
		trace_why_say(why,
			      "%s is off until %s occurs, which has the trigger enable_event%s.",
			      event->name, trigger->file->call->event.name,
			      trigger->filter_text ? " with a condition" : "");
	else if (command && command->count)
		trace_why_say(why,
			      "%s is off until a function is called that has the command "
			      "enable_event: cat set_ftrace_filter.",
			      event->name);
	else if (trigger)
		trace_why_say(why,
			      "%s is off: the trigger enable_event of %s has acted as often as it "
			      "was to; echo 1 > events/%s/%s/enable.",
			      event->name, trigger->file->call->event.name, event->system,
			      event->name);
	else if (command)
		trace_why_say(why,
			      "%s is off: the command enable_event of a function has acted as "
			      "often as it was to; echo 1 > events/%s/%s/enable.",
			      event->name, event->system, event->name);
}

static void look_at_waiting(struct trace_why *why)
{
	const struct trace_event_file *file;

	trace_plat_preempt_disable();
	for (file = first_file(why); file; file = file->next_of_array) {
		if (file->nr_soft && !trace_event_is_on(file))
			say_waits(why, file);
	}
	trace_plat_preempt_enable();
}

/* ---- Events that do not come ---- */

/* Is the event on, but missing in the trace? Events with a filter have a sentence already. */
static bool is_missing(const struct trace_why *why, const struct trace_event_file *file)
{
	return trace_event_is_on(file) && !nr_there(why, file) &&
	       !(atomic_load(&file->front.flags) & TRACE_EVENT_FILTERS);
}

static void look_at_missing(struct trace_why *why)
{
	uint32_t nr = 0, nr_on = why->nr_events;
	const struct trace_event_file *file;
	struct trace_why names = { 0 };

	if (!was_on_since(why, why->now_ns) || !why->has_types)
		return;
	trace_plat_preempt_disable();
	for (file = first_file(why); file; file = file->next_of_array) {
		if (!is_missing(why, file))
			continue;
		trace_why_add_event(&names, file->call->event.name);
		nr++;
	}
	trace_plat_preempt_enable();
	if (!nr)
		return;
	if (!has_all_since(why, why->tr->emptied_ns) && nr == nr_on)
		trace_why_note(why, "No event that is on is in the buffer: %s.", names.event_names);
	else if (!has_all_since(why, why->tr->emptied_ns))
		trace_why_note(why, "%u of the %u events that are on %s not in the buffer: %s.", nr,
			       nr_on, nr == 1 ? "is" : "are", names.event_names);
	else if (nr == nr_on)
		trace_why_note(why, "No event that is on has occurred: %s.", names.event_names);
	else
		trace_why_note(why, "%u of the %u events that are on %s not occurred: %s.", nr,
			       nr_on, nr == 1 ? "has" : "have", names.event_names);
}

/* ---- Events lost for lack of room to build them ---- */

static void look_at_unseen(struct trace_why *why)
{
	uint64_t nr = trace_events_of(why->tr)->nr_unseen;

	if (nr)
		trace_why_say(
			why,
			"Triggers and histograms have not seen %s long event%s: too many others "
			"of the same CPU were being written, one inside another.",
			trace_why_number(nr).text, trace_why_s(nr));
}

const struct trace_why_check trace_event_whys[] = {
	{ TRACE_WHY_SOURCES, count_events },   { TRACE_WHY_EVENTS, look_at_filters },
	{ TRACE_WHY_EVENTS, look_at_waiting }, { TRACE_WHY_EVENTS, look_at_missing },
	{ TRACE_WHY_LOST, look_at_unseen },    { .say = NULL },
};
