/*
 * The trace event of the targets during a `torture`. Two instances have it:
 *
 *   counted   records what a filter lets through, another one each round, and counts all in a
 *             histogram. Both must have as many as there were calls, while the same filter is
 *             written again and other histograms come and go.
 *   changed   is made and removed, and has all that can be set on an event, at any time
 *
 * so that the event's probe always has something to do for the one, and always something else for
 * the other.
 */
#include <kernel/string.h>
#include <trace/errno.h>
#include <trace/fmt.h>
#include "torture.h"

#define PATH_BYTES  96
#define TEXT_BYTES  96
#define ROOT	    "/sys/kernel/tracing"
#define COUNTED	    "instances/torture_counted"
#define CHANGED	    "instances/torture_changed"
#define EVENT	    "events/torture/torture_call/"
#define HIST	    "hist:keys=target:size=256"
#define HIST_INFO   "# trigger info: hist:keys=target:"
#define OTHER_HISTS 2u

/* `%u` is a number from 1 to 7; how many of the eight targets pass. */
static const struct filter {
	const char *text;
	uint32_t nr_fixed;
	bool is_per_number; /* as many as the number says */
} filters[] = {
	{ "target == %u\n", 1, false },
	{ "target < %u\n", 0, true },
	{ "target != %u && value >= 0\n", 7, false },
	{ "target & 1\n", 4, false },
	{ "label == \"target-%u\"\n", 1, false },
	{ "!(label ~ \"*-%u\")\n", 7, false },
	{ "target <= %u && !(target == 0 || label == \"none\")\n", 0, true },
	{ "0\n", 8, false }, /* none */
};

static const char *const other_hists[OTHER_HISTS] = {
	"hist:keys=label:size=256",
	"hist:keys=value.log2,common_cpu:vals=value:size=256",
};

/* Lines of `changed`: file, text. */
static const struct change {
	const char *file;
	const char *text;
} changes[] = {
	{ EVENT "enable", "1\n" },
	{ EVENT "enable", "0\n" },
	{ "events/torture/enable", "1\n" },
	{ EVENT "filter", "label ~ \"*5\" || target == 2\n" },
	{ EVENT "filter", "target > 9\n" },
	{ EVENT "filter", "0\n" },
	{ "events/torture/filter", "target == 3\n" },
	{ EVENT "trigger", "hist:keys=target,label:vals=value\n" },
	{ EVENT "trigger", "!hist:keys=target,label:vals=value\n" },
	{ EVENT "trigger", "stacktrace:3 if target == 1\n" },
	{ EVENT "trigger", "!stacktrace\n" },
	{ EVENT "trigger", "traceoff:2 if value > 1000\n" },
	{ EVENT "trigger", "!traceoff\n" },
	{ EVENT "trigger", "disable_event:torture:torture_call:1\n" },
	{ EVENT "trigger", "!disable_event:torture:torture_call\n" },
	{ "set_event", "torture:*\n" },
	{ "set_event", "!torture:torture_call\n" },
	{ "set_event_pid", "1 2 3\n" },
	{ "set_event_pid", "\n" },
	{ "options/stacktrace", "1\n" },
	{ "options/stacktrace", "0\n" },
	{ "tracing_on", "1\n" },
	{ "trace", "\n" },
};

static bool is_made, changed_is_there;
static char filter[TEXT_BYTES]; /* of this round */
static uint32_t nr_passing;	/* targets */
static bool is_there[OTHER_HISTS];

static int torture_events_write(const char *instance, const char *file, const char *what,
				uint32_t vfs_flags)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), "%s/%s", instance, file);
	return torture_write(path, what, vfs_flags);
}

static int torture_events_write_counted(const char *file, const char *what)
{
	return torture_events_write(COUNTED, file, what, 0);
}

/* ---- A start and a round ---- */

static int torture_events_start(void)
{
	int err = vfs_mkdir(ROOT, COUNTED);

	is_made = !err;
	memset(is_there, 0, sizeof(is_there));
	return err ? err : torture_events_write_counted("buffer_size_kb", "64\n");
}

static void torture_events_choose_filter(void)
{
	const struct filter *chosen = &filters[torture_pick(ARRAY_SIZE(filters))];
	uint32_t number = 1 + (uint32_t)torture_pick(TORTURE_NR_TARGETS - 1);

	trace_snprintf(filter, sizeof(filter), chosen->text, number);
	nr_passing = chosen->is_per_number ? number : chosen->nr_fixed;
}

static int torture_events_begin_round(void)
{
	int err = torture_events_write_counted(EVENT "enable", "0\n");

	torture_events_choose_filter();
	if (!err)
		err = torture_events_write_counted(EVENT "filter", filter);
	if (!err)
		err = torture_events_write(COUNTED, "trace", "", VFS_TRUNCATE);
	if (!err)
		err = torture_events_write_counted(EVENT "trigger", HIST "\n");
	return err ? err : torture_events_write_counted(EVENT "enable", "1\n");
}

/* ---- Changes ---- */

