/*
 * First entries of the stacks of trace events: the probed place in code, or that of the tracepoint.
 *
 * Context: probe.
 */
#ifndef TRACE_EVENT_STACK_H
#define TRACE_EVENT_STACK_H

#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "event_file.h"
#include "instance/stacktrace.h"

/*
 * Bytes in which the event's place may lie: a stack has the place itself, or the address behind the
 * instruction there.
 */
#define TRACE_EVENT_PLACE_SPAN 16u

static inline bool trace_event_has_place(const struct trace_event_call *call)
{
	return call->event_class && call->event_class->place;
}

/*
 * The start of a stack for an event. `caller` is an address in the probe, whose frame is on the
 * stack.
 */
static inline struct trace_stack_start trace_event_stack_start(const struct trace_event_call *call,
							       const void *entry, uintptr_t caller)
{
	const struct tracepoint *tp = call->tp;
	struct tracepoint_funcs *funcs;

	if (trace_event_has_place(call))
		return (struct trace_stack_start){ .ip = call->event_class->place(entry),
						   .span = TRACE_EVENT_PLACE_SPAN };
	/* With several probes, `iterate` stands between the tracepoint and the probe. */
	funcs = tp ? trace_atomic_load_acquire(&tp->funcs) : NULL;
	return (struct trace_stack_start){
		.ip = caller,
		.skip = funcs && funcs->func == tp->iterate ? 2 : 1,
	};
}

/* The program's stack behind an event that was recorded: now, or when the event's class has it. */
static inline void trace_event_user_stack(const struct trace_event_file *file)
{
	const struct trace_event_class *class = file->call->event_class;

	if (class && class->user_stack)
		class->user_stack(file);
	else
		trace_userstack_write(file->tr, file->own_depth);
}

#endif
