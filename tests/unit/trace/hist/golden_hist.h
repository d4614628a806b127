/*
 * Samples of Linux 6.1 about histograms and synthetic events: what was typed is typed here, the same
 * events happen, and errors, listings, entries and events are the same. To be included by one test
 * file.
 *
 * A sample has what was typed, and not which events came between: the steps of a row say which come
 * before which command. Of a mistake Linux may say several things; ours is one of them. Where it has
 * no reason, or does not know the place, ours may say more.
 */
#ifndef GOLDEN_HIST_H
#define GOLDEN_HIST_H

#include <regex.h>
#include "golden.h"
#include "host/gold.h"
#include "host/task.h"

#define GOLD   "events/gold/gold_"
#define NR(a)  (sizeof(a) / sizeof((a)[0]))
#define BEFORE 8 /* steps of a row, at most */

/* The step to take before the command that begins with `command`. */
struct golden_step {
	const char *command;
	unsigned int nth; /* of those that do, from 1; 0: each */
	const char *events;
};

struct golden_sample {
	const char *name;
	struct golden_step steps[BEFORE];
	const char *const (*names)[2]; /* see golden_load() */
	bool is_loop;	       /* before a histogram is set, those of its event are taken away */
	bool is_synthetic;     /* files of events that are gone may stay for a while */
	const char *synthetic; /* which is defined and on, when it begins; NULL: none */
	bool is_off;	       /* but `synthetic` is only defined */
	const char *event;     /* of which lines count in `trace` and `snapshot`; NULL: all */
	unsigned int min;      /* how many commands there are at least */
};

/* Here and there: what Linux shows after a command that has `text`, and what we do. */
struct golden_change {
	const char *text, *linux_has, *ours;
};

/* Known differences from Linux: see docs/histograms.md. */
struct golden_rules {
	const struct golden_change *changes; /* end with a NULL text */
	/* The output behind a line of this text, up to the next typed line, is not looked at. */
	bool (*differs)(const char *text);
};

/* ---- Events ---- */

/* One event, as in Linux's guest: WORD NUMBERS...; or a write to a file. */
HELPER void fire(const char *line)
{
	static const int list[] = { 1, 2, 3, 4 };
	long a = 0, b = 0, c = 0, d = 0;
	char name[64], path[64];

	if (sscanf(line, "int %ld", &a) == 1)
		trace_gold_int((int)a);
	else if (sscanf(line, "types %ld", &a) == 1)
		trace_gold_types(a);
	else if (sscanf(line, "enum %ld %ld", &a, &b) >= 1)
		trace_gold_enum((int)a, (unsigned int)b);
	else if (sscanf(line, "string %63s %ld", name, &a) == 2)
		trace_gold_string(name, (int)a);
	else if (sscanf(line, "array %ld", &a) == 1)
		trace_gold_array((int)a, list);
	else if (sscanf(line, "first %ld %63s", &a, name) == 2)
		trace_gold_first((int)a, name);
	else if (sscanf(line, "second %ld %63s", &a, name) == 2)
		trace_gold_second((int)a, name);
	else if (sscanf(line, "begin %ld %ld %63s", &a, &b, name) == 3)
		trace_gold_begin((int)a, (u64)b, name);
	else if (sscanf(line, "end %ld %ld %63s", &a, &b, name) == 3)
		trace_gold_end((int)a, (u64)b, name);
	else if (sscanf(line, "call %ld %ld %ld %ld", &a, &b, &c, &d) == 4)
		trace_gold_call(fake_func((size_t)a % 4) + (unsigned long)a / 4, (size_t)b, c,
				(u64)d);
	else if (sscanf(line, "wake %ld", &a) == 1)
		trace_task_waking("usleep", (int)a);
	else if (sscanf(line, "switch %ld", &a) == 1)
		trace_task_switch("usleep", (int)a);
	else if (sscanf(line, "after %ld", &a) == 1)
		fake_clock += (uint64_t)a * 1000;
	else if (sscanf(line, "write %63s %63[^;]", path, name) == 2)
		assert_int_equal(put(name, strlen(name), path, TRACE_FS_TRUNC), 0);
	else if (sscanf(line, "clear %63s", path) == 1)
		(void)put("", 0, path, TRACE_FS_TRUNC);
	else
		fail_msg("no event: %s", line);
}

/* Events with `;` behind each. */
HELPER void fire_all(const char *lines)
{
	for (const char *end; (end = strchr(lines, ';')); lines = end + 1) {
		char line[100];

		snprintf(line, sizeof(line), "%.*s", (int)(end - lines), lines);
		fire(line);
	}
}

