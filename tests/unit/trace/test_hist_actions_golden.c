/*
 * What was typed to Linux 6.1 (tests/golden, hist-*) about actions of histograms is typed here, and
 * the same events happen: listings, entries, events and snapshots are the same. Where Linux has
 * several lines about one mistake, ours is one of them; where it has no reason, or does not know
 * the place, ours may say more.
 */
#include "unit.h"
#include "tracefs.h"
#include "text/str.h"
#include "host/harbour.h"

#define BEGIN_TRIGGER "events/harbour/ship_arrive/trigger"
#define END_TRIGGER   "events/harbour/ship_leave/trigger"
#define END_HIST      "events/harbour/ship_leave/hist"
#define ANSWER_MAX    8192

/* Names of Linux's guest, and ours for them. */
static const char *const names[][2] = {
	{ "gold_begin", "ship_arrive" },
	{ "gold_end", "ship_leave" },
	{ "gold_int", "cargo" },
	{ "gold", "harbour" },
};

static char sample[1 << 16];

/* Is `command` one that a test does not follow? */
typedef bool (*differs_fn)(const char *command);
/* What happens behind a command. */
typedef void (*happen_fn)(const char *command);

/* ---- The sample ---- */

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
}

/* The next command of the sample and what it answered, in our names. False behind the last. */
static bool next_command(const char **rest, char *command, char *answer)
{
	const char *end = strchr(*rest, '\n'), *next;

	if (!**rest)
		return false;
	assert_memory_equal(*rest, "$ ", 2);
	snprintf(command, ANSWER_MAX, "%.*s", (int)(end - *rest) - 2, *rest + 2);
	translate(command, ANSWER_MAX);
	end++;
	next = strncmp(end, "$ ", 2) == 0 ? end : strstr(end, "\n$ ");
	next = !next ? end + strlen(end) : next + (*next == '\n');
	snprintf(answer, ANSWER_MAX, "%.*s", (int)(next - end), end);
	*rest = next;
	return true;
}

/* ---- Errors ---- */

static int error_of(const char *answer)
{
	static const struct {
		const char *text;
		int err;
	} errors[] = {
		{ "Invalid argument", -EINVAL },
		{ "File exists", -EEXIST },
		{ "Device or resource busy", -EBUSY },
	};

	if (!strstr(answer, "sh: "))
		return 0;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		if (strstr(answer, errors[i].text))
			return errors[i].err;
	}
	fail_msg("no number for %s", answer);
	return 0;
}

/* An entry of error_log. */
struct mistake {
	char why[200];
	size_t at;     /* of the caret, in our names; 0: at the begin, so Linux does not know */
	char word[40]; /* that begins there */
};

/* The next one of a log, or NULL. */
static const char *next_mistake(const char *log, struct mistake *out)
{
	const char *why = strstr(log, ": error: "), *text, *caret;
	char before[500];
	int len;

	if (!why)
		return NULL;
	why += strlen(": error: ");
	text = strchr(why, '\n') + 1 + strlen("  Command: ");
	caret = strchr(text, '\n') + 1;
	len = (int)(strcspn(caret, "^") - strlen("  Command: "));
	snprintf(out->why, sizeof(out->why), "%.*s", (int)strcspn(why, "\n"), why);
	snprintf(before, sizeof(before), "%.*s", len, text);
	translate(before, sizeof(before));
	snprintf(out->word, sizeof(out->word), "%.*s", (int)strcspn(text + len, " .,:=()+-*/\n"),
		 text + len);
	translate(out->word, sizeof(out->word));
	out->at = strlen(before) > strlen("hist:") ? strlen(before) : 0;
	return caret;
}

/* Linux points to where the word stands for the first time. */
static bool is_same_mistake(const struct mistake *ours, const struct mistake *other)
{
	return strcmp(ours->why, other->why) == 0 &&
	       (!other->at || ours->at == other->at || strcmp(ours->word, other->word) == 0);
}

/* Is what error_log has one of the errors that Linux had? */
static void check_errors(const char *typed, const char *answer)
{
	struct mistake ours, other;
	const char *at = answer;
	bool is_known = !strstr(answer, ": error: ");

	if (!is_known && !next_mistake(cat("error_log"), &ours))
		fail_msg("%s\nno error of ours, Linux:\n%s", typed, answer);
	while (!is_known && (at = next_mistake(at, &other)))
		is_known = is_same_mistake(&ours, &other);
	if (!is_known)
		fail_msg("%s\nours:\n%s\nLinux:\n%s", typed, cat("error_log"), answer);
}

