/*
 * The triggers hist, enable_hist and disable_hist. See trigger.h, hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_TRIGGER_H
#define HIST_TRIGGER_H

#include <stddef.h>
#include "events/trigger.h"

struct hist;
struct trace_event_file;
struct trace_seq;

extern const struct trace_trigger_command trace_hist_triggers[];

/* The trigger of the event's histogram number `index`; NULL behind the last. */
struct trace_trigger *trace_hist_trigger_at(const struct trace_event_file *file, size_t index);
/* Remove the trigger of this histogram, if it is still set. */
void trace_hist_remove(struct hist *hist);
struct hist *trace_hist_of(const struct trace_trigger *trigger);
/* Print the trigger's line in the file `trigger`. */
void trace_hist_trigger_print(const struct trace_trigger *trigger, struct trace_seq *seq);

#endif
