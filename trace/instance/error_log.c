/*
 * See error_log.h.
 */
#include <trace/trace_seq.h>
#include "array.h"
#include "error_log.h"
#include "text/str.h"

#define COMMAND_PREFIX "  Command: "

void trace_error_log(struct trace_array *tr, const char *where, const char *text,
		     const char *command, size_t pos)
{
	struct trace_error_log *log = &tr->errors;
	struct trace_error *error;
	size_t len;

	trace_plat_lock(&log->lock);
	error = &log->entries[(log->first + log->nr) % TRACE_ERROR_LOG_ENTRIES];
	if (log->nr < TRACE_ERROR_LOG_ENTRIES)
		log->nr++;
	else
		log->first = (log->first + 1) % TRACE_ERROR_LOG_ENTRIES;
	trace_plat_preempt_disable();
	error->time_ns = trace_plat_clock_mono_ns();
	trace_plat_preempt_enable();
	error->pos = pos;
	trace_strcpy(error->where, where, sizeof(error->where));
	trace_strcpy(error->text, text, sizeof(error->text));
	trace_strcpy(error->command, command, sizeof(error->command));
	len = trace_strlen(error->command);
	if (len && error->command[len - 1] == '\n')
		error->command[--len] = '\0';
	if (error->pos > len)
		error->pos = len;
	trace_plat_unlock(&log->lock);
}

void trace_error_log_clear(struct trace_array *tr)
{
	trace_plat_lock(&tr->errors.lock);
	tr->errors.nr = 0;
	trace_plat_unlock(&tr->errors.lock);
}

static void error_log_show_one(const struct trace_error *error, struct trace_seq *seq)
{
	uint64_t seconds = error->time_ns / 1000000000u;
	uint64_t rest_us = error->time_ns % 1000000000u / 1000u;

	trace_seq_printf(seq, "[%5llu.%06llu] %s: error: %s\n", (unsigned long long)seconds,
			 (unsigned long long)rest_us, error->where, error->text);
	trace_seq_printf(seq, COMMAND_PREFIX "%s\n", error->command);
	trace_seq_printf(seq, "%*s^\n", (int)(sizeof(COMMAND_PREFIX) - 1 + error->pos), "");
}

bool trace_error_log_show(struct trace_array *tr, size_t index, struct trace_seq *seq)
{
	struct trace_error_log *log = &tr->errors;
	bool found;

	trace_plat_lock(&log->lock);
	found = index < log->nr;
	if (found)
		error_log_show_one(&log->entries[(log->first + index) % TRACE_ERROR_LOG_ENTRIES],
				   seq);
	trace_plat_unlock(&log->lock);
	return found;
}
