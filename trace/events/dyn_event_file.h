/*
 * Common code of dynamic_events and of files that have events of one kind. See fs_file.h,
 * events/dyn_event.h.
 */
#ifndef TRACE_FS_DYN_EVENTS_H
#define TRACE_FS_DYN_EVENTS_H

#include "fs/fs_file.h"

#define TRACE_DYN_EVENTS_MAX 65536u

struct dyn_event;
struct dyn_event_error;
struct dyn_event_kind;

/* The source of such a file, its `about`. */
struct trace_dyn_events_source {
	const struct dyn_event_kind *kind; /* NULL for any kind */
	/* Run a line, as trace_dyn_event_run(). */
	int (*run)(char *line, struct dyn_event_error *out_error);
	/* NULL for the kind's own */
	void (*show)(const struct dyn_event *event, struct trace_seq *seq);
};

/* The functions of such a file. */
int trace_dyn_events_next(struct trace_handle *handle, struct trace_seq *seq);
int trace_dyn_events_open(struct trace_handle *handle);
int trace_dyn_events_store(struct trace_handle *handle, char *text);

#endif
