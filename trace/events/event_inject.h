/* Invented events, with which a user sees how tools, filters and triggers react. */
#ifndef TRACE_EVENT_INJECT_H
#define TRACE_EVENT_INJECT_H

#include "event_file.h"

struct expr_error;

/*
 * Record an event in the instance of `file`, whether it is on or off there. `text` has NAME=VALUE
 * for each field that is not 0 or empty, with blanks between; texts in quotes. The event's filter
 * and triggers apply. Returns 0; or with *error filled in -EINVAL, -ENOENT (no such field),
 * -ERANGE; -ENOMEM. Thread, config lock.
 */
int trace_event_inject(struct trace_event_file *file, const char *text, struct expr_error *error);

/*
 * Write the event at `entry`, with the step of TRACE_EVENT_STEP(), into the instance of `file`
 * alone, on the conditions of trace_event_inject(). In event_write.c. Preemption off.
 */
void trace_event_write_injected(const struct trace_event_file *file, void *entry, uint64_t step);

#endif
