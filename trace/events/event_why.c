/*
 * See event_why.h. The event_files of an instance are looked at with preemption off: those of an
 * event that goes are taken out of the list, and freed after a grace period.
 */
#include "event_file.h"
#include "event_why.h"
#include "text/str.h"

static void count_events(struct trace_why *why)
{
	const struct trace_event_file *file;

	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file; file = file->next_of_array) {
		if (trace_event_is_on(file))
			trace_why_add_event(why, file->call->event.name);
	}
	trace_plat_preempt_enable();
}

const struct trace_why_check trace_event_whys[] = {
	{ TRACE_WHY_SOURCES, count_events },
	{ .say = NULL },
};
