/*
 * Synthetic events that histograms write: what was typed to Linux 6.1 (tests/golden, synthetic-trace
 * and synthetic-types) is typed here, the same events happen, and what they leave is the same.
 */
#include "unit.h"
#include "tracefs.h"

typedef uint16_t u16;
typedef unsigned long long u64;
typedef int8_t s8;
typedef long long s64;
/* As in Linux a type, whose name fields have, not a macro that stands for another name. */
#undef bool
typedef _Bool bool;

#define CREATE_TRACE_POINTS
#include "host/gold_events.h"

#define ANSWER_MAX 8192
#define NR(a)	   (sizeof(a) / sizeof((a)[0]))

static char sample[1 << 16];

/* Where ours differs: what Linux shows after this command, and what we do. */
static const struct {
	const char *command, *linux_has, *ours;
} differences[] = {
	/* Divisions round down. */
	{ "bb=n/3", "big=3", "big=2" },
	/* Small numbers have their sign. */
	{ "widths(s8,uc,$ss", "a=255", "a=-1" },
	{ "widths(s8,uc,$ss", "c=65535", "c=-1" },
	{ "named($cc,uc", "a=255", "a=-1" },
};

/* Linux refuses parameters of one letter, and compares the names of types more than their signs. */
static const char *const left_out[] = { "shown(n,n,", "widths(s8,uc,s,u16,i,", "widths(sc,uc,",
					"wide(u64,ul,s64)" };

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

