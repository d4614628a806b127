/*
 * Function tracing as its tracefs files show it: lists of functions to read, filters to write.
 *
 * Model:     reading a file is an iterator that yields one line at a time; anything may change
 *            between two lines. Writing a file is an edit: a private copy of one filter of one ops,
 *            which is changed by the words written and becomes the ops' filter when it is closed.
 * Context:   thread.
 * Locking:   each call takes ftrace's lock itself. One user per iterator or edit at a time.
 * Ownership: iterators live where the caller puts them. An edit is freed by ftrace_edit_close().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_FTRACE_FILES_H
#define TRACE_FTRACE_FILES_H

#include <trace/ftrace.h>
#include <trace/ftrace_probe.h>

TRACE_BEGIN_DECLS

enum ftrace_list {
	FTRACE_LIST_AVAILABLE, /* available_filter_functions */
	FTRACE_LIST_ADDRS,     /* available_filter_functions_addrs */
	FTRACE_LIST_ENABLED,   /* enabled_functions */
	FTRACE_LIST_TOUCHED,   /* touched_functions */
	FTRACE_LIST_FILTER,    /* set_ftrace_filter */
	FTRACE_LIST_NOTRACE,   /* set_ftrace_notrace */
};

struct ftrace_iter {
	struct trace_symbol_cursor names;
	struct ftrace_ops *ops; /* for the filter lists */
	struct trace_array *tr; /* whose function commands follow the filter; NULL: none do */
	struct ftrace_probe_cursor probes;
	enum ftrace_list list;
	size_t position; /* number of the next record */
	bool is_listed;	 /* all functions have been shown; function commands follow */
	bool ended;
};

/* Bytes of the longest line of any list, with its newline and NUL. Longer ones are cut. */
#define FTRACE_LINE_LEN 512

/* Start at the first line. `ops` is used by the filter lists only. */
void ftrace_iter_start(struct ftrace_iter *iter, enum ftrace_list list, struct ftrace_ops *ops);
/*
 * The next line, newline included, into `line` (FTRACE_LINE_LEN bytes). Its length; 0 at the end.
 */
size_t ftrace_iter_next(struct ftrace_iter *iter, char *line);

struct ftrace_edit;

/*
 * Begin to change the filter of `ops`, or with `notrace` its exceptions: from an empty set with
 * `truncate`, otherwise from a copy of the current one. 0; -ENOMEM; -ENODEV: tracing is dead, or
 * `ops` is DELETED.
 */
int ftrace_edit_open(struct ftrace_ops *ops, bool notrace, bool truncate,
		     struct ftrace_edit **out_edit);
/*
 * The same for an ops that is never registered and only keeps two sets of functions, such as those
 * of set_graph_function. No commands may be written, only names and patterns; and `!name` of a
 * function that is not in the set is an error.
 */
int ftrace_edit_open_set(struct ftrace_ops *set, bool notrace, bool truncate,
			 struct ftrace_edit **out_edit);
/* Let words NAME:COMMAND[:PARAM] be written, too; the commands set probes in the instance `tr`. */
void ftrace_edit_allow_commands(struct ftrace_edit *edit, struct trace_array *tr);
/*
 * One write system call. As on Linux, it takes the blanks in front and the first word of `text`,
 * and returns how many bytes that was; the caller comes back with the rest. A word that ends with
 * the text, without a blank or NUL behind it, continues in the next write or ends at close.
 * Commands take effect at once. -EINVAL: no function matches, unknown command, or the word has more
 * than 639 characters; or the error of the command.
 */
int64_t ftrace_edit_write(struct ftrace_edit *edit, const char *text, size_t len);
/*
 * The last word that was refused, and why, as one line without newline; "" when the last word was
 * taken. Good until the next write or close.
 */
const char *ftrace_edit_why(const struct ftrace_edit *edit);
/* The character of that word, counted from 0, that the reason is about. */
size_t ftrace_edit_why_pos(const struct ftrace_edit *edit);
/*
 * Take an unfinished word (its error is lost, as on Linux), make the set the filter of the ops, and
 * free `edit`. 0, or the error of ftrace_set_filter() when the ops refuses the filter.
 */
int ftrace_edit_close(struct ftrace_edit *edit);

/* Write the text of dyn_ftrace_total_info, one line with newline; returns its length. */
size_t ftrace_total_info(char *line, size_t size);

TRACE_END_DECLS

#endif
