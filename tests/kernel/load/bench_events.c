/*
 * `bench`: what a trace event costs, one row for each setting.
 *
 * A figure is by how much the loop that hits the tracepoint is dearer than without listeners to
 * it; of tp_off, than an empty loop. The row fails when an instance has not as many events as there
 * should be.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/count.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_MAX_INSTANCES 2u
#define BENCH_MAX_WRITES    4u

#define EVENT(name, file) "events/bench/bench_" name "/" file

struct bench_event_setting {
	const char *row;
	void (*loop)(uint32_t n);
	uint32_t nr_instances; /* besides the root, with the same writes */
	uint32_t nr_events;    /* of a round, in each of them */
	struct {
		const char *file, *text, *undo;
	} writes[BENCH_MAX_WRITES];
};

#define ON(name)                                                                                   \
	{                                                                                          \
		EVENT(name, "enable"), "1", "0"                                                    \
	}
#define INT_ON	 ON("int")
#define THREE_ON ON("three")
/* Each event is a step, from one state to the other. */
#define MONITOR                                                                                    \
	{                                                                                          \
		"monitors", "m:bench per=cpu enable=1 a -bench_int-> b -bench_int-> a", ""         \
	}
/* The same with a condition about time at one of two, and a clock reset at the other. */
#define TIMED                                                                                      \
	{                                                                                          \
		"monitors",                                                                        \
			"m:bench per=cpu enable=1 a -bench_int(reset(x))-> b -bench_int(x < "      \
			"1s)-> a",                                                                 \
			""                                                                         \
	}
/* The time between two events, as values of a synthetic event. */
#define LATENCY                                                                                    \
	{ "synthetic_events", "bench_lat u64 lat; int id", "" },                                   \
		{ EVENT("begin", "trigger"), "hist:keys=id:ts0=common_timestamp.usecs", "" },      \
	{                                                                                          \
		EVENT("end", "trigger"),                                                           \
			"hist:keys=id:lat=common_timestamp.usecs-$ts0:"                            \
			"onmatch(bench.bench_begin).bench_lat($lat,id)",                           \
			""                                                                         \
	}

static const struct bench_event_setting settings[] = {
	{ "event_int", bench_loop_event_int, 0, 1, { INT_ON } },
	{ "event_three", bench_loop_event_three, 0, 1, { THREE_ON } },
	{ "event_dynstr", bench_loop_event_text, 0, 1, { ON("text") } },
	{ "filter_match",
	  bench_loop_event_int,
	  0,
	  1,
	  { INT_ON, { EVENT("int", "filter"), "value >= 0", "0" } } },
	{ "filter_discard",
	  bench_loop_event_int,
	  0,
	  0,
	  { INT_ON, { EVENT("int", "filter"), "value < 0", "0" } } },
	{ "filter_3and",
	  bench_loop_event_int,
	  0,
	  1,
	  { INT_ON,
	    { EVENT("int", "filter"), "value >= 0 && value < 1000000 && value != 7777777",
	      "0" } } },
	{ "filter_str_match",
	  bench_loop_event_three,
	  0,
	  1,
	  { THREE_ON, { EVENT("three", "filter"), "name == \"sixteen letters\"", "0" } } },
	{ "filter_str_discard",
	  bench_loop_event_three,
	  0,
	  0,
	  { THREE_ON, { EVENT("three", "filter"), "name == \"other\"", "0" } } },
	{ "event_off", bench_loop_event_int, 0, 0, { INT_ON, { "tracing_on", "0", "1" } } },
	{ "event_pid_miss",
	  bench_loop_event_int,
	  0,
	  0,
	  { INT_ON, { "set_event_pid", "1000000", "" } } },
	{ "event_soft_off",
	  bench_loop_event_int,
	  0,
	  0,
	  { { EVENT("text", "trigger"), "enable_event:bench:bench_int",
	      "!enable_event:bench:bench_int" } } },
	{ "event_clock",
	  bench_loop_event_int,
	  0,
	  1,
	  { INT_ON, { "trace_clock", "global", "local" } } },
	{ "monitor_off", bench_loop_event_int, 0, 0, { MONITOR } },
	{ "monitor_on", bench_loop_event_int, 0, 1, { INT_ON, MONITOR } },
	{ "monitor_timed", bench_loop_event_int, 0, 0, { TIMED } },
	{ "event_inst2", bench_loop_event_int, 1, 1, { INT_ON } },
	{ "event_inst3", bench_loop_event_int, 2, 1, { INT_ON } },
	{ "event_stack",
	  bench_loop_event_int,
	  0,
	  2,
	  { INT_ON, { "options/stacktrace", "1", "0" } } },
	{ "synth_latency",
	  bench_loop_event_pair,
	  0,
	  1,
	  { LATENCY, { "events/synthetic/bench_lat/enable", "1", "0" } } },
	{ "synth_off", bench_loop_event_pair, 0, 0, { LATENCY } },
};

