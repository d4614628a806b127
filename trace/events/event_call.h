/*
 * The trace events that TRACE_EVENT() made. They are found in a section at start, and registered
 * as types of events; from then on they are found as these are: trace_event_at() and `call`.
 *
 * Context: thread.
 */
#ifndef TRACE_EVENT_CALL_H
#define TRACE_EVENT_CALL_H

#include <trace/trace_events.h>

/* trace_add_event_call() and trace_remove_event_call() with the config lock held. */
int trace_event_call_add(struct trace_event_call *call);
int trace_event_call_remove(struct trace_event_call *call);

/* Register all events of the section. 0, or an error of register_trace_event(). */
int trace_event_calls_init(void);

#endif
