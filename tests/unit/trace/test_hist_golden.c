/*
 * What was typed to Linux 6.1 about histograms (tests/golden, hist-*) is typed here, with the same
 * events: the same errors, listings and entries.
 *
 * The events are those of the guest that the samples come from. A sample has what was typed, and not
 * which events came between: `steps` says which come before which command.
 */
#include "unit.h"
#include "tracefs.h"
#include "text/str.h"
#include <regex.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef long long s64;
#define pid_t int

static void strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

/* The header includes itself as ../../kernel/golden_events.h: in Linux that is where it is. */
/* clang-format off */
#undef linux
#define kernel golden/linux-6.1/capture
/* clang-format on */
#define CREATE_TRACE_POINTS
#include "../../golden/linux-6.1/capture/golden_events.h"

#define GOLD "events/gold/"

/* ---- Events ---- */

/* One event, as in Linux's guest: WORD NUMBERS... */
static void fire(const char *line)
{
	long a = 0, b = 0, c = 0, d = 0;
	char name[64];

	if (sscanf(line, "int %ld", &a) == 1)
		trace_gold_int((int)a);
	else if (sscanf(line, "types %ld", &a) == 1)
		trace_gold_types(a);
	else if (sscanf(line, "enum %ld", &a) == 1)
		trace_gold_enum((int)a, 0);
	else if (sscanf(line, "string %63s %ld", name, &a) == 2)
		trace_gold_string(name, (int)a);
	else if (sscanf(line, "first %ld %63s", &a, name) == 2)
		trace_gold_first((int)a, name);
	else if (sscanf(line, "second %ld %63s", &a, name) == 2)
		trace_gold_second((int)a, name);
	else if (sscanf(line, "call %ld %ld %ld %ld", &a, &b, &c, &d) == 4)
		trace_gold_call(fake_func((size_t)a % 4) + (unsigned long)a / 4, (size_t)b, c,
				(u64)d);
	else
		fail_msg("no event: %s", line);
}

/* Events with `;` behind each. */
static void fire_all(const char *lines)
{
	for (const char *end; (end = strchr(lines, ';')); lines = end + 1) {
		char line[100];

		snprintf(line, sizeof(line), "%.*s", (int)(end - lines), lines);
		fire(line);
	}
}

/* ---- Samples ---- */

struct sample {
	const char *name;
	/* Each time a `hist` is read, the next of these comes before it; the last one again. */
	const char *events[8];
	const char *typed, *before; /* NULL, or: before this is typed, these events come */
	bool is_loop;		    /* a histogram at a time: each is taken away before the next */
};

static const struct sample samples[] = {
	{ "hist-keys",
	  .events = { "call 0 100 1 0;call 0 100 1 0;call 0 100 1 0;call 0 0 0 1;call 1 64 1 1000;"
		      "call 17 4096 60 1000000;call 2 127 60 5;call 2 128 -3 6;call 2 1 999 7;" },
	  .is_loop = true },
	{ "hist-keys-signed",
	  .events = { "types 1;types -1;types 5;types -20;types 300;types 0;types 300;" },
	  .is_loop = true },
	{ "hist-keys-strings",
	  .events = { "string text 1;string text 1;string apple 2;string text 2;"
		      "string a_text_that_is_longer_than_its_fixed_array 4;" },
	  .is_loop = true },
	{ "hist-keys-common", .events = { "int 1;int 1;int 2;" }, .is_loop = true },
	{ "hist-keys-several",
	  .events = { "call 0 100 1 5;call 0 100 1 5;call 1 64 1 6;call 1 64 60 7;call 18 4096 60 "
		      "8;"
		      "call 18 10 1 9;" },
	  .is_loop = true },
	{ "hist-vals",
	  .events = { "call 0 100 1 5;call 0 300 1 5;call 1 64 2 6;call 1 4000000 3 7;call 2 1 60 "
		      "8;"
		      "call 2 1 60 9;call 2 1 60 10;" },
	  .is_loop = true },
	{ "hist-sort",
	  .events = { "call 0 100 -1 5;call 0 300 5 5;call 1 64 2 6;call 1 4000 3 7;call 2 1 60 8;"
		      "call 2 2 60 9;call 2 3 60 10;call 0 3 5 1;" },
	  .is_loop = true },
	{ "hist-sort-names",
	  .events = { "first 1 pear;first 2 apple;first 3 fig;first 4 apple;first 5 Zebra;" },
	  .is_loop = true },
	{ "hist-size", .events = { "" }, .is_loop = true },
	{ "hist-pause", .events = { "int 1;", "int 1;int 2;", "int 1;", "", "int 7;", "" } },
	{ "hist-several", .events = { "int 1;int 2;int 3;int 3;" } },
	{ "hist-named", .events = { "first 1 one;second 1 one;second 2 two;", "" },
	  .typed = "hist:name=shared:keys=n:cont", .before = "first 9 nine;" },
	{ "hist-if", .events = { "first 1 one;first 2 two;first 3 three;first 1 other;" },
	  .is_loop = true },
	{ "hist-disabled", .events = { "int 1;", "int 1;int 1;", "int 1;int 5;" } },
	{ "hist-trace-clock", .events = { "" }, .is_loop = true },
	{ "hist-errors", .events = { "" }, .is_loop = true },
};

