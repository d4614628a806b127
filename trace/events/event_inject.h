/*
 * Events that a user makes up, to see what tools, filters and triggers make of them.
 */
#ifndef TRACE_EVENT_INJECT_H
#define TRACE_EVENT_INJECT_H

#include "event_file.h"

struct trace_filter_error;

/*
 * Record an event in the instance of `file`, be it on or off there: NAME=VALUE for each field that
 * is not to be 0 or empty, with blanks between; texts in quotes. Its filter and triggers hold. 0; or
 * with *error filled in -EINVAL, -ENOENT (no such field), -ERANGE; -ENOMEM. Thread, config lock.
 */
int trace_event_inject(struct trace_event_file *file, const char *text,
		       struct trace_filter_error *error);

/*
 * Write the event at `entry`, with the step of TRACE_EVENT_STEP(), into the instance of `file`
 * alone, as above. In event_write.c. Preemption off.
 */
void trace_event_write_injected(const struct trace_event_file *file, void *entry, uint64_t step);

#endif
