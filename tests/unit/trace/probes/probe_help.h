/* Helpers for tests of probe events. Included once, behind tracefs.h. */
#ifndef PROBE_HELP_H
#define PROBE_HELP_H

#include <stdio.h>
#include <string.h>

/* A line that is refused. */
struct mistake {
	const char *line; /* ^ is in front of what is wrong */
	const char *why;
};

/* Written to `file` it is refused with `err`, 0 for any; error_log has the reason, told by `who`, NULL: by any. */
static inline void check_refused(const struct mistake *mistake, const char *file, const char *who,
				 int err)
{
	const char *caret = strchr(mistake->line, '^');
	char line[200], want[500];
	int got;

	snprintf(line, sizeof(line), "%.*s%s", (int)(caret - mistake->line), mistake->line,
		 caret + 1);
	assert_int_equal(echo("", "error_log"), 0);
	got = echo_append(line, file);
	if (err)
		assert_int_equal(got, err);
	assert_true(got < 0);
	snprintf(want, sizeof(want), "%s: error: %s\n  Command: %s\n           %*s^\n",
		 who ? who : "", mistake->why, line, (int)(caret - mistake->line), "");
	assert_string_equal(who ? strchr(cat("error_log"), ']') + 2
				: strstr(cat("error_log"), ": error: "),
			    want);
}

/* How often is `what` in the text? */
static inline size_t nr_of(const char *text, const char *what)
{
	size_t nr = 0;

	for (; (text = strstr(text, what)); text++)
		nr++;
	return nr;
}

/* All events are off and gone. */
static inline void probe_events_end(void)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat("dynamic_events"), "");
}

#endif
