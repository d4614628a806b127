/*
 * See event_call.h. The events that trace/ itself defines are made here, so that whoever links this
 * has them.
 */
#include <trace/platform.h>
#include "event_call.h"
#include "event_file.h"
#include "instance/feature.h"
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

static int event_call_add(struct trace_event_call *call)
{
	struct trace_event *event = &call->event;

	if (call->event_class->fields)
		event->fields = call->event_class->fields(&event->nr_fields);
	event->call = call;
	call->is_going = false;
	return register_trace_event(event);
}

static int event_call_remove(struct trace_event_call *call)
{
	int err;

	if (!call->event.type)
		return -ENOENT;
	if (trace_event_files_are_used(call))
		return -EBUSY;
	for (const struct trace_feature *const *at = trace_features; *at; at++) {
		if ((*at)->event_goes && !(*at)->event_goes(call))
			return -EBUSY;
	}
	err = unregister_trace_event(&call->event);
	if (!err)
		trace_event_files_free(call);
	return err;
}

int trace_add_event_call(struct trace_event_call *call)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = event_call_add(call);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

int trace_remove_event_call(struct trace_event_call *call)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = event_call_remove(call);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

int trace_event_calls_init(void)
{
	struct trace_event_call *const *at = __start_trace_event_calls;
	int err = 0;

	for (; at < __stop_trace_event_calls && !err; at++)
		err = event_call_add(*at);
	return err;
}
