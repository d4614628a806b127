/*
 * Triggers from the command line: trace_trigger=EVENT.TRIGGER[ if CONDITION],... See trigger.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "trigger.h"
#include "instance/event_private.h"
#include "text/str.h"

/* The next event of a name, in any system, from number *at of all types on; or NULL. */
static struct trace_event_call *next_named(const char *name, size_t *at)
{
	struct trace_event_call *call = NULL;

	trace_events_lock();
	while (!call && *at < trace_nr_events()) {
		const struct trace_event *event = trace_event_at((*at)++);

		if (event->call && trace_streq(event->name, name))
			call = event->call;
	}
	trace_events_unlock();
	return call;
}

/* Set a trigger. `text` is changed, so each event gets a copy. */
static int set_one(struct trace_array *tr, struct trace_event_call *call, const char *text,
		   struct trace_trigger_error *out_error)
{
	struct trace_event_file *file = trace_event_file_get(tr, call);
	size_t bytes = trace_strlen(text) + 1;
	char *copy = file ? trace_plat_alloc(bytes) : NULL;
	int err;

	*out_error = (struct trace_trigger_error){ 0 };
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, bytes);
	err = trace_triggers_write(file, copy, out_error);
	trace_plat_free(copy, bytes);
	return err;
}

static void set_item(struct trace_array *tr, const char *event, const char *trigger)
{
	struct trace_event_call *call;
	struct trace_trigger_error error;
	size_t at = 0;
	int err;

	call = next_named(event, &at);
	if (!call)
		trace_plat_log("trace: trace_trigger: there is no event %s", event);
	for (; call; call = next_named(event, &at)) {
		err = set_one(tr, call, trigger, &error);
		if (err)
			trace_plat_log("trace: trace_trigger: %s.%s: %s (error %d)", event, trigger,
				       error.why ? error.why : "it cannot be set", -err);
	}
}

void trace_triggers_boot(struct trace_array *tr, char *list)
{
	char *end, *event, *dot;

	for (; *list; list = end) {
		for (end = list; *end && *end != ',';)
			end++;
		end += *end ? (*end = '\0', 1) : 0;
		event = trace_strip(list);
		for (dot = event; *dot && *dot != '.';)
			dot++;
		if (*dot) {
			*dot = '\0';
			set_item(tr, event, dot + 1);
		} else if (*event) {
			trace_plat_log("trace: trace_trigger: %s: no trigger is named", event);
		}
	}
}
