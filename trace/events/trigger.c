/*
 * Triggers of an event: setting, removing, calling them. See trigger.h.
 *
 * An event's triggers are a list, the newest first, which probes walk with preemption off:
 * trigger_run.h. A trigger taken out is freed when no such probe runs any more.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "event_file.h"
#include "event_filter.h"
#include "trigger_private.h"
#include "trigger_run.h"
#include "instance/entry.h"
#include "instance/event_private.h"
#include "text/str.h"

/* ---- Probes: any context ---- */

static void call_recorded(const struct trace_trigger_hit *hit,
			  const struct trace_trigger_later *later)
{
	struct trace_trigger *trigger = later->what;
	struct trace_trigger_visit recorded;

	recorded.hit = *hit;
	recorded.late.is_more = false; /* it is late: no other trigger comes behind it */
	trigger->func(trigger, &recorded.hit);
}

bool trace_trigger_is_called_now(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	uint32_t marks = trigger->marks;

	if (marks & TRACE_TRIGGER_HEAD)
		trace_entry_init(hit->entry, hit->file->type, hit->file->own_depth);
	if (marks & TRACE_TRIGGER_IF && !trace_expr_match(trigger->filter, hit->entry, hit->bytes))
		return false;
	if (marks & TRACE_TRIGGER_SWITCHES)
		trace_triggers_note_more(hit);
	if (!(marks & TRACE_TRIGGER_LATE))
		return true;
	trace_trigger_later(
		hit, &(struct trace_trigger_later){ .func = call_recorded, .what = trigger });
	return false;
}

void trace_triggers_call(const struct trace_trigger_hit *hit)
{
	trace_triggers_run(hit);
}

void trace_triggers_call_late(const struct trace_trigger_hit *hit)
{
	const struct trace_triggers_late *late = trace_triggers_late_of(hit);

	for (uint32_t i = 0; i < late->nr; i++)
		late->at[i].func(hit, &late->at[i]);
}

/* ---- The list ---- */

static struct trace_trigger *_Atomic *link_behind_all(struct trace_event_file *file)
{
	struct trace_trigger *_Atomic *link = &file->triggers;

	while (*link)
		link = &(*link)->next;
	return link;
}

/* Release: a probe that finds the trigger finds its members. */
static void trigger_publish(struct trace_trigger *trigger)
{
	struct trace_event_file *file = trigger->file;
	struct trace_trigger *_Atomic *link = &file->triggers;

	if (trigger->command->flags & TRACE_TRIGGER_LISTED_LAST)
		link = link_behind_all(file);
	trigger->next = *link;
	atomic_store_explicit(link, trigger, memory_order_release);
	trace_event_flag(file, TRACE_EVENT_TRIGGERS, true);
	trace_event_filter_set_test(file);
}

/* Take a trigger out of the list. Its `next` stays, for probes that are just walking the list. */
static void trigger_take_out(struct trace_trigger *trigger, struct trace_trigger **gone)
{
	struct trace_trigger *_Atomic *link = &trigger->file->triggers;

	while (*link != trigger)
		link = &(*link)->next;
	atomic_store_explicit(link, trigger->next, memory_order_release);
	if (!trigger->file->triggers) {
		trace_event_flag(trigger->file, TRACE_EVENT_TRIGGERS, false);
		trace_event_filter_set_test(trigger->file);
	}
	if (trigger->command->end)
		trigger->command->end(trigger);
	trigger->next_gone = *gone;
	*gone = trigger;
}

struct trace_trigger *trace_trigger_find(const struct trace_event_file *file,
					 const struct trace_trigger_command *command,
					 const struct trace_event_file *target)
{
	struct trace_trigger *trigger = file->triggers;

	if (!command->kind)
		return NULL;
	for (; trigger; trigger = trigger->next) {
		const char *kind = trigger->command->kind;

		if (kind && trace_streq(kind, command->kind) && trigger->target == target)
			break;
	}
	return trigger;
}

static uint32_t nr_late(const struct trace_event_file *file)
{
	uint32_t nr = 0;

	for (struct trace_trigger *at = file->triggers; at; at = at->next)
		nr += at->command->flags & TRACE_TRIGGER_AFTER_RECORD ? 1 : 0;
	return nr;
}

/* ---- Set and remove ---- */

