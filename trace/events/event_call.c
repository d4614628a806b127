/*
 * See event_call.h. The events that trace/ itself defines are made here, so that whoever links this
 * has them.
 */
#include <trace/platform.h>
#include "event_call.h"
#include "text/str.h"

#define CREATE_TRACE_POINTS
#include <trace/events/power.h>
#include <trace/events/preemptirq.h>
#include <trace/events/sched.h>

/*
 * Start and end of the section that stages/call.h fills. The linker defines them when there is at
 * least one entry; otherwise both are NULL.
 */
extern struct trace_event_call *const __start_trace_event_calls[] __attribute__((weak));
extern struct trace_event_call *const __stop_trace_event_calls[] __attribute__((weak));

int trace_event_calls_init(void)
{
	struct trace_event_call *const *at = __start_trace_event_calls;
	int err = 0;

	for (; at < __stop_trace_event_calls && !err; at++) {
		struct trace_event *event = &(*at)->event;

		event->fields = (*at)->event_class->fields(&event->nr_fields);
		event->call = *at;
		err = register_trace_event(event);
	}
	return err;
}