/* One write to a file of the root (0) or of an instance. */
static int bench_event_write(uint32_t inst, const char *file, const char *text)
{
	char name[96];

	if (!inst)
		return bench_write_file(file, text);
	trace_snprintf(name, sizeof(name), "instances/bench%u/%s", inst, file);
	return bench_write_file(name, text);
}

static void bench_event_count(uint32_t inst, struct bench_counts *out_counts)
{
	char dir[32] = "";

	if (inst)
		trace_snprintf(dir, sizeof(dir), "instances/bench%u/", inst);
	bench_count(dir, out_counts);
}

static int bench_event_start(const struct bench_event_setting *setting, uint32_t inst)
{
	char dir[32];
	int err = 0;

	if (inst) {
		trace_snprintf(dir, sizeof(dir), "instances/bench%u", inst);
		err = bench_make_instance(dir);
	}
	for (size_t i = 0; !err && i < BENCH_MAX_WRITES && setting->writes[i].file; i++)
		err = bench_event_write(inst, setting->writes[i].file, setting->writes[i].text);
	return err ? err : bench_event_write(inst, "trace", "");
}

/* Also when the start came halfway. */
static void bench_event_stop(const struct bench_event_setting *setting, uint32_t inst)
{
	char dir[32];

	for (size_t i = BENCH_MAX_WRITES; i-- > 0;) {
		if (setting->writes[i].file)
			bench_event_write(inst, setting->writes[i].file, setting->writes[i].undo);
	}
	bench_event_write(inst, "trace", "");
	if (inst) {
		trace_snprintf(dir, sizeof(dir), "instances/bench%u", inst);
		bench_remove_instance(dir);
	}
}

/* Have the events of the last measurement been kept? 0 or -ERANGE. */
static int bench_event_check(struct command_env *env, const struct bench_event_setting *setting,
			     const struct bench_counts *before)
{
	uint64_t wanted = bench_rounds() * setting->nr_events;
	struct bench_counts after;
	int err = 0;

	for (uint32_t inst = 0; inst <= setting->nr_instances; inst++) {
		const struct bench_counts *was = &before[inst];

		bench_event_count(inst, &after);
		err |= bench_check(env, setting->row,
				   after.entries + after.overrun - was->entries - was->overrun,
				   wanted);
		err |= bench_check(env, setting->row, after.dropped - was->dropped, 0);
	}
	return err ? -ERANGE : 0;
}

/* Inline: event_stack counts what lies above the loop. */
static TRACE_ALWAYS_INLINE int bench_event_run(struct command_env *env,
					       const struct bench_event_setting *setting)
{
	struct bench_counts before[BENCH_MAX_INSTANCES + 1];
	uint64_t off = bench_per_round_milli(setting->loop), on = 0;
	uint32_t nr = 0;
	int err = 0;

	while (!err && nr <= setting->nr_instances)
		err = bench_event_start(setting, nr++);
	for (uint32_t inst = 0; inst <= setting->nr_instances && !err; inst++)
		bench_event_count(inst, &before[inst]);
	if (!err)
		on = bench_per_round_milli(setting->loop);
	if (!err)
		err = bench_event_check(env, setting, before);
	while (nr)
		bench_event_stop(setting, --nr);
	if (!err)
		bench_print(env, setting->row, on > off ? on - off : 0, "instructions");
	return err;
}

static int bench_event(struct command_env *env, const char *name)
{
	size_t i = 0;

	while (strcmp(settings[i].row, name) != 0)
		i++;
	return bench_event_run(env, &settings[i]);
}

static int bench_tp_off(struct command_env *env, const char *name)
{
	bench_print(env, name, bench_measure_above(bench_loop_event_int, bench_loop_empty),
		    "instructions");
	return 0;
}

static int bench_tp_probe(struct command_env *env, const char *name)
{
	uint64_t off = bench_per_round_milli(bench_loop_event_int), on;
	int err = bench_event_probe(true);

	if (err)
		return err;
	on = bench_per_round_milli(bench_loop_event_int);
	bench_print(env, name, on - off, "instructions");
	return bench_event_probe(false);
}

/* An event counted for the command stat, of a thread that belongs to the count. */
static int bench_count_event(struct command_env *env, const char *name)
{
	uint64_t off = bench_per_round_milli(bench_loop_event_int), on = 0;
	struct counts *counts;
	uint64_t nr = 0;
	int err = count_open(0, &counts);

	if (err)
		return err;
	err = count_add(counts, 0, "bench_int", COUNT_PASSED);
	if (!err)
		err = count_start(counts);
	if (!err) {
		count_children(counts); /* and this thread, which starts none */
		on = bench_per_round_milli(bench_loop_event_int);
		count_children(NULL);
		count_stop(counts);
		for (uint32_t row = 0; row < COUNT_ROWS; row++)
			nr += count_value(counts, 0, row);
		err = bench_check(env, name, nr, bench_rounds());
	}
	count_close(counts);
	if (!err)
		bench_print(env, name, on - off, "instructions");
	return err;
}

