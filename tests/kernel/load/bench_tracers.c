/*
 * `bench`: what a call costs while tracers of tracefs record it, one row for each setting.
 *
 * A setting is made by writes to tracefs, and taken back the same way afterwards. The row fails
 * when an instance has not as many events as there were calls to record.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_MAX_INSTANCES 8u
#define BENCH_FILL_CHUNKS   10000u /* more than a buffer has room for */

struct bench_setting {
	const char *row;
	const char *variant; /* of a row that shows the dearest of several */
	const char *tracer;  /* of the root and all instances; NULL: none */
	uint32_t nr_events;  /* of a call, in the root and each instance */
	uint32_t nr_instances;
	bool drops; /* they find the buffer full */
	bool has_profiler;
	bool has_args;	       /* calls of a function with three arguments */
	const char *bytes_row; /* of the bytes that a call takes in the buffer; NULL: not shown */
	struct {
		const char *file, *text, *undo;
	} write;
};

static const char function[] = "function", graph[] = "function_graph";

static const struct bench_setting settings[] = {
	{ "func_event", NULL, function, 1, .bytes_row = "func_event_bytes" },
	{ "func_off", NULL, function, 0, .write = { "tracing_on", "0", "1" } },
	{ "func_full", NULL, function, 1, .drops = true,
	  .write = { "options/overwrite", "0", "1" } },
	{ "func_stack", NULL, function, 2, .write = { "options/func_stack_trace", "1", "0" } },
	{ "func_pid_miss", NULL, function, 0, .write = { "set_ftrace_pid", "1000000", "" } },
	{ "func_clock", "mono", function, 1, .write = { "trace_clock", "mono", "local" } },
	{ "func_clock", "global", function, 1, .write = { "trace_clock", "global", "local" } },
	{ "func_clock", "uptime", function, 1, .write = { "trace_clock", "uptime", "local" } },
	{ "func_clock", "counter", function, 1, .write = { "trace_clock", "counter", "local" } },
	{ "func_clock", "x86-tsc", function, 1, .write = { "trace_clock", "x86-tsc", "local" } },
	{ "func_args3", NULL, function, 1, .has_args = true, .bytes_row = "func_args3_bytes",
	  .write = { "options/func-args", "1", "0" } },
	{ "func_profile", NULL, function, .nr_events = 1, .has_profiler = true },
	{ "func_inst1", NULL, function, .nr_instances = 1, .nr_events = 1 },
	{ "func_inst8", NULL, function, .nr_instances = 8, .nr_events = 1 },
	{ "profile", .has_profiler = true },
	{ "graph_pair", NULL, graph, 2, .bytes_row = "graph_bytes" },
	{ "graph_off", NULL, graph, 0, .write = { "tracing_on", "0", "1" } },
	{ "graph_options", "retval", graph, 2, .write = { "options/funcgraph-retval", "1", "0" } },
	{ "graph_options", "retaddr", graph, 2,
	  .write = { "options/funcgraph-retaddr", "1", "0" } },
	{ "graph_options", "depth", graph, 2, .write = { "max_graph_depth", "5", "0" } },
	{ "graph_options", "noirqs", graph, 2, .write = { "options/funcgraph-irqs", "0", "1" } },
	{ "graph_options", "notrace", graph, 2, .write = { "set_graph_notrace", "kmalloc", "" } },
	{ "graph_options", "nosleep-time", graph, 2, .write = { "options/sleep-time", "0", "1" } },
	{ "graph_global", NULL, graph, 2, .write = { "trace_clock", "global", "local" } },
	{ "graph_inst1", NULL, graph, .nr_instances = 1, .nr_events = 2 },
	{ "graph_inst4", NULL, graph, .nr_instances = 4, .nr_events = 2 },
};

/* One write to a file of the root (0) or of an instance. */
static int bench_write(uint32_t inst, const char *file, const char *text)
{
	char name[64];

	if (inst)
		trace_snprintf(name, sizeof(name), "instances/bench%u/%s", inst, file);
	else
		trace_snprintf(name, sizeof(name), "%s", file);
	return bench_write_file(name, text);
}

static void bench_count_inst(uint32_t inst, struct bench_counts *out_counts)
{
	char dir[32] = "";

	if (inst)
		trace_snprintf(dir, sizeof(dir), "instances/bench%u/", inst);
	bench_count(dir, out_counts);
}

static int bench_start(const struct bench_setting *setting, uint32_t inst)
{
	char dir[32];
	int err = 0;

	if (inst) {
		trace_snprintf(dir, sizeof(dir), "instances/bench%u", inst);
		err = bench_make_instance(dir);
	}
	if (!err)
		err = bench_write(inst, "set_ftrace_filter",
				  setting->has_args ? BENCH_TARGET_ARGS : BENCH_TARGET);
	if (!err && setting->tracer)
		err = bench_write(inst, "current_tracer", setting->tracer);
	if (!err)
		err = bench_write(inst, "trace", "");
	if (!err && setting->write.file)
		err = bench_write(inst, setting->write.file, setting->write.text);
	return err;
}

