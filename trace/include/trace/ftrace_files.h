/*
 * Function tracing as its tracefs files show it: lists of functions to read, filters to write.
 *
 * Model:     a read is an iterator that yields one line at a time; it survives any change between
 *            two lines. A write is an edit: a private copy of one filter of one ops, that words
 *            change and that closing makes current, at once for live ops.
 * Context:   thread.
 * Locking:   each call takes ftrace's lock itself. One user per iterator or edit at a time.
 * Ownership: iterators live where the caller puts them. An edit is freed by ftrace_edit_close().
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
	FTRACE_LIST_FILTER,    /* set_ftrace_filter */
	FTRACE_LIST_NOTRACE,   /* set_ftrace_notrace */
};

struct ftrace_iter {
	struct trace_symbol_cursor names;
	struct ftrace_ops *ops; /* for the filter lists */
	struct trace_array *tr; /* whose function commands follow the filter; NULL: none do */
	struct ftrace_probe_cursor probes;
	enum ftrace_list list;
	size_t position; /* record number */
	bool is_listed;	 /* the functions are through */
	bool ended;
};

/* A line of any list, with its newline and NUL. */
#define FTRACE_LINE_LEN 512

/* Start at the first line. `ops` is used by the filter lists only. */
void ftrace_iter_start(struct ftrace_iter *iter, enum ftrace_list list, struct ftrace_ops *ops);
/*
 * The next line, newline included, into `line` (FTRACE_LINE_LEN bytes). Its length; 0 at the end.
 */
size_t ftrace_iter_next(struct ftrace_iter *iter, char *line);

struct ftrace_edit;

/*
 * Begin to change the filter (or the exceptions, `notrace`) of `ops`, from an empty set with
 * `truncate`, else from a copy of the current one. -ENOMEM, -ENODEV (dead or deleted).
 */
int ftrace_edit_open(struct ftrace_ops *ops, bool notrace, bool truncate,
		     struct ftrace_edit **out_edit);
/*
 * The same for the two sets of an ops that is never registered: it takes names and patterns only,
 * and `!name` of a function that is not in the set is an error.
 */
int ftrace_edit_open_set(struct ftrace_ops *set, bool notrace, bool truncate,
			 struct ftrace_edit **out_edit);
/* Take NAME:COMMAND[:PARAM] too, for probes of `tr`. */
void ftrace_edit_allow_commands(struct ftrace_edit *edit, struct trace_array *tr);
/*
 * One write system call. As Linux does, it takes the blanks and the first word of `text` and
 * returns how many bytes that was: the caller comes back with the rest. A word that ends with the
 * text, without a blank or NUL behind it, continues in the next write or ends at close.
 * -EINVAL: no function matches, unknown command, word too long; or what a command says. Commands
 * take effect at once.
 */
int64_t ftrace_edit_write(struct ftrace_edit *edit, const char *text, size_t len);
/* The word that was refused last and why, one line without newline; "" when none was. */
const char *ftrace_edit_why(const struct ftrace_edit *edit);
/* Which letter of the word it is about. */
size_t ftrace_edit_why_pos(const struct ftrace_edit *edit);
/*
 * Take in an unfinished word (its error is lost, as in Linux), make the set current, free `edit`.
 */
int ftrace_edit_close(struct ftrace_edit *edit);

/* dyn_ftrace_total_info, with newline; the length. */
size_t ftrace_total_info(char *line, size_t size);

TRACE_END_DECLS

#endif
