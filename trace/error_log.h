/*
 * error_log: the last mistakes in what users wrote, with the place marked by a caret.
 *
 *	[   12.345678] set_ftrace_filter: error: no function matches
 *	  Command: shedule
 *	           ^
 *
 * Context: thread. Locks itself.
 */
#ifndef TRACE_ERROR_LOG_H
#define TRACE_ERROR_LOG_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_ERROR_LOG_ENTRIES 8u

struct trace_seq;

/* `pos` is where in `command` the mistake is. All texts are copied, and cut if need be. */
void trace_error_log(const char *where, const char *text, const char *command, size_t pos);
void trace_error_log_clear(void);
/* Print entry `index`, oldest first; false behind the last. */
bool trace_error_log_show(size_t index, struct trace_seq *seq);

#endif
