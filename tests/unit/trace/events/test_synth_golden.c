/*
 * Synthetic events: what was typed to Linux 6.1 (tests/golden, synthetic-*) about synthetic_events
 * and dynamic_events is typed here, with the same errors, places and listings.
 */
#include "unit.h"
#include "golden.h"
#include "text/str.h"

/* ---- Linux's words ---- */

/*
 * Linux marks the first place where the word stands in the line, which is not always the one that is
 * wrong.
 */
static const struct {
	const char *command;
	size_t pos;
} places[] = {
	{ "short short a", 6 },
};

/* error_log is in Linux's words, of the same command, cut to what ours keeps. */
static void same_log(const char *command, const char *answer)
{
	const char *log = cat("error_log"), *why = strchr(answer, ']');
	const char *caret = strrchr(answer, '^');
	size_t pos = 0, want_pos;

	if (*answer != '[') {
		assert_string_equal(log, "");
		return;
	}
	while (caret[-(long)pos - 1] == ' ')
		pos++;
	want_pos = pos - strlen("  Command: ");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(places); i++) {
		if (strcmp(places[i].command, command) == 0)
			want_pos = places[i].pos;
	}
	assert_memory_equal(strchr(log, ']'), why, strcspn(why, "\n") + 1);
	log = strchr(log, '\n') + 1;
	assert_memory_equal(log, "  Command: ", 11);
	assert_memory_equal(log + 11, command, strcspn(log + 11, "\n"));
	log = strchr(log, '\n') + 1;
	if (strspn(log, " ") - 11 != want_pos)
		fail_msg("%s: caret at %zu, not at %zu", command, strspn(log, " ") - 11, want_pos);
}

/*
 * A text of fixed length is described with its length, and numbers of 8 and 16 bits so that
 * libtraceevent prints their sign.
 */
static void as_ours(char *format, size_t size)
{
	golden_replace(format, size, "char name[];", "char name[16];");
	golden_replace(format, size, "char fixed[];",
		       strstr(format, "name: three") ? "char fixed[8];" : "char fixed[16];");
	golden_replace(format, size, "\"a=%d, b=%u, c=%d,", "\"a=%hhd, b=%u, c=%hd,");
	golden_replace(format, size, "\"a=%d, b=%u, e=%d, f=%u, g=%ld",
		       "\"a=%hhd, b=%u, e=%d, f=%u, g=%ld");
	golden_replace(format, size, "m=%d", "m=%hhd");
}

/* `cat` of one or more files. */
static void same_files(const char *names, const char *answer)
{
	char got[16384], want[16384];

	snprintf(got, sizeof(got), "%s", golden_cat(names));
	snprintf(want, sizeof(want), "%s", answer);
	if (strstr(got, "print fmt")) {
		golden_without_layout(got);
		golden_without_layout(want);
		as_ours(want, sizeof(want));
	}
	assert_string_equal(got, want);
}

/* Returns how many commands were of a kind that is checked here. `typed` is what was written last. */
static unsigned int replay_one(const struct golden *golden, struct golden_write *typed)
{
	const char *command = golden->command, *answer = golden->answer;

	struct golden_write write;

	if (golden_take(command, &write)) {
		*typed = write;
		golden_type(golden, typed);
	} else if (strcmp(command, "cat error_log") == 0) {
		/* In one sample a listing of synthetic_events stands behind it. */
		same_log(typed->text, *answer == '[' ? answer : "");
		if (*answer && *answer != '[')
			same_files("synthetic_events", answer);
	} else if (strncmp(command, "cat ", 4) == 0) {
		same_files(command + 4, answer);
	} else {
		return 0;
	}
	return 1;
}

/*
 * In the lines up to `fresh_up_to` what was defined was taken away each time. From where histograms
 * are set, test_hist_actions_golden.c goes on.
 */
static void replay(const char *name, const char *fresh_up_to, unsigned int min)
{
	static struct golden golden;
	static struct golden_write typed;
	unsigned int nr = 0;

	golden_load(&golden, name, NULL);
	while (golden_next(&golden) && !strstr(golden.command, "events/gold/")) {
		bool is_log = strcmp(golden.command, "cat error_log") == 0;
		const char *next = golden.next;

		nr += replay_one(&golden, &typed);
		if (fresh_up_to && next && strncmp(next, fresh_up_to, strlen(fresh_up_to)) == 0)
			fresh_up_to = NULL;
		if (is_log && fresh_up_to)
			assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
	}
	assert_true(nr >= min);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

static void definitions(void **state)
{
	(void)state;
	replay("synthetic-events", NULL, 55);
}

static void errors(void **state)
{
	(void)state;
	replay("synthetic-errors", "$ echo 'many", 100);
}

static void busy(void **state)
{
	(void)state;
	replay("synthetic-busy", NULL, 15);
}

/* The forms of the events that histograms will write. */
static void formats(void **state)
{
	(void)state;
	replay("synthetic-trace", NULL, 2);
	replay("synthetic-types", NULL, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions),
		cmocka_unit_test(errors),
		cmocka_unit_test(busy),
		cmocka_unit_test(formats),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
