/*
 * See error_log.h.
 */
#include <trace/platform.h>
#include "error_log.h"
#include "print/seq.h"
#include "print/str.h"

#define COMMAND_PREFIX "  Command: "

struct error {
	uint64_t time_ns;
	size_t pos;
	char where[32];
	char text[200];
	char command[256];
};

static struct {
	struct trace_plat_lock lock;
	struct error entries[TRACE_ERROR_LOG_ENTRIES];
	size_t first;
	size_t nr;
} errors;

void trace_error_log(const char *where, const char *text, const char *command, size_t pos)
{
	struct error *error;
	size_t len;

	trace_plat_lock(&errors.lock);
	error = &errors.entries[(errors.first + errors.nr) % TRACE_ERROR_LOG_ENTRIES];
	if (errors.nr < TRACE_ERROR_LOG_ENTRIES)
		errors.nr++;
	else
		errors.first = (errors.first + 1) % TRACE_ERROR_LOG_ENTRIES;
	error->time_ns = trace_plat_clock_mono_ns();
	error->pos = pos;
	trace_strcpy(error->where, where, sizeof(error->where));
	trace_strcpy(error->text, text, sizeof(error->text));
	trace_strcpy(error->command, command, sizeof(error->command));
	len = trace_strlen(error->command);
	if (len && error->command[len - 1] == '\n')
		error->command[--len] = '\0';
	if (error->pos > len)
		error->pos = len;
	trace_plat_unlock(&errors.lock);
}

void trace_error_log_clear(void)
{
	trace_plat_lock(&errors.lock);
	errors.nr = 0;
	trace_plat_unlock(&errors.lock);
}

static void show_one(const struct error *error, struct trace_seq *seq)
{
	uint64_t seconds = error->time_ns / 1000000000u;
	uint64_t rest_us = error->time_ns % 1000000000u / 1000u;

	trace_seq_printf(seq, "[%5llu.%06llu] %s: error: %s\n", (unsigned long long)seconds,
			 (unsigned long long)rest_us, error->where, error->text);
	trace_seq_printf(seq, COMMAND_PREFIX "%s\n", error->command);
	trace_seq_printf(seq, "%*s^\n", (int)(sizeof(COMMAND_PREFIX) - 1 + error->pos), "");
}

bool trace_error_log_show(size_t index, struct trace_seq *seq)
{
	bool found;

	trace_plat_lock(&errors.lock);
	found = index < errors.nr;
	if (found)
		show_one(&errors.entries[(errors.first + index) % TRACE_ERROR_LOG_ENTRIES], seq);
	trace_plat_unlock(&errors.lock);
	return found;
}
