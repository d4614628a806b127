/*
 * The `bench` command: what a traced call costs, what switching all sites costs.
 *
 * Each figure is a line `bench NAME VALUE UNIT`; the last line, `bench: ...`, says what they are
 * made of. Cycles of the time stamp counter are instructions when QEMU runs with -icount shift=0;
 * otherwise they are time, and only good for comparing.
 *
 *   per call = (cycles of a loop that calls bench_target()
 *               - cycles of the same loop that calls its untraced twin) / rounds
 *
 * Chunks run with interrupts off; the time between chunks is not counted. The loop of known length
 * (`calibrate`, 12 instructions a round) shows that the counter counts what it should.
 *
 * Context: thread.
 */
#include <kernel/string.h>
#include "../test_commands.h"
#include "bench_private.h"

static const struct bench *const tables[] = {
	bench_site_rows,   bench_tracer_rows, bench_event_rows, bench_hist_rows,
	bench_memory_rows, bench_patch_rows,  bench_probe_rows, bench_kprobe_event_rows,
	bench_sample_rows, bench_noise_rows,  bench_script_rows
};

static bool bench_is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

/* 0 or 1, the exit status. Adds to `*nr_rows` those that it ran. */
static int bench_run_table(struct command_env *env, const struct bench *row, int argc, char **argv,
			   uint32_t *nr_rows)
{
	int err, status = 0;

	for (; row->name; row++) {
		if (!bench_is_wanted(row->name, argc, argv))
			continue;
		++*nr_rows;
		err = row->run(env, row->name);
		if (err) {
			command_perror(env, row->name, err);
			status = 1;
		}
	}
	return status;
}

static int bench_run(struct command_env *env, int argc, char **argv)
{
	uint32_t nr_rows = 0;
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		status |= bench_run_table(env, tables[i], argc, argv, &nr_rows);
	if (!nr_rows) {
		command_error(env, "no row has such a name");
		return 1;
	}
	if (!status)
		command_printf(
			env,
			"bench: %u rows; a cost per call is the mean of %lu rounds, less that "
			"of a loop without the call; events recorded were as many as calls\n",
			nr_rows, BENCH_ROUNDS);
	return status;
}

const struct command bench_commands[] = {
	{ .name = "bench",
	  .usage = "[NAME...]",
	  .help = "measure what tracing costs (run QEMU with -icount shift=0)",
	  .run = bench_run },
	{}
};
