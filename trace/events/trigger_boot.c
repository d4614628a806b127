/*
 * Triggers from the command line: trace_trigger=EVENT.TRIGGER[ if CONDITION],... See trigger.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "trigger.h"
#include "instance/event_private.h"
#include "text/str.h"

/* The next event of a name, in any system, from number *at of all types on; or NULL. */
static struct trace_event_call *next_named(const struct expr_word *name, size_t *at)
{
	struct trace_event_call *call = NULL;

	trace_events_lock();
	while (!call && *at < trace_nr_events()) {
		const struct trace_event *event = trace_event_at((*at)++);

		if (event->call && trace_expr_is(name, event->name))
			call = event->call;
	}
	trace_events_unlock();
	return call;
}

static void set_item(struct trace_array *tr, const struct expr_word *event,
		     const struct expr_word *trigger)
{
	struct trace_event_call *call;
	struct trace_event_file *file;
	size_t at = 0;
	int err;

	call = next_named(event, &at);
	if (!call)
		trace_plat_log("trace: trace_trigger: there is no event %.*s", (int)event->len,
			       event->at);
	for (; call; call = next_named(event, &at)) {
		struct trace_trigger_error error = { 0 };

		file = trace_event_file_get(tr, call);
		err = file ? trace_triggers_write(file, trigger, &error) : -ENOMEM;
		if (err)
			trace_plat_log("trace: trace_trigger: %.*s.%.*s: %s (error %d)",
				       (int)event->len, event->at, (int)trigger->len, trigger->at,
				       error.why ? error.why : "it cannot be set", -err);
	}
}

void trace_triggers_boot(struct trace_array *tr, const char *list)
{
	struct expr_word rest = trace_expr_whole(list), item, event;

	do {
		item = trace_expr_strip(expr_take_until(&rest, ","));
		event = expr_take_until(&item, ".");
		if (expr_take(&item, '.'))
			set_item(tr, &event, &item);
		else if (event.len)
			trace_plat_log("trace: trace_trigger: %.*s: no trigger is named",
				       (int)event.len, event.at);
	} while (expr_take(&rest, ','));
}
