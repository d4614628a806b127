/*
 * The filter of a trace event in an instance: the files `filter`. See filter.h, event_file.h.
 *
 * Context: thread. Locking: the config lock.
 */
#ifndef TRACE_EVENT_FILTER_H
#define TRACE_EVENT_FILTER_H

#include "event_file.h"
#include "filter.h"

struct trace_seq;

/*
 * Set the filter, so that only events that pass `text` are recorded; `0` removes it. Returns 0;
 * -ENOMEM; or the error of trace_filter_compile(), with *error filled in: then the old filter
 * stays, and `filter` shows the mistake. May wait until no probe uses the old filter.
 */
int trace_event_filter_set(struct trace_event_file *file, const char *text,
			   struct expr_error *error);
/*
 * Set the filter of all events of a system that have its fields, in one instance. Events without
 * them say so in their `filter`, and *out_nr_refused counts them. Returns 0; -EINVAL when no event
 * has the fields; -ENOMEM.
 */
int trace_event_filter_set_system(struct trace_array *tr, const char *system, const char *text,
				  size_t *out_nr_refused);
/* error of single events that lack the fields of a system's filter */
extern const char trace_event_filter_not_of_all[];

/* Choose the test that probes make first, after a change of filter or triggers. */
void trace_event_filter_set_test(struct trace_event_file *file);

/*
 * Let file->rejects count rejected events from now on, until the filter changes. The flag
 * TRACE_EVENT_FILTERS is set. Preemption is off; no lock is needed.
 */
void trace_event_filter_count(struct trace_event_file *file, uint64_t now_ns);

/* Print the file `filter`. `file` is NULL for an event without any use yet. */
void trace_event_filter_show(const struct trace_event_file *file, struct trace_seq *seq);
/* The text of the filter in force, or NULL when there is none. */
const char *trace_event_filter_in_force(const struct trace_event_file *file);
/* Free the filter and its texts. No probe uses them any more. No lock needed. */
void trace_event_filter_free(struct trace_event_file *file);

#endif
