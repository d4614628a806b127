/*
 * `bench`: what a hit of a script costs, above the loop without it. A row fails when the script did not
 * run as often as it should have; and what compiling one costs.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/platform.h>
#include <trace/script.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_AT_TARGET "kprobe:" BENCH_TARGET " "
#define BENCH_AT_EVENT	"tracepoint:bench:bench_int "

struct bench_script {
	const char *row;
	void (*loop)(uint32_t n);
	const char *text;
	uint32_t runs; /* of clauses, for each round */
};

static const struct bench_script bench_scripts[] = {
	{ "bt_kprobe_empty", bench_loop_target, BENCH_AT_TARGET "{ }", 1 },
	{ "bt_count", bench_loop_target, BENCH_AT_TARGET "{ @ = count(); }", 1 },
	{ "bt_by_pid", bench_loop_target, BENCH_AT_TARGET "{ @[tid] = count(); }", 1 },
	{ "bt_by_comm", bench_loop_target, BENCH_AT_TARGET "{ @[comm] = count(); }", 1 },
	{ "bt_kstack", bench_loop_target, BENCH_AT_TARGET "{ @[kstack] = count(); }", 1 },
	{ "bt_latency", bench_loop_target,
	  BENCH_AT_TARGET "{ @s[tid] = nsecs; } kretprobe:" BENCH_TARGET
			  " { @ = hist(nsecs - @s[tid]); }",
	  2 },
	{ "bt_tp_count", bench_loop_event_int, BENCH_AT_EVENT "{ @ = count(); }", 1 },
	{ "bt_tp_by_pid", bench_loop_event_int, BENCH_AT_EVENT "{ @[tid] = count(); }", 1 },
	{ "bt_false", bench_loop_target, BENCH_AT_TARGET "/tid == 0/ { @ = count(); }", 0 },
	{ "bt_tp_false", bench_loop_event_int, BENCH_AT_EVENT "/tid == 0/ { @ = count(); }", 0 },
};

/* Inline: bt_kstack counts what lies above the loop. */
static TRACE_ALWAYS_INLINE int bench_script_run(struct command_env *env,
						const struct bench_script *row)
{
	uint64_t off = bench_per_round_milli(row->loop), on;
	struct trace_script_stats stats;
	struct trace_script_error error;
	struct trace_script *script;
	int err = trace_script_create(row->text, NULL, &script, &error);

	if (err) {
		command_error(env, "%s: %s", row->row, error.why);
		return err;
	}
	err = trace_script_start(script);
	on = bench_per_round_milli(row->loop);
	trace_script_stats_get(script, &stats);
	trace_script_stop(script);
	trace_script_free(script);
	if (!err)
		err = bench_check(env, row->row, stats.runs, row->runs * bench_rounds());
	if (!err)
		bench_print(env, row->row, on > off ? on - off : 0, "instructions");
	return err;
}

static int bench_script(struct command_env *env, const char *name)
{
	size_t i = 0;

	while (strcmp(bench_scripts[i].row, name) != 0)
		i++;
	return bench_script_run(env, &bench_scripts[i]);
}

/* Lesson 7 of bpftrace's tutorial, compiled. */
static int bench_script_compile(struct command_env *env, const char *name)
{
	static const char text[] =
		"kprobe:vfs_read { @start[tid] = nsecs; } kretprobe:vfs_read /@start[tid]/ "
		"{ @ns[comm] = hist(nsecs - @start[tid]); delete(@start, tid); }";
	struct trace_script_error error;
	struct trace_script *script;
	uint64_t begin;
	int err = trace_script_create(text, NULL, &script, &error);

	if (err)
		return err;
	trace_script_free(script);
	begin = trace_plat_cycles();
	err = trace_script_create(text, NULL, &script, &error);
	bench_print(env, name, (trace_plat_cycles() - begin) * 1000, "instructions");
	trace_script_free(script);
	return err;
}

/* A clause at many functions by one pattern: compiled and switched on, for each 1,000 of them. */
static int bench_script_attach(struct command_env *env, const char *name)
{
	static const char text[] = "kprobe:[a-m]* { @ = count(); }";
	uint64_t begin = trace_plat_cycles(), cycles;
	struct trace_script_error error;
	struct trace_script *script;
	int err = trace_script_create(text, NULL, &script, &error);
	uint32_t nr;

	if (!err)
		err = trace_script_start(script);
	cycles = trace_plat_cycles() - begin;
	if (!err) {
		nr = trace_script_nr_probes(script);
		bench_print(env, name, cycles * 1000 * 1000 / nr, "instructions");
	}
	trace_script_free(script);
	return err;
}

const struct bench bench_script_rows[] = {
	{ "bt_kprobe_empty", bench_script },
	{ "bt_count", bench_script },
	{ "bt_by_pid", bench_script },
	{ "bt_by_comm", bench_script },
	{ "bt_kstack", bench_script },
	{ "bt_latency", bench_script },
	{ "bt_tp_count", bench_script },
	{ "bt_tp_by_pid", bench_script },
	{ "bt_false", bench_script },
	{ "bt_tp_false", bench_script },
	{ "bt_compile", bench_script_compile },
	{ "bt_attach1000", bench_script_attach },
	{},
};
