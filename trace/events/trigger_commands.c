/*
 * The triggers traceon, traceoff, stacktrace, enable_event, disable_event. See trigger.h.
 */
#include "event_stack.h"
#include "trigger_commands.h"

/*
 * Move the switch of recording. Each move takes exactly one from the count, whatever other CPUs do
 * meanwhile: it is taken first, and given back when another context has moved the switch.
 */
static void trigger_switch_recording(struct trace_trigger *trigger,
				     const struct trace_trigger_hit *hit, bool on)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_TRIGGER,
					     .name = hit->file->call->event.name };
	struct trace_array *tr = hit->file->tr;
	bool was_moved;

	if (ring_buffer_record_is_set_on(tr->buffer) == on || !trace_trigger_take(trigger))
		return;
	was_moved = on ? trace_array_on(tr) : trace_array_off(tr, &from);
	if (!was_moved)
		trace_trigger_give_back(trigger);
}

static void func_traceon(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	trigger_switch_recording(trigger, hit, true);
}

static void func_traceoff(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	trigger_switch_recording(trigger, hit, false);
}

/* Record a stack. Its first line is the code that has the tracepoint, or was probed. */
static void func_stacktrace(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	const struct trace_event_file *file = hit->file;
	const struct trace_stack_start start =
		trace_event_stack_start(file->call, hit->entry, hit->caller);

	if (!trace_trigger_take(trigger))
		return;
	trace_stacktrace_probe(file->tr->buffer, (uintptr_t)__builtin_frame_address(0), &start,
			       file->own_depth);
}

static void func_enable_event(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	(void)hit;
	trace_event_switch_counted(trigger->target, &trigger->count, true);
}

static void func_disable_event(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	(void)hit;
	trace_event_switch_counted(trigger->target, &trigger->count, false);
}

const struct trace_trigger_command trace_event_triggers[] = {
	{ .name = "traceon", .place = 10, .kind = "traceon/off", .func = func_traceon },
	{ .name = "traceoff",
	  .place = 11,
	  .kind = "traceon/off",
	  .flags = TRACE_TRIGGER_AFTER_RECORD,
	  .func = func_traceoff },
	{ .name = "stacktrace",
	  .place = 30,
	  .kind = "stacktrace",
	  .flags = TRACE_TRIGGER_AFTER_RECORD,
	  .func = func_stacktrace },
	{ .name = "enable_event",
	  .place = 40,
	  .kind = "enable/disable_event",
	  .flags = TRACE_TRIGGER_HAS_TARGET,
	  .func = func_enable_event },
	{ .name = "disable_event",
	  .place = 41,
	  .kind = "enable/disable_event",
	  .flags = TRACE_TRIGGER_HAS_TARGET,
	  .func = func_disable_event },
	{ .name = NULL },
};