/* Histograms that are different here: what is typed, and what follows up to the next one. */
static const struct difference {
	const char *text, *why;
} differences[] = {
	{ "hist:keys=nr.syscall", "there are no system calls" },
	{ "hist:keys=func.hex,nr.syscall,bytes", "the same" },
	{ "hist:keys=nr.syscall:sort=nr.descending", "the same" },
	{ "hist:keys=time.usecs", "only time stamps have units" },
	{ "hist:keys=nr:vals=time.usecs", "the same" },
	{ "hist:keys=dynamic.hex", "a text is no number" },
	{ "hist:keys=n:vals=dynamic", "the same" },
	{ "hist:keys=common_timestamp", "the fake machine's clock stands still" },
	{ "hist:keys=common_timestamp.usecs", "the same" },
	{ "hist:keys=value:vals=common_timestamp", "the same" },
	{ "hist:keys=stacktrace", "the fake machine has no stacks" },
	{ "hist:keys=stacktrace,value", "the same" },
	{ "hist:keys=cpu", "it is common_cpu, whichever word was written" },
	{ "hist:keys=value:vals=cpu", "the same" },
	{ "hist:keys=value:vals=common_cpu", "the same: values are `cpu` in 6.1, keys as written" },
	{ "hist:keys=comm", "of later versions, or ours" },
	{ "hist:keys=common_comm", "the same" },
	{ "hist:keys=common_stacktrace", "the same" },
	{ "hist:keys=nr:vals=hitcount.percent", "the same" },
	{ "hist:keys=nr:vals=hitcount.graph", "the same" },
	{ "hist:keys=nr:vals=hitcount.percent,hitcount.graph,bytes.percent", "the same" },
	{ "hist:keys=nr:vals=bytes:nohitcount", "the same" },
	{ "hist:keys=name.sym", "a text is no number" },
	{ "hist:keys=name.log2", "the same" },
	{ "hist:keys=name.hex", "the same" },
	{ "hist:keys= id", "blanks may be anywhere between words" },
	{ "hist:keys=id :vals=time", "the same" },
	{ "hist:keys=id:vals= time", "the same" },
};

/* Is `typed` such a histogram, or its removal? */
static bool is_different(const char *typed)
{
	typed += *typed == '!';
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(differences); i++) {
		if (strcmp(typed, differences[i].text) == 0)
			return true;
	}
	return false;
}

static char text[1 << 17];

static void load(const char *name)
{
	char path[100];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "tests/golden/linux-6.1/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	assert_int_equal(fclose(file), 0);
	assert_true(len < sizeof(text) - 1);
	text[len] = '\0';
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
		{ "Cannot allocate memory", -ENOMEM },
		{ "Device or resource busy", -EBUSY },
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

/* ---- What depends on the machine ---- */

/* The first group of a pattern is what depends on it; with a second one, its width counts. */
static const char *const patterns[] = {
	"\\[([0-9a-f]+)\\] ([A-Za-z_0-9.+/]+ *)",  "func: +([0-9a-f]+)",
	"[^_]pointer: +([0-9A-Fa-f]+|ADDRESS)",	   "common_pid: ()(.{16}\\[ *[0-9]+\\])",
	"(common_pid|common_type|cpu):( +[0-9]+)",
};
static regex_t compiled[TRACE_ARRAY_SIZE(patterns)];

static int compile_patterns(void **state)
{
	int err = tracefs_setup(state);

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(patterns); i++)
		assert_int_equal(regcomp(&compiled[i], patterns[i], REG_EXTENDED), 0);
	return err;
}