static void trigger_free_one(struct trace_trigger *trigger)
{
	trace_trigger_clear_condition(trigger);
	trace_plat_free(trigger, sizeof(*trigger));
}

/* Free triggers. The target goes last: func may switch it until no probe is in func any more. */
static void trigger_free_all(struct trace_trigger *gone)
{
	struct trace_trigger *next;

	if (gone)
		tracepoint_synchronize_unregister();
	for (; gone; gone = next) {
		next = gone->next_gone;
		trace_event_soft_put(gone->file);
		if (gone->target)
			trace_event_soft_put(gone->target);
		if (gone->command->free)
			gone->command->free(gone);
		trigger_free_one(gone);
	}
}

void trace_trigger_remove(struct trace_trigger *trigger)
{
	struct trace_trigger *gone = NULL;

	trigger_take_out(trigger, &gone);
	trigger_free_all(gone);
}

static bool trigger_is_needed(const struct trace_trigger *trigger)
{
	return trigger->command->is_needed && trigger->command->is_needed(trigger);
}

/*
 * Remove all triggers that truncation removes; some may be needed by others of these. Returns true
 * if any were taken out.
 */
static bool truncate(struct trace_event_file *file)
{
	struct trace_trigger *trigger = file->triggers, *gone = NULL, *next;
	bool is_any;

	for (; trigger; trigger = next) {
		next = trigger->next;
		if (trigger->command->flags & TRACE_TRIGGER_TRUNCATED &&
		    !trigger_is_needed(trigger))
			trigger_take_out(trigger, &gone);
	}
	is_any = gone;
	trigger_free_all(gone);
	return is_any;
}

void trace_triggers_truncate(struct trace_event_file *file)
{
	while (truncate(file))
		;
}

void trace_triggers_array_gone(struct trace_array *tr)
{
	struct trace_trigger *gone = NULL;

	for (struct trace_event_file *at = trace_events_of(tr)->files; at; at = at->next_of_array) {
		while (at->triggers)
			trigger_take_out(at->triggers, &gone);
	}
	trigger_free_all(gone);
}

static int trigger_check(const struct trace_trigger_command *command,
			 struct trace_trigger_args *args, const struct trace_trigger_wish *wish)
{
	if (trace_trigger_find(args->file, command, wish->target))
		return trace_trigger_blame(args, NULL, "there is such a trigger already", -EEXIST);
	if (command->flags & TRACE_TRIGGER_AFTER_RECORD &&
	    nr_late(args->file) == TRACE_TRIGGER_MAX_LATE)
		return trace_trigger_blame(args, NULL, "too many of such triggers", -ENOSPC);
	return 0;
}

/* Register the probes of both events. */
static int get_probes(struct trace_trigger *trigger)
{
	int err = trace_event_soft_get(trigger->file);

	if (err || !trigger->target)
		return err;
	err = trace_event_soft_get(trigger->target);
	if (err)
		trace_event_soft_put(trigger->file);
	return err;
}

static int trigger_prepare(struct trace_trigger *trigger, struct trace_trigger_args *args,
			   const struct trace_trigger_wish *wish)
{
	int err = 0;

	if (trigger->command->flags & TRACE_TRIGGER_AFTER_RECORD)
		trigger->marks |= TRACE_TRIGGER_LATE;
	if (trigger->command->flags & TRACE_TRIGGER_HAS_TARGET)
		trigger->marks |= TRACE_TRIGGER_SWITCHES;

	if (wish->condition.len)
		err = trace_trigger_set_condition(trigger, args, &wish->condition);
	if (!err && trigger->command->prepare)
		err = trigger->command->prepare(trigger);
	return err ? err : get_probes(trigger);
}

int trace_trigger_set(const struct trace_trigger_command *command, struct trace_trigger_args *args,
		      const struct trace_trigger_wish *wish)
{
	struct trace_trigger *trigger;
	int err = trigger_check(command, args, wish);

	if (err)
		return err;
	trigger = trace_plat_alloc(sizeof(*trigger));
	if (!trigger)
		return -ENOMEM;
	trigger->command = command;
	trigger->func = command->func;
	trigger->file = args->file;
	trigger->target = wish->target;
	trigger->count = wish->count;
	trigger->private = wish->private;
	err = trigger_prepare(trigger, args, wish);
	if (err)
		trigger_free_one(trigger);
	else
		trigger_publish(trigger);
	return err;
}
