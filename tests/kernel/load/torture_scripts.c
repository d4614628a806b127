/*
 * Scripts during a `torture`: they come and go while the workers run, and their tables must have every
 * call of the targets since they were started, less the hits that they say they have missed.
 *
 *   counted   a script that is on for some rounds, started and ended while the workers wait
 *   passing   a script that is compiled, started and ended in the middle of a round: two of its tables,
 *             counted by the same clause, must agree
 */
#include <kernel/string.h>
#include <trace/errno.h>
#include <trace/script.h>
#include <trace/trace_seq.h>
#include "torture.h"

#define NR_COUNTED    3u
#define SWITCH_ONE_IN 3u
#define TEXT_BYTES    8192u

/* Each counts a call of a target once, in the table @. */
static const char *const counted_texts[] = {
	"kprobe:target_* { @ = count(); }",
	"kprobe:target_* /arg0 < 1048576/ { @[tid, comm] = count(); }",
	"kprobe:target_* { $i = 0; while ($i < 3) { $i++; } @[func, $i] += 1; }",
	"kretprobe:target_* { @[cpu] = count(); }",
	"tracepoint:torture:torture_call { @[args.target, args.label] = count(); }",
	"rawtracepoint:torture_call { @[arg0]++; } BEGIN { @none = 1; clear(@none); }",
};

/* Each puts what one of its clauses counts into the tables @ and @b. */
static const char *const passing_texts[] = {
	"kprobe:target_* { @ = count(); @b[cpu] = count(); }",
	"kretprobe:target_* { @[cpu] = count(); @b[comm, tid] = count(); }",
	"rawtracepoint:torture_call { @[arg0] = count(); @b = count(); @h = hist(arg1); }",
	"tracepoint:torture:* { @[args.target] = count(); @b[probe, cpu] = count(); }",
};

static struct {
	struct trace_script *script;
	uint64_t nr_calls; /* of each target since it was started */
} counted[NR_COUNTED];

static char text[TEXT_BYTES];

static int start_one(const char *words, struct trace_script **out_script)
{
	struct trace_script_error error;
	int err = trace_script_create(words, NULL, out_script, &error);

	if (err)
		return err;
	err = trace_script_start(*out_script);
	if (err) {
		trace_script_free(*out_script);
		*out_script = NULL;
	}
	return err;
}

/* Behind the key, at the end of a line. */
static uint64_t number_of(const char *line, size_t len)
{
	uint64_t number = 0;
	size_t at = len;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	for (; at < len; at++)
		number = number * 10 + (uint64_t)(line[at] - '0');
	return number;
}

/* Add up the values of the table `name`, which is followed by no letter, in the lines of `seq`. */
static uint64_t sum_of(const struct trace_seq *seq, const char *name)
{
	size_t len = strlen(name), end;
	uint64_t sum = 0;

	for (size_t at = 0; at < seq->len; at = end + 1) {
		const char *line = seq->buf + at;

		for (end = at; end < seq->len && seq->buf[end] != '\n'; end++)
			;
		if (end - at > len && memcmp(line, name, len) == 0 &&
		    (line[len] == '[' || line[len] == ':'))
			sum += number_of(line, end - at);
	}
	return sum;
}

/* End a script. Its tables' sums, the second with a name, and what it has missed. */
static void end_one(struct trace_script *script, uint64_t *out_first, uint64_t *out_second,
		    struct trace_script_stats *out_stats)
{
	struct trace_seq seq;
	bool has_more;

	*out_first = *out_second = 0;
	trace_script_stop(script);
	do {
		trace_seq_init(&seq, text, sizeof(text));
		has_more = trace_script_print(script, &seq);
		*out_first += sum_of(&seq, "@");
		*out_second += sum_of(&seq, "@b");
	} while (has_more);
	trace_script_stats_get(script, out_stats);
	trace_script_free(script);
}

/* ---- Counted ---- */

static int torture_scripts_begin(void)
{
	uint64_t at = torture_pick(NR_COUNTED);

	if (counted[at].script)
		return 0;
	counted[at].nr_calls = 0;
	return start_one(
		counted_texts[torture_pick(sizeof(counted_texts) / sizeof(counted_texts[0]))],
		&counted[at].script);
}

static bool check_counted(struct command_env *env, uint32_t at)
{
	struct trace_script_stats stats;
	uint64_t first, second;

	end_one(counted[at].script, &first, &second, &stats);
	counted[at].script = NULL;
	return torture_expect(env, "keys without room in a script", stats.full, 0) &&
	       torture_expect(env, "calls in the table of a script, and missed",
			      first + stats.missed, counted[at].nr_calls * TORTURE_NR_TARGETS);
}

static uint64_t nr_wrong; /* passing scripts whose tables do not agree */

static bool torture_scripts_check(struct command_env *env, uint64_t expected)
{
	bool is_right = torture_expect(env, "scripts with two counts", nr_wrong, 0);

	for (uint32_t i = 0; i < NR_COUNTED; i++) {
		counted[i].nr_calls += expected;
		if (counted[i].script && !torture_pick(SWITCH_ONE_IN))
			is_right &= check_counted(env, i);
	}
	return is_right;
}

/* ---- Passing ---- */

static int torture_scripts_change(void)
{
	struct trace_script_stats stats;
	struct trace_script *script;
	uint64_t first, second;
	int err = start_one(
		passing_texts[torture_pick(sizeof(passing_texts) / sizeof(passing_texts[0]))],
		&script);

	if (err)
		return err;
	end_one(script, &first, &second, &stats);
	nr_wrong += first != second || stats.full;
	return 0;
}

static int torture_scripts_stop(void)
{
	for (uint32_t i = 0; i < NR_COUNTED; i++) {
		trace_script_free(counted[i].script);
		counted[i].script = NULL;
	}
	return 0;
}

const struct torture_user torture_scripts = {
	.begin = torture_scripts_begin,
	.change = torture_scripts_change,
	.check = torture_scripts_check,
	.stop = torture_scripts_stop,
};
