/*
 * What dynamic_events shares with files that have events of one kind. See fs_file.h,
 * events/dyn_event.h.
 */
#ifndef TRACE_FS_DYN_EVENTS_H
#define TRACE_FS_DYN_EVENTS_H

#include "fs/fs_file.h"

#define TRACE_DYN_EVENTS_MAX 65536u

struct dyn_event;
struct dyn_event_error;
struct dyn_event_kind;

/* Such a file; its `about`. */
struct trace_dyn_events_source {
	const struct dyn_event_kind *kind; /* NULL: of any */
	/* As trace_dyn_event_run(). */
	int (*run)(char *line, struct dyn_event_error *out_error);
	void (*show)(const struct dyn_event *event, struct trace_seq *seq); /* NULL: the kind's */
};

/* Its functions. */
int trace_dyn_events_next(struct trace_handle *handle, struct trace_seq *seq);
int trace_dyn_events_open(struct trace_handle *handle);
int trace_dyn_events_store(struct trace_handle *handle, char *text);

#endif
