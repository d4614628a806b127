/*
 * Histograms of the events in host/harbour.h: set, shown, taken away. To be included by one test file,
 * after tracefs.h.
 */
#ifndef HIST_HELP_H
#define HIST_HELP_H

#include "tracefs.h"
#include "host/harbour.h"

#define ARRIVE "events/harbour/ship_arrive/"
#define LEAVE  "events/harbour/ship_leave/"
#define CARGO  "events/harbour/cargo/"
#define WIDTHS "events/harbour/widths/"

HELPER void same(const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		print_message("wanted:\n%s\ngot:\n%s\n", want, got);
	assert_string_equal(got, want);
}

HELPER void clear(const char *dir)
{
	char path[64];

	snprintf(path, sizeof(path), "%strigger", dir);
	assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
}

/* Those that read variables of others go first. */
HELPER int hist_all_gone(void **state)
{
	static const char *const dirs[] = { LEAVE, ARRIVE, CARGO, WIDTHS };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		clear(dirs[i]);
	fake_stack_nr = 0;
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

HELPER int set(const char *dir, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%strigger", dir);
	return echo_append(text, path);
}

HELPER void add(const char *dir, const char *text)
{
	if (set(dir, text))
		fail_msg("%s: %s", text, cat("error_log"));
}

HELPER const char *show_file(const char *dir, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "%s%s", dir, file);
	return cat(path);
}

HELPER const char *show(const char *dir)
{
	return show_file(dir, "hist");
}

HELPER const char *trigger(const char *dir)
{
	return show_file(dir, "trigger");
}

/* The lines of a file about the first histogram, between the head and the totals. */
HELPER const char *entries_in(const char *dir, const char *file)
{
	const char *text = strstr(show_file(dir, file), "#\n\n");
	char *end;

	assert_non_null(text);
	text += 3;
	end = strstr(text, "\nTotals:\n");
	assert_non_null(end);
	*end = '\0';
	return text;
}

HELPER const char *entries(const char *dir)
{
	return entries_in(dir, "hist");
}

#endif