/* ---- Parts that depend on the machine ---- */

/* The first group of a pattern is what depends on it; with a second one, its width counts. */
static const char *const golden_patterns[] = {
	"\\[([0-9a-f]+)\\] ([A-Za-z_0-9.+/]+ *)",  "func: +([0-9a-f]+)",
	"[^_]pointer: +([0-9A-Fa-f]+|ADDRESS)",	   "common_pid: ()(.{16}\\[ *[0-9]+\\])",
	"(common_pid|common_type|cpu):( +[0-9]+)",
};
static regex_t golden_compiled[NR(golden_patterns)];

HELPER int golden_setup(void **state)
{
	int err = tracefs_setup(state);

	for (size_t i = 0; i < NR(golden_patterns); i++)
		assert_int_equal(regcomp(&golden_compiled[i], golden_patterns[i], REG_EXTENDED), 0);
	return err;
}

/* Addresses, names of functions, threads with their numbers, times. */
HELPER void golden_mask(char *line, size_t size)
{
	for (size_t i = 0; i < NR(golden_patterns); i++) {
		regmatch_t m[3];
		size_t at = 0;

		while (regexec(&golden_compiled[i], line + at, 3, m, 0) == 0) {
			char *from = line + at + m[1].rm_so, *behind = line + at + m[1].rm_eo;
			char instead[32] = "@", rest[1000];

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

#define PIECES_MAX 400

/* A line, or an entry of a histogram with all its lines. */
struct golden_pieces {
	size_t nr;
	char piece[PIECES_MAX][1000];
};

HELPER int golden_compare_pieces(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Does an entry go on with the line? */
HELPER bool golden_is_rest(const char *line)
{
	return *line == '\t' || strncmp(line, "         ", 9) == 0 || *line == '}';
}

/* Entries in a row may come in another order: those that are equal by what they are sorted by. */
HELPER void golden_split(const char *from, struct golden_pieces *out)
{
	size_t first = 0;

	for (out->nr = 0; *from; from += strcspn(from, "\n"), from += *from == '\n') {
		bool is_rest = out->nr && out->piece[out->nr - 1][0] == '{' && golden_is_rest(from);
		char *piece = out->piece[out->nr - is_rest];
		size_t len = is_rest ? strlen(piece) : 0;

		assert_true(out->nr < PIECES_MAX);
		snprintf(piece + len, sizeof(out->piece[0]) - len, "%s%.*s", is_rest ? "\n" : "",
			 (int)strcspn(from, "\n"), from);
		golden_mask(piece, sizeof(out->piece[0]));
		out->nr += !is_rest;
	}
	for (size_t i = 0; i <= out->nr; i++) {
		if (i < out->nr && out->piece[i][0] == '{')
			continue;
		qsort(out->piece[first], i - first, sizeof(out->piece[0]), golden_compare_pieces);
		first = i + 1;
	}
}

HELPER bool golden_is_equal(const char *got, const char *want)
{
	static struct golden_pieces ours, theirs;

	golden_split(got, &ours);
	golden_split(want, &theirs);
	if (ours.nr != theirs.nr)
		return false;
	for (size_t i = 0; i < ours.nr; i++) {
		if (strcmp(ours.piece[i], theirs.piece[i]) != 0)
			return false;
	}
	return true;
}

/* Lines of `trace` from the name of the event on, of that event only; the rest are facts. */
HELPER const char *golden_lines(const char *text, const char *event, char *out)
{
	const char *at = text, *end, *from;
	size_t len = 0;

	for (out[0] = '\0'; *at; at = end) {
		end = at + strcspn(at, "\n");
		end += *end == '\n';
		from = strstr(at, ": ");
		if (*at == '#' || !from || from > end)
			continue;
		if (at[0] == ' ')
			at = from + 2; /* behind the thread, the CPU and the time */
		if (!event || strncmp(at, event, strlen(event)) == 0)
			len += (size_t)sprintf(out + len, "%.*s", (int)(end - at), at);
	}
	return out;
}

/* ---- Mistakes ---- */

/* An entry of error_log. */
struct golden_mistake {
	char why[200];
	size_t at;     /* of the caret; 0: at the begin, so Linux does not know */
	char word[40]; /* that begins there */
};

/* The next one of a log; what is behind it, or NULL. */
HELPER const char *golden_next_mistake(const char *log, struct golden_mistake *out)
{
	const char *why = strstr(log, ": error: "), *text, *caret;
	size_t at;

	if (!why)
		return NULL;
	why += strlen(": error: ");
	text = strchr(why, '\n') + 1 + strlen("  Command: ");
	caret = strchr(text, '\n') + 1;
	at = strcspn(caret, "^") - strlen("  Command: ");
	snprintf(out->why, sizeof(out->why), "%.*s", (int)strcspn(why, "\n"), why);
	snprintf(out->word, sizeof(out->word), "%.*s", (int)strcspn(text + at, " .,:=()+-*/\n"),
		 text + at);
	out->at = at > strlen("hist:") ? at : 0;
	return caret + strcspn(caret, "\n") + 1;
}

/* Linux points to where the word stands for the first time. */
HELPER bool golden_is_same_mistake(const struct golden_mistake *ours,
				   const struct golden_mistake *other)
{
	return strcmp(ours->why, other->why) == 0 &&
	       (!other->at || ours->at == other->at || strcmp(ours->word, other->word) == 0);
}

/*
 * Is what error_log has one of the errors that Linux had? Returns what the answer has behind them, or
 * NULL.
 */
HELPER const char *golden_check_errors(const char *answer)
{
	struct golden_mistake ours, other;
	const char *at = answer, *next;
	bool is_known = false;

	while ((next = golden_next_mistake(at, &other))) {
		if (golden_next_mistake(cat("error_log"), &ours))
			is_known |= golden_is_same_mistake(&ours, &other);
		at = next;
	}
	return is_known || at == answer ? at : NULL;
}

/* ---- A sample ---- */

/* The state of a walk through a sample. */
struct golden_run {
	const struct golden_sample *sample;
	const struct golden_rules *rules;
	struct golden golden;
	struct golden_write typed;
	char want[GOLDEN_MAX]; /* the answer of Linux, as ours has to be */
	bool is_left_out;
	unsigned int nr, nr_wrong, nr_steps[BEFORE];
};

/* Linux's output in our words. */
HELPER char *golden_wanted(struct golden_run *run)
{
	char *want = run->want;

	snprintf(want, GOLDEN_MAX, "%s", run->golden.answer);
	for (const struct golden_change *at = run->rules->changes; at && at->text; at++) {
		if (strstr(run->typed.text, at->text))
			golden_replace(want, GOLDEN_MAX, at->linux_has, at->ours);
	}
	return want;
}

HELPER void golden_report(struct golden_run *run, const char *want, const char *got)
{
	run->nr_wrong++;
	print_message("%s: %s\n%s\nLinux:\n%s\nours:\n%s\n", run->sample->name, run->typed.text,
		      run->golden.command, want, got);
}

HELPER void golden_steps(struct golden_run *run)
{
	const struct golden_step *step = run->sample->steps;

	for (size_t i = 0; i < BEFORE && step[i].command; i++) {
		if (strncmp(run->golden.command, step[i].command, strlen(step[i].command)) != 0)
			continue;
		run->nr_steps[i]++;
		if (!step[i].nth || step[i].nth == run->nr_steps[i])
			fire_all(step[i].events);
	}
}

HELPER void golden_type_one(struct golden_run *run)
{
	const struct golden_write *typed = &run->typed;
	int err, want;

	if (run->sample->is_loop && strncmp(typed->text, "hist", 4) == 0 &&
	    strncmp(typed->path, GOLD, strlen(GOLD)) == 0) {
		/* Variables that another one uses keep theirs. */
		for (int i = 0; i < 2; i++)
			assert_int_equal(put("", 0, typed->path, TRACE_FS_TRUNC), 0);
	}
	assert_int_equal(echo("", "error_log"), 0);
	err = typed->is_empty ? put("", 0, typed->path, typed->flags)
			      : put_line(typed->text, typed->path, typed->flags);
	want = golden_errno(run->golden.answer);
	if (err != want)
		golden_report(run, run->golden.answer, err ? cat("error_log") : "no error\n");
}

/* `cat error_log`, behind which some samples show what `trigger` has. */
HELPER void golden_log(struct golden_run *run)
{
	const char *want = golden_wanted(run), *rest = golden_check_errors(want);

	if (!rest)
		golden_report(run, want, cat("error_log"));
	else if (*rest && strcmp(cat(run->typed.path), rest) != 0)
		golden_report(run, want, cat(run->typed.path));
}

/* `cat trace`, `grep ... trace`, `snapshot` */
HELPER void golden_trace(struct golden_run *run, const char *path)
{
	static char want[GOLDEN_MAX], got[GOLDEN_MAX];

	/* One sample has the values alone. */
	if (strcmp(run->golden.command, "cat trace: id and v") == 0)
		golden_replace(golden_wanted(run), sizeof(want), "id=", "computed: id=");
	else
		(void)golden_wanted(run);
	golden_lines(run->want, run->sample->event, want);
	golden_lines(cat(path), run->sample->event, got);
	if (strcmp(want, got) != 0)
		golden_report(run, want, got);
}

HELPER void golden_files(struct golden_run *run, const char *paths)
{
	const char *want = golden_wanted(run), *got = golden_cat(paths);

	if (!golden_is_equal(got, want))
		golden_report(run, want, got);
}

/* Anything but `echo`. */
HELPER void golden_look(struct golden_run *run)
{
	char *command = run->golden.command, *pipe = strstr(command, " | ");
	const char *path;

	if (pipe)
		*pipe = '\0';
	path = strrchr(command, ' ') + 1;
	if (strcmp(command, "cat error_log") == 0)
		golden_log(run);
	else if (strcmp(path, "trigger") == 0 || strstr(path, "/format"))
		run->nr--; /* of a histogram that was taken away; test_synth_golden.c */
	else if (strncmp(command, "grep ", 5) == 0 || strncmp(command, "cat trace: ", 11) == 0 ||
		 strcmp(path, "trace") == 0 || strcmp(path, "snapshot") == 0)
		golden_trace(run, strcmp(path, "snapshot") == 0 ? path : "trace");
	else if (strncmp(command, "cat ", 4) == 0)
		golden_files(run, command + 4);
	else
		run->nr--;
}

/* The file `enable` of the synthetic event of a sample. */
HELPER const char *golden_enable(const struct golden_sample *sample)
{
	static char path[100];

	snprintf(path, sizeof(path), "events/synthetic/%.*s/enable",
		 (int)strcspn(sample->synthetic, " "), sample->synthetic);
	return path;
}

HELPER void golden_replay(const struct golden_sample *sample, const struct golden_rules *rules)
{
	static struct golden_run run;

	if (sample->synthetic) {
		assert_int_equal(echo(sample->synthetic, "synthetic_events"), 0);
		if (!sample->is_off)
			assert_int_equal(echo("1", golden_enable(sample)), 0);
	}
	run = (struct golden_run){ .sample = sample, .rules = rules };
	golden_load(&run.golden, sample->name, sample->names);
	while (golden_next(&run.golden)) {
		struct golden_write typed;
		bool is_typed = golden_take(run.golden.command, &typed);

		if (is_typed) {
			run.typed = typed;
			run.is_left_out = rules->differs && rules->differs(typed.text);
		}
		if (run.is_left_out)
			continue;
		golden_steps(&run);
		run.nr++;
		if (is_typed)
			golden_type_one(&run);
		else
			golden_look(&run);
	}
	assert_int_equal(run.nr_wrong, 0);
	assert_true(run.nr >= sample->min);
}

/* Takes away what a sample has left. */
HELPER void golden_end(void)
{
	static const char *const events[] = { "end",   "begin", "int",	  "types", "enum", "string",
					      "array", "first", "second", "third", "call" };
	struct trace_node *synthetic, *event = NULL;
	char path[100];

	for (size_t i = 0; i < NR(events); i++) {
		snprintf(path, sizeof(path), GOLD "%s/trigger", events[i]);
		assert_int_equal(echo_append("!traceoff", path), 0);
		assert_int_equal(echo_append("!stacktrace", path), 0);
		assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
		snprintf(path, sizeof(path), GOLD "%s/filter", events[i]);
		assert_int_equal(echo("0", path), 0);
		snprintf(path, sizeof(path), GOLD "%s/enable", events[i]);
		assert_int_equal(echo("0", path), 0);
	}
	synthetic = node_of("events/synthetic");
	while (synthetic && (event = trace_fs_next_child(synthetic, event))) {
		snprintf(path, sizeof(path), "events/synthetic/%s/trigger", event->name);
		if (event->is_dir)
			assert_int_equal(put("", 0, path, TRACE_FS_TRUNC), 0);
	}
	if (synthetic)
		assert_int_equal(echo("0", "events/synthetic/enable"), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat("synthetic_events"), "");
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("local", "trace_clock"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

#endif
