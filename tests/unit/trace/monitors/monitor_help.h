/*
 * Helpers for tests of monitors: making one, the numbers that it has counted, and the text of its
 * files. To be included by one test file.
 */
#ifndef MONITOR_HELP_H
#define MONITOR_HELP_H

#include "tracefs.h"

HELPER void monitor_make(const char *text)
{
	int err = echo_append(text, "monitors");

	if (err)
		fail_msg("%s: %d\n%s", text, err, cat("error_log"));
}

/* The number behind `name: ` in hits. */
HELPER unsigned long monitor_hits(const char *monitor, const char *name)
{
	char path[80], what[40];
	const char *at;

	snprintf(path, sizeof(path), "rv/monitors/%s/hits", monitor);
	snprintf(what, sizeof(what), "%s: ", name);
	at = strstr(cat(path), what);
	assert_non_null(at);
	return strtoul(at + strlen(what), NULL, 10);
}

HELPER void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

HELPER void has(const char *path, const char *want)
{
	if (!strstr(cat(path), want))
		fail_msg("%s: no \"%s\" in:\n%s", path, want, cat(path));
}

HELPER void has_not(const char *path, const char *what)
{
	if (strstr(cat(path), what))
		fail_msg("%s: \"%s\" in:\n%s", path, what, cat(path));
}

HELPER void counted(const char *monitor, unsigned long begun, unsigned long steps,
		    unsigned long violations)
{
	if (monitor_hits(monitor, "begun") != begun || monitor_hits(monitor, "steps") != steps ||
	    monitor_hits(monitor, "violations") != violations) {
		char path[80];

		snprintf(path, sizeof(path), "rv/monitors/%s/hits", monitor);
		fail_msg("%s", cat(path));
	}
}

#endif
