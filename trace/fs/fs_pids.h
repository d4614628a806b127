/*
 * Files that hold a set of threads: instance/pid_filter.h. See fs_file.h.
 */
#ifndef TRACE_FS_PIDS_H
#define TRACE_FS_PIDS_H

#include "fs_file.h"
#include "instance/pid_filter.h"

#define TRACE_PIDS_MAX 65536u /* bytes of a list in one write */

/* The set behind a file: `about` of the file. */
struct trace_pids_about {
	const struct trace_pid_user *user;
	bool is_except;
	const char *if_empty; /* the text of an empty set; NULL: none */
};

int trace_pids_open(struct trace_handle *handle);
int trace_pids_next(struct trace_handle *handle, struct trace_seq *seq);
int trace_pids_store(struct trace_handle *handle, char *text);
/*
 * For `store`: add the numbers of `text` to `set`, or take those with a `!` in front out of it. 0; -EINVAL
 * after a call of blame, or -ENOMEM: `set` has some of them.
 */
int trace_pids_parse(struct trace_handle *handle, struct trace_pids *set, char *text);

#define TRACE_PIDS_FILE(file_name, about_)                                                         \
	{                                                                                          \
		.name = (file_name), .mode = TRACE_MODE_WRITE, .about = (about_),                  \
		.open = trace_pids_open, .next = trace_pids_next, .store = trace_pids_store,       \
		.store_max = TRACE_PIDS_MAX                                                        \
	}

#endif
