/*
 * error_log: the last mistakes in texts written to the files of an instance, with the place marked
 * by a caret.
 *
 * 	[   12.345678] set_ftrace_filter: error: no function matches
 * 	  Command: shedule
 * 	           ^
 *
 * Context: thread.
 * Locking: each function takes the log's own lock.
 */
#ifndef TRACE_ERROR_LOG_H
#define TRACE_ERROR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <trace/platform.h>

#define TRACE_ERROR_LOG_ENTRIES 8u

struct trace_array;
struct trace_seq;

struct trace_error {
	uint64_t time_ns;  /* trace_plat_clock_mono_ns() */
	size_t pos;	   /* position of the caret in `command` */
	char where[80];	   /* the file, or another name of the text's target */
	char text[200];	   /* the mistake */
	char command[256]; /* the written command */
};

/* The last errors, in a ring. Zeroed is empty. */
struct trace_error_log {
	struct trace_plat_lock lock; /* guards all */
	struct trace_error entries[TRACE_ERROR_LOG_ENTRIES];
	size_t first;
	size_t nr;
};

/* Add an error; `pos` is the index of the mistake in `command`. Texts are copied, long ones cut. */
void trace_error_log(struct trace_array *tr, const char *where, const char *text,
		     const char *command, size_t pos);
void trace_error_log_clear(struct trace_array *tr);
/* Print entry `index`, oldest first; false behind the last. */
bool trace_error_log_show(struct trace_array *tr, size_t index, struct trace_seq *seq);

#endif
