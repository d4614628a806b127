/*
 * The registry of the events of TRACE_EVENT(). See event_call.h. The events of trace/ itself are
 * made in this file, so that every program that links it has them.
 */
#include <trace/platform.h>
#include "event_call.h"
#include "event_file.h"
#include "instance/event_private.h"
#include "feature/list.h"
#include "text/str.h"

#define CREATE_TRACE_POINTS
#include <trace/events/power.h>
#include <trace/events/preemptirq.h>
#include <trace/events/sched.h>

/*
 * Start and end of the section that stages/call.h fills, here and elsewhere. Not weak: a linker
 * script that drops the section does not link.
 */
extern struct trace_event_call *const __start_trace_event_calls[];
extern struct trace_event_call *const __stop_trace_event_calls[];

int trace_event_call_add(struct trace_event_call *call)
{
	struct trace_event *event = &call->event;
	size_t nr_fields;

	if (call->event_class->fields) {
		event->fields = call->event_class->fields(&nr_fields);
		event->nr_fields = (uint32_t)nr_fields;
	}
	event->call = call;
	call->is_going = false;
	trace_event_front_init(call);
	return register_trace_event(event);
}

void trace_event_call_cancel_removal(struct trace_event_call *call)
{
	call->is_going = false;
	trace_events_changed();
}

static struct trace_event_guard *event_guards;

void trace_event_guard_register(struct trace_event_guard *guard)
{
	TRACE_LIST_ADD(event_guards, guard);
}

int trace_event_call_begin_removal(struct trace_event_call *call)
{
	if (!call->event.type)
		return -ENOENT;
	if (trace_event_files_are_used(call))
		return -EBUSY;
	for (const struct trace_event_guard *guard = event_guards; guard; guard = guard->next) {
		if (!guard->goes(call)) {
			trace_event_call_cancel_removal(call);
			return -EBUSY;
		}
	}
	return 0;
}

void trace_event_call_leave(struct trace_event_call *call)
{
	(void)trace_event_leave(&call->event);
	trace_event_files_leave(call);
}

void trace_event_call_left(struct trace_event_call *call)
{
	trace_event_left(&call->event);
	trace_event_files_left();
}

int trace_add_event_call(struct trace_event_call *call)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_event_call_add(call);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

int trace_remove_event_call(struct trace_event_call *call)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_event_call_begin_removal(call);
	if (!err) {
		trace_event_call_leave(call);
		tracepoint_synchronize_unregister();
		trace_event_call_left(call);
	}
	trace_plat_unlock(&trace_config_lock);
	return err;
}

int trace_event_calls_init(void)
{
	struct trace_event_call *const *at = __start_trace_event_calls;
	int err = 0;

	for (; at < __stop_trace_event_calls && !err; at++)
		err = trace_event_call_add(*at);
	return err;
}
