/*
 * Helpers for tests of monitors: making one, and the number of steps that it has counted. To be
 * included by one test file, after tracefs.h.
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

#endif
