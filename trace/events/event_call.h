/*
 * Trace events made by TRACE_EVENT(). At start they are found in a section and registered as types
 * of events; trace_event_at() and `call` find them from then on.
 *
 * Context: thread.
 */
#ifndef TRACE_EVENT_CALL_H
#define TRACE_EVENT_CALL_H

#include <trace/trace_events.h>

/* Register all events of the section. Returns 0, or an error of register_trace_event(). */
int trace_event_calls_init(void);

/* Add an event: trace_add_event_call() with the config lock held. */
int trace_event_call_add(struct trace_event_call *call);
/*
 * An entry of the list of questions that are asked before a trace event is removed. goes() returns false
 * when that is not possible now; true: it keeps new users away from now on. Config lock held.
 */
struct trace_event_guard {
	bool (*goes)(struct trace_event_call *call);
	struct trace_event_guard *next;
};
/* Add a feature's question; for its init(). */
void trace_event_guard_register(struct trace_event_guard *guard);

/*
 * Remove an event, as trace_remove_event_call() does, with the config lock held, in three steps.
 * begin checks, with the same errors, and keeps new users away; then leave takes the event out, or
 * cancel undoes begin. Between leave and left lies tracepoint_synchronize_unregister(), one for all
 * events that leave together. leave and left cannot fail.
 */
int trace_event_call_begin_removal(struct trace_event_call *call);
void trace_event_call_cancel_removal(struct trace_event_call *call);
void trace_event_call_leave(struct trace_event_call *call);
void trace_event_call_left(struct trace_event_call *call);

#endif
