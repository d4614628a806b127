/*
 * Explanations and completions of probes' lines for shells, for struct dyn_event_kind. See probe.h,
 * <trace/dyn_events.h>.
 *
 * Context: thread, config lock held.
 */
#ifndef PROBE_SHELL_H
#define PROBE_SHELL_H

#include "probe.h"

/*
 * probe_explain.c: the prototype of the probed function, and for each argument its name, its type,
 * its origin, and its declaration in the source.
 */
void trace_probe_explain(const struct dyn_event *dyn, const char *indent, struct trace_seq *seq);

/* probe_complete.c: complete the end of a line of that kind. */
void trace_probe_complete(const struct probe_kind *kind, struct dyn_event_completion *completion);
/* The same, of lines of the kinds in these files. */
void trace_probe_tracepoint_complete(struct dyn_event_completion *completion);
void trace_probe_event_complete(struct dyn_event_completion *completion);
void trace_probe_watch_complete(struct dyn_event_completion *completion);

#endif