static int torture_events_change_hist(uint32_t i)
{
	char line[TEXT_BYTES];
	int err;

	trace_snprintf(line, sizeof(line), "%s%s\n", is_there[i] ? "!" : "", other_hists[i]);
	err = torture_events_write_counted(EVENT "trigger", line);
	is_there[i] ^= !err;
	return err;
}

static int torture_events_make_or_remove(void)
{
	int err = changed_is_there ? vfs_rmdir(ROOT, CHANGED) : vfs_mkdir(ROOT, CHANGED);

	changed_is_there ^= !err;
	return err == -EBUSY ? 0 : err; /* a reader has it */
}

/* A trigger that is there already is no fault. */
static int torture_events_change_other(void)
{
	const struct change *change = &changes[torture_pick(ARRAY_SIZE(changes))];
	int err = torture_events_write(CHANGED, change->file, change->text, 0);

	return err == -EEXIST ? 0 : err;
}

static int torture_events_change(void)
{
	uint64_t what = torture_pick(8);

	if (what < OTHER_HISTS)
		return torture_events_change_hist((uint32_t)what);
	if (what == OTHER_HISTS)
		return torture_events_write_counted(EVENT "filter", filter);
	if (what == OTHER_HISTS + 1 || !changed_is_there)
		return torture_events_make_or_remove();
	return torture_events_change_other();
}

/* ---- Counts ---- */

struct tally {
	const char *key; /* at the start of a line */
	uint64_t nr;
};

static void torture_events_add(const char *line, void *arg)
{
	struct tally *tally = arg;
	size_t len = strlen(tally->key);
	uint64_t nr = 0;

	if (strncmp(line, tally->key, len) != 0)
		return;
	for (line += len; *line >= '0' && *line <= '9'; line++)
		nr = nr * 10 + (uint64_t)(*line - '0');
	tally->nr += nr;
}

/* Events that were recorded, whether they are still there or not, on all CPUs. */
static int torture_events_recorded(uint64_t *out_nr)
{
	static const char *const keys[] = { "entries: ", "overrun: ", "dropped events: " };
	char path[PATH_BYTES];
	int err = 0;

	*out_nr = 0;
	for (uint32_t i = 0; i < torture_nr_workers() * ARRAY_SIZE(keys) && !err; i++) {
		struct tally tally = { .key = keys[i % ARRAY_SIZE(keys)] };

		trace_snprintf(path, sizeof(path), COUNTED "/per_cpu/cpu%u/stats",
			       torture_worker_cpu(i / ARRAY_SIZE(keys)));
		err = torture_each_line(path, torture_events_add, &tally);
		*out_nr += tally.nr;
	}
	return err;
}

struct hist_lines {
	bool are_ours; /* of the histogram by target */
	uint64_t nr_keys;
	uint64_t nr_hits;
};

/* "{ target:          3 } hitcount:        640" */
static void torture_events_add_hits(const char *line, void *arg)
{
	struct hist_lines *lines = arg;
	const char *number = strrchr(line, ' ');
	uint64_t hits;

	if (strncmp(line, "# trigger info: ", 16) == 0)
		lines->are_ours = strncmp(line, HIST_INFO, strlen(HIST_INFO)) == 0;
	if (!lines->are_ours || strncmp(line, "{ target:", 9) != 0 ||
	    !command_parse_u64(number + 1, &hits))
		return;
	lines->nr_keys++;
	lines->nr_hits += hits;
}

static bool torture_events_check_hist(struct command_env *env, uint64_t expected)
{
	struct hist_lines lines = { 0 };
	int err = torture_each_line(COUNTED "/" EVENT "hist", torture_events_add_hits, &lines);
	bool is_right =
		torture_expect(env, "targets in the histogram", lines.nr_keys, TORTURE_NR_TARGETS);

	if (err)
		command_perror(env, COUNTED "/" EVENT "hist", err);
	return torture_expect(env, "hits of the histogram", lines.nr_hits,
			      expected * TORTURE_NR_TARGETS) &&
	       is_right && !err;
}

static bool torture_events_check_round(struct command_env *env, uint64_t expected)
{
	uint64_t nr;
	int err = torture_events_recorded(&nr);
	bool is_right;

	if (err)
		command_perror(env, COUNTED "/per_cpu", err);
	is_right = torture_expect(env, filter, nr, expected * nr_passing) && !err;
	is_right &= torture_events_check_hist(env, expected);
	err = torture_events_write_counted(EVENT "trigger", "!" HIST "\n");
	if (err)
		command_perror(env, "!" HIST, err);
	return is_right && !err;
}

static int torture_events_stop(void)
{
	int err = 0, changed_err = 0;

	if (changed_is_there)
		changed_err = vfs_rmdir(ROOT, CHANGED);
	changed_is_there = false;
	if (is_made)
		err = vfs_rmdir(ROOT, COUNTED);
	is_made = false;
	return err ? err : changed_err;
}

const struct torture_user torture_events = {
	.start = torture_events_start,
	.begin = torture_events_begin_round,
	.change = torture_events_change,
	.check = torture_events_check_round,
	.stop = torture_events_stop,
};
