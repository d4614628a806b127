/*
 * The trace events that TRACE_EVENT() made. They are found in a section at start, and registered
 * as types of events; from then on they are found as these are: trace_event_at() and `call`.
 *
 * Context: thread.
 */
#ifndef TRACE_EVENT_CALL_H
#define TRACE_EVENT_CALL_H

#include <trace/trace_events.h>

/* Register all events of the section. 0, or an error of register_trace_event(). */
int trace_event_calls_init(void);

/* trace_add_event_call() with the config lock held. */
int trace_event_call_add(struct trace_event_call *call);
/*
 * trace_remove_event_call() with the config lock held, in three steps: begin finds out whether it is
 * possible, with the same errors, and nobody begins to use the event after that; then it leaves, or
 * with cancel all is as before. Between leave and left lies tracepoint_synchronize_unregister(), one
 * for all that leave together. Neither can fail.
 */
int trace_event_call_begin_removal(struct trace_event_call *call);
void trace_event_call_cancel_removal(struct trace_event_call *call);
void trace_event_call_leave(struct trace_event_call *call);
void trace_event_call_left(struct trace_event_call *call);

#endif
