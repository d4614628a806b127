/*
 * The function profiler during a `torture`: on for some rounds, off for others. Its hits of the
 * targets, of all CPUs, must be the calls since it was switched on: the filters that torture_system
 * sets for the global trace, which the profiler follows, never leave a target out.
 */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "torture.h"

#define SWITCH_ONE_IN 4u /* rounds */
#define LOOK_ONE_IN   4u

static bool is_on;
static uint64_t nr_calls; /* of each target since then */

static int torture_profile_switch_it(bool on)
{
	int err = torture_write("function_profile_enabled", on ? "1\n" : "0\n", 0);

	is_on = err ? is_on : on;
	nr_calls = 0;
	return err;
}

/* At first once: its tables are there then, and stay. */
static int torture_profile_start(void)
{
	int err = torture_profile_switch_it(true);

	return err ? err : torture_profile_switch_it(false);
}

static int torture_profile_begin_round(void)
{
	return torture_pick(SWITCH_ONE_IN) ? 0 : torture_profile_switch_it(!is_on);
}

static const char *torture_profile_skip_spaces(const char *text)
{
	while (*text == ' ')
		text++;
	return text;
}

/* "  target_leaf                    640    12.345 us  ...": add the hits. */
static void torture_profile_add_hits(const char *line, void *arg)
{
	const char *name = torture_profile_skip_spaces(line);
	uint64_t hits = 0;

	if (strncmp(name, "target_", 7) != 0)
		return;
	line = strchr(name, ' ');
	if (!line)
		return;
	for (line = torture_profile_skip_spaces(line); *line >= '0' && *line <= '9'; line++)
		hits = hits * 10 + (uint64_t)(*line - '0');
	*(uint64_t *)arg += hits;
}

static bool torture_profile_check_round(struct command_env *env, uint64_t expected)
{
	uint64_t hits = 0;
	int err = 0;

	nr_calls += expected;
	if (!is_on || torture_pick(LOOK_ONE_IN))
		return true;
	for (uint32_t i = 0; i < torture_nr_workers() && !err; i++) {
		char path[48];

		trace_snprintf(path, sizeof(path), "trace_stat/function%u", torture_worker_cpu(i));
		err = torture_each_line(path, torture_profile_add_hits, &hits);
	}
	if (err)
		command_perror(env, "trace_stat", err);
	return torture_expect(env, "hits of the profiler", hits, nr_calls * TORTURE_NR_TARGETS) &&
	       !err;
}

static int torture_profile_stop(void)
{
	return is_on ? torture_profile_switch_it(false) : 0;
}

const struct torture_user torture_profile = {
	.start = torture_profile_start,
	.begin = torture_profile_begin_round,
	.check = torture_profile_check_round,
	.stop = torture_profile_stop,
};
