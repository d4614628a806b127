/* Invented events, with which a user sees how tools, filters and triggers react. */
#ifndef TRACE_EVENT_INJECT_H
#define TRACE_EVENT_INJECT_H

#include "event_file.h"

/*
 * Write the event at `entry`, with the step of TRACE_EVENT_STEP(), into the instance of `file`
 * alone, whether it is on or off there; the event's filter and triggers apply. In event_write.c.
 * Preemption off.
 */
void trace_event_write_injected(const struct trace_event_file *file, void *entry, uint64_t step);

#endif