/* ---- Commands ---- */

/* `true > FILE` */
static void truncate_file(const char *command, const char *answer)
{
	const char *path = strrchr(command, ' ') + 1;
	int err = put("", 0, path, TRACE_FS_TRUNC);

	if (err != error_of(answer))
		fail_msg("%s: %d, Linux says %s", command, err, answer);
}

/* `echo 'TEXT' >> FILE`, and what Linux had answered. */
static void type(char *command, const char *answer)
{
	char *text = strchr(command, '\'') + 1, *end = strrchr(text, '\'');
	char *redirection = strchr(end, '>'), *path = strrchr(command, ' ') + 1;
	int err;

	*end = '\0';
	assert_int_equal(echo("", "error_log"), 0);
	err = redirection[1] == '>' ? echo_append(text, path) : echo(text, path);
	if (err != error_of(answer))
		fail_msg("%s: %d, Linux says %s\nours: %s", text, err, answer, cat("error_log"));
}

static int compare_blocks(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Entries with equal counts come in any order on Linux: put all of them in that of their texts. */
static void sort_entries(char *text)
{
	char *begin = strstr(text, "#\n\n{"), *blocks[20], copy[ANSWER_MAX], *end, *at;
	size_t nr = 0;

	if (!begin)
		return;
	begin += 3;
	end = strstr(begin, "\n\n");
	assert_non_null(end);
	end++;
	snprintf(copy, sizeof(copy), "%.*s", (int)(end - begin), begin);
	for (at = copy; at; at = strstr(at, "\n{")) {
		if (at != copy)
			*at++ = '\0';
		blocks[nr++] = at;
	}
	copy[end - begin - 1] = '\0';
	qsort(blocks, nr, sizeof(blocks[0]), compare_blocks);
	for (size_t i = 0; i < nr; i++) {
		memcpy(begin, blocks[i], strlen(blocks[i]));
		begin += strlen(blocks[i]);
		*begin++ = '\n';
	}
}

static void check_file(const char *path, const char *answer)
{
	char ours[ANSWER_MAX], linux_has[ANSWER_MAX];

	snprintf(ours, sizeof(ours), "%s", cat(path));
	snprintf(linux_has, sizeof(linux_has), "%s", answer);
	sort_entries(ours);
	sort_entries(linux_has);
	assert_string_equal(ours, linux_has);
}

/* The events of `trace`, without what stands in front of their names. */
static const char *events_of(const char *text, const char *name)
{
	static char events[ANSWER_MAX];
	const char *at = text, *end;
	size_t len = 0;

	events[0] = '\0';
	while ((at = strstr(at, name))) {
		end = strchr(at, '\n') + 1;
		len += (size_t)snprintf(events + len, sizeof(events) - len, "%.*s", (int)(end - at),
					at);
		at = end;
	}
	return events;
}

/* `cat error_log`, behind which some samples show what `trigger` has. */
static void check_log(const char *typed, const char *answer)
{
	const char *listing = strncmp(answer, "hist:", 5) == 0 ? answer : NULL;
	char want[ANSWER_MAX];

	check_errors(typed, answer);
	if (!listing)
		return;
	snprintf(want, sizeof(want), "%s", listing);
	translate(want, sizeof(want));
	assert_string_equal(cat(END_TRIGGER), want);
}

/* grep -v "^#" trace | sed "s/.*NAME:/NAME:/" */
static void check_events(const char *command, const char *answer)
{
	const char *name = strstr(command, ".*") + 2;
	char text[40];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(name, ":") + 1, name);
	assert_string_equal(events_of(cat("trace"), text), answer);
}