/* Also when the start came halfway. */
static void bench_stop(const struct bench_setting *setting, uint32_t inst)
{
	char dir[32];

	bench_write(inst, "current_tracer", "nop");
	if (setting->write.file)
		bench_write(inst, setting->write.file, setting->write.undo);
	bench_write(inst, "set_ftrace_filter", "");
	bench_write(inst, "trace", "");
	if (inst) {
		trace_snprintf(dir, sizeof(dir), "instances/bench%u", inst);
		bench_remove_instance(dir);
	}
}

static void bench_fill(void)
{
	struct bench_counts counts;

	for (uint32_t i = 0; i < BENCH_FILL_CHUNKS; i++) {
		bench_loop_target(BENCH_CHUNK);
		bench_count_inst(0, &counts);
		if (counts.dropped)
			return;
	}
}

/*
 * The figure, while the setting is in force; fails when events are missing. Inline: func_stack
 * counts what lies above the target.
 */
static TRACE_ALWAYS_INLINE int bench_measure_setting(struct command_env *env,
						     const struct bench_setting *setting,
						     uint64_t *out_milli)
{
	struct bench_counts before[BENCH_MAX_INSTANCES + 1], after;
	uint64_t hits, wanted = bench_calls() * setting->nr_events;
	int err = 0;

	if (setting->drops)
		bench_fill();
	hits = bench_profile_hits();
	for (uint32_t inst = 0; inst <= setting->nr_instances; inst++)
		bench_count_inst(inst, &before[inst]);
	if (setting->has_args)
		*out_milli = bench_measure_above(bench_loop_args, bench_loop_args_untraced);
	else
		*out_milli = bench_measure_above(bench_loop_target, bench_loop_untraced);
	for (uint32_t inst = 0; inst <= setting->nr_instances; inst++) {
		const struct bench_counts *was = &before[inst];
		uint64_t kept;

		bench_count_inst(inst, &after);
		kept = after.entries + after.overrun - was->entries - was->overrun;
		err |= bench_check(env, setting->row, kept, setting->drops ? 0 : wanted);
		err |= bench_check(env, setting->row, after.dropped - was->dropped,
				   setting->drops ? wanted : 0);
	}
	hits = bench_profile_hits() - hits;
	err |= bench_check(env, setting->row, hits, setting->has_profiler ? bench_calls() : 0);
	return err ? -ERANGE : 0;
}

static void bench_print_bytes(struct command_env *env, const struct bench_setting *setting)
{
	struct bench_counts counts;

	bench_count_inst(0, &counts);
	if (setting->bytes_row && counts.entries)
		bench_print(env, setting->bytes_row,
			    counts.bytes * 1000 * setting->nr_events / counts.entries, "bytes");
}

/* The same with all that comes before and afterwards. */
static TRACE_ALWAYS_INLINE int
bench_run_setting(struct command_env *env, const struct bench_setting *setting, uint64_t *out_milli)
{
	uint32_t nr = 0;
	int err = 0;

	while (!err && nr <= setting->nr_instances)
		err = bench_start(setting, nr++);
	if (!err && setting->has_profiler)
		err = bench_write_file("function_profile_enabled", "1");
	if (!err)
		err = bench_measure_setting(env, setting, out_milli);
	if (!err)
		bench_print_bytes(env, setting);
	if (setting->has_profiler)
		bench_write_file("function_profile_enabled", "0");
	while (nr)
		bench_stop(setting, --nr);
	return err;
}

static void bench_print_variant(struct command_env *env, const struct bench_setting *setting,
				uint64_t milli)
{
	char name[64];

	trace_snprintf(name, sizeof(name), "%s:%s", setting->row, setting->variant);
	bench_print(env, name, milli, "instructions");
}

/* All settings of a row; the dearest counts. */
static int bench_tracer(struct command_env *env, const char *name)
{
	uint64_t milli = 0, dearest = 0;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (strcmp(settings[i].row, name) != 0)
			continue;
		err = bench_run_setting(env, &settings[i], &milli);
		if (err)
			return err;
		if (settings[i].variant)
			bench_print_variant(env, &settings[i], milli);
		dearest = milli > dearest ? milli : dearest;
	}
	bench_print(env, name, dearest, "instructions");
	return 0;
}

const struct bench bench_tracer_rows[] = {
	{ "func_event", bench_tracer },	   { "func_off", bench_tracer },
	{ "func_full", bench_tracer },	   { "func_stack", bench_tracer },
	{ "func_pid_miss", bench_tracer }, { "func_clock", bench_tracer },
	{ "func_args3", bench_tracer },	   { "func_profile", bench_tracer },
	{ "func_inst1", bench_tracer },	   { "func_inst8", bench_tracer },
	{ "profile", bench_tracer },	   { "graph_pair", bench_tracer },
	{ "graph_off", bench_tracer },	   { "graph_options", bench_tracer },
	{ "graph_global", bench_tracer },  { "graph_inst1", bench_tracer },
	{ "graph_inst4", bench_tracer },   {},
};
