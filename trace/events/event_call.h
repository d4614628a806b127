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

#endif