/* Anything but echo. */
static void look(const char *typed, const char *command, const char *answer)
{
	const char *path = strrchr(command, ' ') + 1;
	char ours[ANSWER_MAX], want[ANSWER_MAX];

	snprintf(want, sizeof(want), "%s", answer);
	translate(want, sizeof(want));
	if (strncmp(command, "grep ", 5) == 0) {
		check_events(command, want);
	} else if (strchr(command + 4, ' ')) { /* two files */
		char first[100];

		snprintf(first, sizeof(first), "%.*s", (int)strcspn(command + 4, " "), command + 4);
		snprintf(ours, sizeof(ours), "%s", cat(first));
		snprintf(ours + strlen(ours), sizeof(ours) - strlen(ours), "%s", cat(path));
		assert_string_equal(ours, want);
	} else if (strcmp(path, "error_log") == 0) {
		check_log(typed, answer);
	} else if (strcmp(path, "trace") == 0 || strcmp(path, "snapshot") == 0) {
		snprintf(ours, sizeof(ours), "%s", events_of(cat(path), "ship_leave: "));
		assert_string_equal(ours, events_of(want, "ship_leave: "));
	} else {
		check_file(path, want);
	}
}

static void clear(const char *path)
{
	assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
}

/* Does a line set a histogram on the second event? The last one goes before. */
static bool begins_anew(const char *command)
{
	return strncmp(command, "echo 'hist:", 11) == 0 && strstr(command, END_TRIGGER);
}

/* All of a sample. `happen` and `differs` may be NULL. */
static void replay(const char *name, happen_fn happen, differs_fn differs)
{
	static char command[ANSWER_MAX], answer[ANSWER_MAX], typed[ANSWER_MAX];
	const char *rest = sample;
	bool is_left_out = false;
	unsigned int nr = 0;

	load(name);
	while (next_command(&rest, command, answer)) {
		bool is_echo = strncmp(command, "echo ", 5) == 0;

		if (is_echo)
			is_left_out = differs && differs(command);
		if (is_left_out)
			continue;
		if (begins_anew(command))
			clear(END_TRIGGER);
		snprintf(typed, is_echo ? sizeof(typed) : 0, "%s", command);
		if (is_echo)
			type(command, answer);
		else if (strncmp(command, "true > ", 7) == 0)
			truncate_file(command, answer);
		else
			look(typed, command, answer);
		if (happen)
			happen(command);
		nr++;
	}
	assert_true(nr >= 3);
	clear(END_TRIGGER);
	clear(BEGIN_TRIGGER);
}

/* ---- The samples ---- */

/* When `trigger` was looked at, events happen; the trace is emptied before. */
static bool is_now(const char *command)
{
	if (strcmp(command, "cat " END_TRIGGER) != 0)
		return false;
	assert_int_equal(echo("", "trace"), 0);
	return true;
}

static void for_onmax(const char *command)
{
	if (!is_now(command))
		return;
	trace_ship_arrive(1, 1000, "one");
	trace_ship_arrive(2, 1100, "two");
	trace_ship_leave(1, 1500, "first");
	trace_ship_leave(1, 1900, "second");
	trace_ship_leave(1, 1600, "third");
	trace_ship_leave(2, 1250, "two");
}

static void onmax(void **state)
{
	(void)state;
	replay("hist-onmax", for_onmax, NULL);
}

/* When `hist` was looked at for the first time. */
static void for_onmax_snapshot(const char *command)
{
	static unsigned int nr;

	if (strcmp(command, "cat " END_HIST) != 0 || nr++)
		return;
	assert_int_equal(echo("", "trace"), 0);
	trace_ship_leave(1, 5, "first");
	trace_ship_leave(1, 3, "second");
	trace_ship_leave(1, 9, "third");
	trace_ship_leave(2, 7, "fourth");
}

