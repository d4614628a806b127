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
 * Have only those events recorded that pass `text`; all of them when it is `0`. 0; -ENOMEM; or the
 * error of trace_filter_compile(), with *error filled in: then the filter stays as it was, and
 * `filter` shows what is wrong. May wait until no probe uses the old filter.
 */
int trace_event_filter_set(struct trace_event_file *file, const char *text,
			   struct trace_filter_error *error);
/*
 * The same for all events of a system that have the fields, in one instance. Those that do not show
 * it in their `filter`, and *out_nr_refused counts them. 0; -EINVAL: none has; -ENOMEM.
 */
int trace_event_filter_set_system(struct trace_array *tr, const char *system, const char *text,
				  size_t *out_nr_refused);
extern const char trace_event_filter_not_of_all[]; /* why events of a system refuse it */

/* The filter or the triggers have changed: have probes test what now has to be tested first. */
void trace_event_filter_set_test(struct trace_event_file *file);

/*
 * The flag TRACE_EVENT_FILTERS is set: have file->rejects count from now on what does not pass,
 * until the filter changes. Preemption is off; no lock is needed.
 */
void trace_event_filter_count(struct trace_event_file *file, uint64_t now_ns);

/* The text of the file `filter`. `file` may be NULL: nobody has set anything yet. */
void trace_event_filter_show(const struct trace_event_file *file, struct trace_seq *seq);
/* The text of the filter that is in force, or NULL: there is none. */
const char *trace_event_filter_in_force(const struct trace_event_file *file);
/* Free what the file has. No probe uses it any more. No lock needed. */
void trace_event_filter_free(struct trace_event_file *file);

#endif
