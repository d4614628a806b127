/*
 * What was typed to Linux 6.1 (tests/golden, trigger-*) about the file `trigger`, is typed here:
 * errors and listings are the same. Its error_log is empty, ours has words; histograms are left
 * out.
 */
#include "unit.h"
#include "tracefs.h"
#include "text/str.h"
#include <trace/event.h>
#include "host/yard.h"

/* Names of Linux's guest, and ours for them. */
static const char *const names[][2] = {
	{ "gold_int", "yard_full" },
	{ "gold_types", "yard_watch" },
	{ "gold_enum", "yard_gate_jam" },
	{ "gold_first", "yard_gate_open" },
	{ "gold", "yard" },
	{ "value", "used" },
};

#define AVAILABLE                                                                                  \
	"# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event "              \
	"disable_event enable_hist disable_hist hist\n"

static char sample[1 << 16];

static void translate(char *text, size_t size)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(names); i++) {
		char *at = text;
		size_t from = strlen(names[i][0]), to = strlen(names[i][1]);

		while ((at = strstr(at, names[i][0]))) {
			assert_true(strlen(text) + to < size);
			memmove(at + to, at + from, strlen(at + from) + 1);
			memcpy(at, names[i][1], to);
			at += to;
		}
	}
}

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
	translate(sample, sizeof(sample));
}

static int error_of(const char *answer)
{
	static const struct {
		const char *text;
		int err;
	} errors[] = {
		{ "Invalid argument", -EINVAL },
		{ "File exists", -EEXIST },
		{ "Numerical result out of range", -ERANGE },
		{ "No such file or directory", -ENOENT },
	};

	if (strncmp(answer, "sh: write error: ", 17) != 0)
		return 0;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		if (strncmp(answer + 17, errors[i].text, strlen(errors[i].text)) == 0)
			return errors[i].err;
	}
	fail_msg("no number for %s", answer);
	return 0;
}

static void clear(void)
{
	static const char *const removals[] = { "!traceoff",
						"!snapshot",
						"!stacktrace",
						"!enable_event:yard:yard_watch",
						"!enable_event:yard:yard_gate_jam",
						"!enable_event:yard:yard_full" };

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(removals); i++)
		assert_int_equal(echo_append(removals[i], "events/yard/yard_full/trigger"), 0);
}

/* The lines of an answer that a kernel without histograms has. */
static void without_hist(char *answer)
{
	char *line = answer;

	while (*line) {
		char *end = strchr(line, '\n') + 1;
		char first[16];

		snprintf(first, sizeof(first), "%.12s", line);
		if (strstr(first, "hist"))
			memmove(line, end, strlen(end) + 1);
		else
			line = end;
	}
}

/* Carry out `$ echo 'TEXT' >> FILE`. */
static void type(char *command, const char *answer)
{
	char *text = strchr(command, '\'') + 1, *end = strchr(text, '\'');
	char *redirection = strchr(end, '>'), *path = strrchr(command, ' ') + 1;
	int err;

	*end = '\0';
	err = redirection[1] == '>' ? echo_append(text, path) : echo(text, path);
	if (err != error_of(answer))
		fail_msg("%s: %d, Linux says %s", text, err, answer);
}

/* All of a sample; with `is_fresh` each listing was followed by the removal of what it shows. */
static void replay(const char *name, bool is_fresh)
{
	char *command, *answer, *next;
	static char nothing[1];
	unsigned int nr = 0;

	load(name);
	for (command = sample; command; command = next) {
		assert_memory_equal(command, "$ ", 2);
		answer = strchr(command, '\n') + 1;
		answer[-1] = '\0';
		next = strncmp(answer, "$ ", 2) == 0 ? answer : strstr(answer, "\n$ ");
		if (next) {
			next += *next == '\n';
			if (next == answer)
				answer = nothing;
			else
				next[-1] = '\0';
		}
		if (strstr(command, "hist") || strstr(command, "error_log") ||
		    strstr(command, "events/ftrace") || strstr(command, "yard_gate_open"))
			continue; /* the last is written by printf, twice in one go */
		if (strncmp(command, "$ echo '", 8) == 0) {
			type(command, answer);
			nr++;
		} else if (strncmp(command, "$ cat ", 6) == 0 && !strchr(command + 6, ' ')) {
			char want[4000];

			snprintf(want, sizeof(want), "%s%s", answer, next ? "\n" : "");
			without_hist(want);
			if (!*want)
				strcpy(want, AVAILABLE);
			assert_string_equal(cat(command + 6), want);
			if (is_fresh)
				clear();
			nr++;
		}
	}
	assert_true(nr > 15);
	clear();
}

static void lists(void **state)
{
	(void)state;
	replay("trigger-list", false);
}

static void conditions(void **state)
{
	(void)state;
	replay("trigger-if", false);
}

static void errors(void **state)
{
	(void)state;
	replay("trigger-errors", true);
}

static void twice(void **state)
{
	(void)state;
	replay("trigger-twice", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(conditions),
		cmocka_unit_test(errors),
		cmocka_unit_test(twice),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