/* The next command of the sample and what it answered. False behind the last. */
static bool next_command(const char **rest, char *command, char *answer)
{
	const char *end = strchr(*rest, '\n'), *next;

	if (!**rest)
		return false;
	assert_memory_equal(*rest, "$ ", 2);
	snprintf(command, ANSWER_MAX, "%.*s", (int)(end - *rest) - 2, *rest + 2);
	end++;
	next = strncmp(end, "$ ", 2) == 0 ? end : strstr(end, "\n$ ");
	next = !next ? end + strlen(end) : next + (*next == '\n');
	snprintf(answer, ANSWER_MAX, "%.*s", (int)(next - end), end);
	*rest = next;
	return true;
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

/* Each line from `name:` on; the rest are facts. */
static const char *lines_from(const char *text, char *out)
{
	const char *at = text, *end, *from;
	size_t len = 0;

	for (out[0] = '\0'; *at; at = end) {
		end = strchr(at, '\n') + 1;
		from = strstr(at, ": ");
		if (*at == '#' || !from || from > end)
			continue;
		if (at[0] == ' ')
			at = from + 2; /* behind the thread, the CPU and the time */
		len += (size_t)sprintf(out + len, "%.*s", (int)(end - at), at);
	}
	return out;
}

static void same_events(const char *typed, const char *answer)
{
	char want[ANSWER_MAX], ours[ANSWER_MAX], linux_has[ANSWER_MAX];

	snprintf(linux_has, sizeof(linux_has), "%s", answer);
	for (size_t i = 0; i < NR(differences); i++) {
		if (strstr(typed, differences[i].command))
			replace_all(linux_has, differences[i].linux_has, differences[i].ours);
	}
	lines_from(linux_has, want);
	lines_from(cat("trace"), ours);
	if (strcmp(ours, want) != 0)
		fail_msg("%s\nours:\n%s\nLinux:\n%s", typed, ours, want);
}

/* `echo 'TEXT' >> FILE`, and what Linux had answered. */
static void type(char *command, const char *answer)
{
	char *text = strchr(command, '\'') + 1, *end = strrchr(text, '\'');
	char *redirection = strchr(end, '>'), *path = strrchr(command, ' ') + 1;
	bool is_wrong = strstr(answer, "Invalid argument");
	int err;

	*end = '\0';
	assert_int_equal(echo("", "error_log"), 0);
	err = redirection[1] == '>' ? echo_append(text, path) : echo(text, path);
	if (err != (is_wrong ? -EINVAL : 0))
		fail_msg("%s: %d, Linux says %s\n%s", text, err, answer, cat("error_log"));
}

/* What Linux gives as the reason stands in our log, too. */
static void same_reason(const char *answer)
{
	const char *why = strstr(answer, ": error: ");
	char want[200];

	snprintf(want, sizeof(want), "%.*s", why ? (int)strcspn(why, "\n") : 0, why ? why : "");
	if (why ? !strstr(cat("error_log"), want) : *cat("error_log"))
		fail_msg("ours:\n%s\nLinux:\n%s", cat("error_log"), answer);
}

/* What a line of `try 'cat FILE'` showed. */
static void same_file(const char *path, const char *answer)
{
	if (strncmp(answer, "# Available", 11) == 0) /* the list is another one */
		assert_memory_equal(cat(path), answer, 11);
	else
		assert_string_equal(cat(path), answer);
}

static void clear(const char *path)
{
	assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
}

static bool is_left_out(const char *command)
{
	bool is = false;

	for (size_t i = 0; i < NR(left_out); i++)
		is |= strstr(command, left_out[i]) != NULL;
	return is;
}

/* ---- The samples ---- */

/* What happens behind a command. */
typedef void (*happen_fn)(const char *typed);

/* `trigger` is that of the event that has the histograms: each takes the place of the last. */
static void replay(const char *name, const char *trigger, happen_fn happen)
{
	static char command[ANSWER_MAX], answer[ANSWER_MAX], typed[ANSWER_MAX];
	const char *rest = sample;
	bool is_out = false;
	unsigned int nr = 0;

	load(name);
	while (next_command(&rest, command, answer)) {
		if (strncmp(command, "echo '", 6) == 0)
			is_out = is_left_out(command);
		if (is_out)
			continue;
		if (strncmp(command, "echo '", 6) == 0) {
			snprintf(typed, sizeof(typed), "%s", command);
			if (strstr(command, trigger))
				clear(trigger);
			type(command, answer);
			if (strstr(typed, "synthetic_events"))
				assert_int_equal(echo("1", "events/synthetic/enable"), 0);
			clear("trace");
			happen(typed);
		} else if (strcmp(command, "cat error_log") == 0) {
			same_reason(answer);
		} else if (strcmp(command, "cat trace") == 0 || strncmp(command, "grep ", 5) == 0) {
			same_events(typed, answer);
		} else if (strstr(command, "/trigger") || strstr(command, "/filter") ||
			   strstr(command, "/hist")) {
			same_file(command + 4, answer);
		} else {
			continue; /* `format` is in test_synth_golden.c; options have lines of their own */
		}
		nr++;
	}
	assert_true(nr > 15);
	clear(trigger);
}

static void one_text(int n, const char *name, const char *text)
{
	trace_gold_first(n, name);
	trace_gold_string(text, n);
}

static void texts_happen(const char *typed)
{
	bool is_counted = strstr(typed, "hist:keys=text");

	if (strstr(typed, "gold_string/trigger") || is_counted) {
		one_text(7, "seven", "text");
		one_text(8, "eight", "a_text_that_is_longer_than_its_fixed_array");
	}
	if (is_counted || strstr(typed, "shown/filter"))
		one_text(7, "seven", "text");
	if (strstr(typed, "shown/filter"))
		one_text(7, "seven", "other");
}

static void texts(void **state)
{
	(void)state;
	replay("synthetic-trace", "events/gold/gold_string/trigger", texts_happen);
}

static void numbers_happen(const char *typed)
{
	static const int numbers[] = { -1, 5, 300 };

	for (size_t i = 0; strstr(typed, "gold_types/trigger") && i < NR(numbers); i++) {
		trace_gold_int(numbers[i]);
		trace_gold_types(numbers[i]);
	}
}

static void numbers(void **state)
{
	(void)state;
	replay("synthetic-types", "events/gold/gold_types/trigger", numbers_happen);
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	fake_thread_add(557, "sh");
	fake_cpus[0].pid = 557;
	return err;
}

static int end(void **state)
{
	(void)state;
	if (node_of("events/synthetic/shown"))
		clear("events/synthetic/shown/trigger");
	clear("events/gold/gold_first/trigger");
	clear("events/gold/gold_int/trigger");
	assert_int_equal(echo("0", "events/enable"), 0);
	clear("synthetic_events");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(texts, end),
		cmocka_unit_test_teardown(numbers, end),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
