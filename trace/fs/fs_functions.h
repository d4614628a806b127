/*
 * Files that list functions, or are a filter: what they have in common. See fs_file.h and
 * <trace/ftrace_files.h>, which does the work. `about` of such a file is its source.
 */
#ifndef TRACE_FS_FUNCTIONS_H
#define TRACE_FS_FUNCTIONS_H

#include <trace/ftrace_files.h>
#include "fs_file.h"

/* What a file lists, and whose. */
struct trace_functions_source {
	enum ftrace_list list;
	struct ftrace_ops *(*ops)(struct trace_array *tr);
	bool is_set;	     /* the ops calls nothing, only its two sets are used */
	bool takes_commands; /* FUNCTION:COMMAND may be written, */
	bool has_commands;   /* and is listed */
	/* Or NULL: the filter was changed. Config lock held. */
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
