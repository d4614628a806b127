/*
 * Synthetic events: what was typed to Linux 6.1 (tests/golden, synthetic-*) about synthetic_events
 * and dynamic_events is typed here, with the same errors, places and listings.
 */
#include "unit.h"
#include "tracefs.h"
#include "text/str.h"

static char sample[1 << 16];

/* ---- What Linux says ---- */

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

static void load(const char *name)
{
	char path[100];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "tests/golden/linux-6.1/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	len = fread(sample, 1, sizeof(sample) - 1, file);
	assert_int_equal(fclose(file), 0);
	sample[len] = '\0';
}

static int error_of(const char *answer)
{
	static const struct {
		const char *text;
		int err;
	} errors[] = {
		{ "Invalid argument", -EINVAL },
		{ "File exists", -EEXIST },
		{ "Device or resource busy", -EBUSY },
		{ "No such file or directory", -ENOENT },
	};
	const char *text = strstr(answer, "write error: ");

	if (!text)
		text = strstr(answer, "can't create synthetic_events: ");
	if (!text)
		return 0;
	text = strstr(text, ": ") + 2;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		if (strncmp(text, errors[i].text, strlen(errors[i].text)) == 0)
			return errors[i].err;
	}
	fail_msg("no number for %s", answer);
	return 0;
}

/* The command and the answer that follows it, ended by NUL each. Returns what is behind, or NULL. */
static char *take(char *command, char **out_answer)
{
	static char nothing[1];
	char *answer = strchr(command, '\n') + 1, *next;

	assert_memory_equal(command, "$ ", 2);
	answer[-1] = '\0';
	next = strncmp(answer, "$ ", 2) == 0 ? answer : strstr(answer, "\n$ ");
	if (next && next != answer)
		*next++ = '\0';
	*out_answer = next == answer ? nothing : answer;
	return next;
}

/* What error_log says is in Linux's words, of the same command, cut to what ours keeps. */
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

/* Carry out `$ echo 'TEXT' >> FILE`. Returns TEXT. */
static const char *type(char *command, const char *answer)
{
	char *path = strrchr(command, ' ') + 1, *text = command + strlen("$ echo ");
	bool appends = strstr(command, ">>");
	char quote = *text++;
	int err;

	*strchr(text, quote) = '\0';
	assert_int_equal(echo("", "error_log"), 0);
	err = appends ? echo_append(text, path) : echo(text, path);
	if (err != error_of(answer))
		fail_msg("%s: %d, Linux says %s", text, err, answer);
	return text;
}

/* Lines of `format` without what depends on the layout, which is ours. */
static void without_layout(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		if (strncmp(at, "ID: ", 4) == 0 || strncmp(at, "\toffset:", 8) == 0)
			at += strcspn(at, at[0] == 'I' ? "\n" : ";");
		else if (strncmp(at, "\tsize:", 6) == 0)
			at += strcspn(at, ";");
		else
			*to++ = *at;
	}
	*to = '\0';
}

static void replace_all(char *text, const char *from, const char *to)
{
	char *at = text;

	while ((at = strstr(at, from))) {
		memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
		memcpy(at, to, strlen(to));
		at += strlen(to);
	}
}

/*
 * A text of fixed length is described with its length, and numbers of 8 and 16 bits so that
 * libtraceevent prints their sign.
 */
static void as_ours(char *format)
{
	replace_all(format, "char name[];", "char name[16];");
	replace_all(format, "char fixed[];",
		    strstr(format, "name: three") ? "char fixed[8];" : "char fixed[16];");
	replace_all(format, "\"a=%d, b=%u, c=%d,", "\"a=%hhd, b=%u, c=%hd,");
	replace_all(format, "\"a=%d, b=%u, e=%d, f=%u, g=%ld", "\"a=%hhd, b=%u, e=%d, f=%u, g=%ld");
	replace_all(format, "m=%d", "m=%hhd");
}

/* `cat` of one or more files. */
static void same_files(char *names, const char *answer)
{
	char got[16384] = "", want[16384];

	for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
		strcat(got, cat(name));
	snprintf(want, sizeof(want), "%s%s", answer, *answer ? "\n" : "");
	if (strstr(got, "print fmt")) {
		without_layout(got);
		without_layout(want);
		as_ours(want);
	}
	assert_string_equal(got, want);
}

/* Returns how many commands were of a kind that is checked here. */
static unsigned int replay_one(char *command, char *answer)
{
	static char typed[4096];

	if (strncmp(command, "$ echo ", 7) == 0) {
		snprintf(typed, sizeof(typed), "%s", type(command, answer));
	} else if (strncmp(command, "$ true > ", 9) == 0) {
		assert_int_equal(put("", 0, command + 9, TRACE_FS_TRUNC), error_of(answer));
	} else if (strcmp(command, "$ cat error_log") == 0) {
		/* In one sample a listing of synthetic_events stands behind it. */
		same_log(typed, *answer == '[' ? answer : "");
		if (*answer && *answer != '[')
			same_files((char[]){ "synthetic_events" }, answer);
	} else if (strncmp(command, "$ cat ", 6) == 0) {
		same_files(command + 6, answer);
	} else {
		return 0;
	}
	return 1;
}

static bool is_about_others(const char *command)
{
	return strstr(command, "events/gold/") &&
	       strstr(command, "events/gold/") < strchr(command, '\n');
}

/*
 * In the lines up to `fresh_up_to` what was defined was taken away each time. From where histograms
 * are set, test_synth_samples.c goes on.
 */
static void replay(const char *name, const char *fresh_up_to, unsigned int min)
{
	char *command, *answer, *next;
	unsigned int nr = 0;

	load(name);
	for (command = sample; command && !is_about_others(command); command = next) {
		bool is_log = strncmp(command, "$ cat error_log", 15) == 0;

		next = take(command, &answer);
		nr += replay_one(command, answer);
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

/* What the events look like that histograms will write. */
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