/* Addresses, names of functions, threads with their numbers, times. */
static void mask(char *line, size_t size)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(patterns); i++) {
		regmatch_t m[3];
		size_t at = 0;

		while (regexec(&compiled[i], line + at, 3, m, 0) == 0) {
			char *from = line + at + m[1].rm_so, *behind = line + at + m[1].rm_eo;
			char instead[32] = "@", rest[400];

			if (m[2].rm_so >= 0) {
				behind = line + at + m[2].rm_eo;
				snprintf(instead, sizeof(instead), "@ %d",
					 (int)(m[2].rm_eo - m[2].rm_so));
			}
			snprintf(rest, sizeof(rest), "%s", behind);
			assert_true((size_t)(from - line) + strlen(instead) + strlen(rest) < size);
			at = (size_t)(from - line) + strlen(instead);
			sprintf(from, "%s%s", instead, rest);
		}
	}
}

/* ---- Comparing ---- */

#define LINES_MAX 400

struct lines {
	size_t nr;
	char line[LINES_MAX][400];
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Entries in a row may come in another order: those that are equal by what they are sorted by. */
static void split(const char *from, struct lines *lines)
{
	size_t first = 0;

	for (lines->nr = 0; *from; from += strcspn(from, "\n"), from += *from == '\n') {
		char *line = lines->line[lines->nr];

		assert_true(lines->nr < LINES_MAX);
		snprintf(line, sizeof(lines->line[0]), "%.*s", (int)strcspn(from, "\n"), from);
		mask(line, sizeof(lines->line[0]));
		lines->nr++;
	}
	for (size_t i = 0; i <= lines->nr; i++) {
		if (i < lines->nr && lines->line[i][0] == '{')
			continue;
		qsort(lines->line[first], i - first, sizeof(lines->line[0]), compare_lines);
		first = i + 1;
	}
}

static bool are_equal(const char *got, const char *want)
{
	static struct lines ours, theirs;

	split(got, &ours);
	split(want, &theirs);
	if (ours.nr != theirs.nr)
		return false;
	for (size_t i = 0; i < ours.nr; i++) {
		if (strcmp(ours.line[i], theirs.line[i]) != 0)
			return false;
	}
	return true;
}

/* ---- Typing ---- */

static const char *what(char *command)
{
	static char typed[400];
	char *end;

	if (command[7] != '\'') {
		snprintf(typed, sizeof(typed), "%s", command + 7);
		typed[strcspn(typed, " ")] = '\0';
		return typed;
	}
	snprintf(typed, sizeof(typed), "%s", command + 8);
	end = strrchr(typed, '\'');
	assert_non_null(end);
	*end = '\0';
	return typed;
}

static const char *path_of(const char *command)
{
	return strrchr(command, ' ') + 1;
}

/* `$ echo 'TEXT' > FILE`, `$ echo WORD >> FILE`. False when the answer is another one. */
static bool type(const struct sample *sample, char *command, const char *answer)
{
	const char *path = path_of(command), *typed = what(command);
	bool appends = strstr(command, ">> ");
	int err;

	if (sample->typed && strcmp(typed, sample->typed) == 0)
		fire_all(sample->before);
	if (sample->is_loop && strncmp(typed, "hist", 4) == 0)
		assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
	assert_int_equal(echo("", "error_log"), 0);
	err = appends ? echo_append(typed, path) : echo(typed, path);
	if (err != error_of(answer))
		print_message("%s: %s: %d, Linux says: %s\n", sample->name, typed, err, answer);
	return err == error_of(answer);
}

/* `$ cat FILE...` */
static bool list(const struct sample *sample, char *command, const char *answer, size_t *nr_hists)
{
	static char got[1 << 16];
	char files[300], *path, *save;

	got[0] = '\0';
	if (strstr(command, "/hist") && sample->events[*nr_hists]) {
		fire_all(sample->events[*nr_hists]);
		*nr_hists += sample->events[*nr_hists + 1] != NULL;
	}
	snprintf(files, sizeof(files), "%s", command + 6);
	for (path = strtok_r(files, " ", &save); path; path = strtok_r(NULL, " ", &save))
		strcat(got, cat(path));
	if (are_equal(got, answer))
		return true;
	print_message("%s: %s\nwanted:\n%s\ngot:\n%s\n", sample->name, command, answer, got);
	return false;
}

/* Which clock is on; others depend on the machine. */
static bool has_clock(const char *answer)
{
	const char *clock = strchr(answer, '[');

	assert_non_null(clock);
	return strncmp(strchr(cat("trace_clock"), '['), clock, strcspn(clock, "]") + 1) == 0;
}

static bool answers_alike(const struct sample *sample, char *command, const char *answer,
			  size_t *nr_hists)
{
	/* What was taken away; words that differ, see docs/histograms.md. */
	if (strcmp(command, "$ cat trigger") == 0 || strcmp(command, "$ cat error_log") == 0)
		return true;
	if (strcmp(command, "$ cat trace_clock") == 0)
		return has_clock(answer);
	if (strncmp(command, "$ cat ", 6) == 0)
		return list(sample, command, answer, nr_hists);
	if (strncmp(command, "$ echo ", 7) == 0)
		return type(sample, command, answer);
	if (strncmp(command, "$ true > ", 9) == 0)
		return put("", 0, path_of(command), TRACE_FS_TRUNC) == 0;
	return true;
}

static void replay(const struct sample *sample)
{
	bool is_left_out = false;
	char *command, *answer, *next;
	size_t nr_hists = 0, nr_wrong = 0;
	static char nothing[1];

	load(sample->name);
	for (command = text; command; command = next) {
		assert_memory_equal(command, "$ ", 2);
		answer = strchr(command, '\n') + 1;
		answer[-1] = '\0';
		next = strncmp(answer, "$ ", 2) == 0 ? answer : strstr(answer, "\n$ ");
		if (next == answer)
			answer = nothing;
		else if (next)
			*next++ = '\0';
		if (strncmp(command, "$ echo ", 7) == 0)
			is_left_out = is_different(what(command));
		if (!is_left_out && !answers_alike(sample, command, answer, &nr_hists))
			nr_wrong++;
	}
	assert_int_equal(nr_wrong, 0);
}

static void clear_all(void)
{
	static const char *const events[] = { "int",	"types", "enum", "string", "array", "first",
					      "second", "third", "call", "end",	   "begin" };
	char path[100];

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(events); i++) {
		snprintf(path, sizeof(path), GOLD "gold_%s/trigger", events[i]);
		assert_int_equal(echo_append("!traceoff", path), 0);
		assert_int_equal(echo_append("!stacktrace", path), 0);
		assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
		snprintf(path, sizeof(path), GOLD "gold_%s/filter", events[i]);
		assert_int_equal(echo("0", path), 0);
		snprintf(path, sizeof(path), GOLD "gold_%s/enable", events[i]);
		assert_int_equal(echo("0", path), 0);
	}
	assert_int_equal(echo("local", "trace_clock"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

static void one(void **state)
{
	const struct sample *sample = *state;

	replay(sample);
}

static int reset(void **state)
{
	void *ignored = NULL;
	int err = tracefs_reset(&ignored);

	(void)state;
	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	return err;
}

static int end(void **state)
{
	void *ignored = NULL;

	(void)state;
	clear_all();
	fake_cpus[0].pid = 0;
	return tracefs_check(&ignored);
}

int main(void)
{
	struct CMUnitTest tests[TRACE_ARRAY_SIZE(samples)];

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(samples); i++)
		tests[i] = (struct CMUnitTest){ samples[i].name, one, reset, end,
						(void *)&samples[i] };
	return cmocka_run_group_tests(tests, compile_patterns, NULL);
}
