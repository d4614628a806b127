/*
 * Files that features add to the directory of each trace event. See fs/fs_file.h.
 *
 * Context: init() of a feature.
 */
#ifndef TRACE_EVENT_DIR_H
#define TRACE_EVENT_DIR_H

struct trace_file;

/*
 * An entry of the list. node->arg of the files is the struct trace_event. Each array ends with NULL, and may
 * be missing.
 */
struct trace_event_dir_files {
	const struct trace_file *const *event_files;
	/* Of types of events that are no trace events, in events/ftrace. */
	const struct trace_file *const *type_files;
	struct trace_event_dir_files *next;
};
void trace_event_dir_register(struct trace_event_dir_files *files);

#endif