/* Instructions of a write to a file, or -errno. */
static int bench_cost_of_write(const char *file, const char *text, uint64_t *out_cycles)
{
	uint64_t start = trace_plat_cycles();
	int err = bench_write_file(file, text);

	*out_cycles = trace_plat_cycles() - start;
	return err;
}

/* All events on, with `tracing_on` 0: what switching costs, per event, not what they record. */
static int bench_events_all_on(struct command_env *env, const char *name)
{
	uint64_t nr = bench_count_lines("available_events"), cycles = 0;
	struct trace_poke_stats before, after;
	int err = bench_write_file("tracing_on", "0");

	if (!err)
		err = bench_write_file("events/enable", "1"); /* the first time allocates */
	if (!err)
		err = bench_write_file("events/enable", "0");
	trace_plat_poke_stats(&before);
	if (!err)
		err = bench_cost_of_write("events/enable", "1", &cycles);
	trace_plat_poke_stats(&after);
	bench_write_file("events/enable", "0");
	bench_write_file("tracing_on", "1");
	if (err || !nr)
		return err ? err : -ENOENT;
	bench_print(env, name, cycles * 1000 / nr, "instructions/event");
	bench_print(env, "events_all_syncs", (after.syncs - before.syncs) * 1000, "syncs");
	bench_print(env, "events", nr * 1000, "events");
	return 0;
}

#define BENCH_LINES 5000u

/* The buffer holds events with three fields: what one line of `trace` costs. */
static int bench_event_line(struct command_env *env, const char *name)
{
	int err = bench_write_file(EVENT("three", "enable"), "1");
	uint64_t cycles, lines;

	if (err)
		return err;
	bench_write_file("trace", "");
	bench_loop_event_three(BENCH_LINES);
	bench_write_file(EVENT("three", "enable"), "0");
	cycles = bench_cost_of_reading("trace");
	lines = bench_count_lines("trace");
	bench_write_file("trace", "");
	if (lines < BENCH_LINES) /* there are some more, of the head */
		return bench_check(env, name, lines, BENCH_LINES);
	bench_print(env, name, cycles * 1000 / BENCH_LINES, "instructions");
	return 0;
}

/* Of each switch, head included; those from here to the idle thread and back. */
static int bench_event_bytes(struct command_env *env, const char *name)
{
	struct bench_counts counts;
	int err = bench_write_file("events/sched/sched_switch/enable", "1");

	if (err)
		return err;
	bench_write_file("trace", "");
	for (uint32_t i = 0; i < 10; i++)
		thread_sleep_ns(1000000);
	bench_write_file("events/sched/sched_switch/enable", "0");
	bench_count("", &counts);
	bench_write_file("trace", "");
	if (!counts.entries)
		return -ENOENT;
	bench_print(env, name, counts.bytes * 1000 / counts.entries, "bytes");
	return 0;
}

static int bench_instance(struct command_env *env, const char *name)
{
	uint64_t start = trace_plat_cycles();
	int err = bench_make_instance("instances/bench");

	start = trace_plat_cycles() - start;
	if (err)
		return err;
	bench_remove_instance("instances/bench");
	bench_print(env, name, start * 1000, "instructions");
	return 0;
}

const struct bench bench_event_rows[] = {
	{ "tp_off", bench_tp_off },
	{ "tp_probe", bench_tp_probe },
	{ "count_event", bench_count_event },
	{ "event_int", bench_event },
	{ "event_three", bench_event },
	{ "event_dynstr", bench_event },
	{ "event_off", bench_event },
	{ "event_pid_miss", bench_event },
	{ "event_soft_off", bench_event },
	{ "event_clock", bench_event },
	{ "monitor_off", bench_event },
	{ "monitor_on", bench_event },
	{ "monitor_timed", bench_event },
	{ "event_inst2", bench_event },
	{ "event_inst3", bench_event },
	{ "event_stack", bench_event },
	{ "filter_match", bench_event },
	{ "filter_discard", bench_event },
	{ "filter_3and", bench_event },
	{ "filter_str_match", bench_event },
	{ "filter_str_discard", bench_event },
	{ "synth_latency", bench_event },
	{ "synth_off", bench_event },
	{ "event_bytes", bench_event_bytes },
	{ "trace_line_event", bench_event_line },
	{ "events_all_on", bench_events_all_on },
	{ "instance_make", bench_instance },
	{},
};