static void onmax_snapshot(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "events/harbour/enable"), 0);
	replay("hist-onmax-snapshot", for_onmax_snapshot, NULL);
	assert_int_equal(echo("0", "events/harbour/enable"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
}

static void for_onchange(const char *command)
{
	if (!is_now(command))
		return;
	trace_ship_leave(1, 5, "first");
	trace_ship_leave(1, 5, "second");
	trace_ship_leave(1, 4, "third");
	trace_ship_leave(1, 4, "fourth");
	trace_ship_leave(2, 9, "fifth");
}

static void onchange(void **state)
{
	(void)state;
	replay("hist-onchange", for_onchange, NULL);
}

/* ---- Synthetic events ---- */

static void define(const char *text, const char *name)
{
	char path[100];

	assert_int_equal(echo(text, "synthetic_events"), 0);
	snprintf(path, sizeof(path), "events/synthetic/%s/enable", name);
	assert_int_equal(echo("1", path), 0);
}

static void undefine(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "events/synthetic/%s/enable", name);
	assert_int_equal(echo("0", path), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

static void for_onmatch(const char *command)
{
	if (!is_now(command))
		return;
	trace_ship_arrive(1, 1000, "one");
	trace_ship_arrive(2, 1100, "two");
	trace_ship_leave(1, 1500, "one");
	trace_ship_leave(2, 1250, "two");
}

/* Linux finds the variable twice; here two actions may be about one event. */
static bool is_twice(const char *command)
{
	const char *first = strstr(command, ":onmatch(");

	return first && strstr(first + 1, ":onmatch(");
}

static void onmatch(void **state)
{
	(void)state;
	define("harbour_latency int id; u64 lat", "harbour_latency");
	replay("hist-onmatch", for_onmatch, is_twice);
	undefine("harbour_latency");
}

static void for_onmax_trace(const char *command)
{
	if (!is_now(command))
		return;
	trace_ship_arrive(1, 1000, "one");
	trace_ship_leave(1, 1500, "first");
	trace_ship_leave(1, 1900, "second");
	trace_ship_leave(1, 1600, "third");
}

static void onmax_trace(void **state)
{
	(void)state;
	define("harbour_max int id; u64 lat", "harbour_max");
	replay("hist-onmax-trace", for_onmax_trace, NULL);
	undefine("harbour_max");
}

static void for_onchange_trace(const char *command)
{
	if (strncmp(command, "echo ", 5) != 0)
		return;
	assert_int_equal(echo("", "trace"), 0);
	trace_ship_leave(1, 5, "first");
	trace_ship_leave(1, 5, "second");
	trace_ship_leave(1, 4, "third");
	trace_ship_leave(2, 4, "fourth");
}

static void onchange_trace(void **state)
{
	(void)state;
	define("harbour_changed int id; u64 t", "harbour_changed");
	replay("hist-onchange-trace", for_onchange_trace, NULL);
	undefine("harbour_changed");
}

static void mistakes(void **state)
{
	(void)state;
	define("harbour_latency int id; u64 lat; char name[16]", "harbour_latency");
	replay("hist-errors-actions", NULL, NULL);
	undefine("harbour_latency");
}

/* Linux refuses to pause a histogram that has variables. */
static bool is_pause(const char *command)
{
	return strstr(command, ":pause'");
}

static void busy(void **state)
{
	(void)state;
	define("harbour_latency int id; u64 lat", "harbour_latency");
	replay("hist-errors-busy", NULL, is_pause);
	undefine("harbour_latency");
}

#define LATENCY "events/synthetic/harbour_latency/"

static void for_latency(const char *command)
{
	if (strncmp(command, "echo '!hist:keys=id,lat", 23) == 0)
		assert_int_equal(echo("0", LATENCY "enable"), 0);
	if (strcmp(command, "cat " LATENCY "enable") != 0)
		return;
	assert_int_equal(echo("1", LATENCY "enable"), 0);
	trace_ship_arrive(1, 1000, "one");
	trace_ship_arrive(2, 1100, "two");
	trace_ship_leave(1, 1500, "one");
	trace_ship_leave(2, 1250, "two");
	trace_ship_leave(2, 1300, "two");
	trace_ship_leave(3, 9000, "three");
	trace_ship_arrive(1, 2000, "again");
	trace_ship_leave(1, 2500, "again");
}

/* A whole session: text variables, a histogram of the synthetic event, and who needs whom. */
static void latency(void **state)
{
	(void)state;
	assert_int_equal(echo("harbour_latency int id; u64 lat; char name[16]", "synthetic_events"),
			 0);
	replay("hist-latency", for_latency, NULL);
}

/* Nothing holds the synthetic event any more. Files of an event that is gone may stay for a while. */
static int all_gone(void **state)
{
	(void)state;
	assert_string_equal(cat("synthetic_events"), "");
	return 0;
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)
#define SYNTH(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, all_gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(onmax),	 TEST(onmax_snapshot), TEST(onchange),
		SYNTH(onmatch),	 SYNTH(onmax_trace),   SYNTH(onchange_trace),
		SYNTH(mistakes), SYNTH(busy),	       SYNTH(latency),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
