/*
 * Common code of files that list functions, or are a filter of functions. The work is done by
 * <trace/ftrace_files.h>. `about` of such a file points to a struct trace_functions_source.
 */
#ifndef TRACE_FS_FUNCTIONS_H
#define TRACE_FS_FUNCTIONS_H

#include <trace/ftrace_files.h>
#include "fs_file.h"

/* The list or the filter behind a file. */
struct trace_functions_source {
	enum ftrace_list list;
	struct ftrace_ops *(*ops)(struct trace_array *tr); /* whose filter it is */
	bool is_set;	     /* the ops is never registered: ftrace_edit_open_set() */
	bool takes_commands; /* FUNCTION:COMMAND may be written */
	bool has_commands;   /* FUNCTION:COMMAND is listed */
	/* Called after the filter was changed, unless NULL. Config lock held. 0 or -errno. */
	int (*changed)(struct trace_array *tr);
};

int trace_functions_open(struct trace_handle *handle);
int trace_functions_next(struct trace_handle *handle, struct trace_seq *seq);
void trace_functions_rewind(struct trace_handle *handle);
int trace_functions_close(struct trace_handle *handle);
int trace_functions_filter_open(struct trace_handle *handle);
int64_t trace_functions_filter_write(struct trace_handle *handle, const char *buf, size_t len);
int trace_functions_filter_close(struct trace_handle *handle);

#define TRACE_FUNCTIONS_LIST(source)                                                               \
	.about = &(source), .open = trace_functions_open, .next = trace_functions_next,            \
	.rewind = trace_functions_rewind, .close = trace_functions_close
#define TRACE_FUNCTIONS_FILTER(source)                                                             \
	.about = &(source), .open = trace_functions_filter_open, .next = trace_functions_next,     \
	.rewind = trace_functions_rewind, .write = trace_functions_filter_write,                   \
	.close = trace_functions_filter_close

#endif
