/*
 * Rows of events that users put at instructions: what one costs where its probe is, and what
 * defining it costs.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include <trace/platform.h>

#include "bench.h"
#include "bench_private.h"

#define NR_DEFINED 100u /* of which one is measured */

struct bench_kprobe_event {
	const char *row;
	const char *line;  /* with the address of a text in it, perhaps */
	const char *event; /* that is switched on */
	const char *filter, *trigger;
	void (*loop)(uint32_t n);
	void (*base)(uint32_t n);
	uint32_t nr_events; /* of a round */
	const char *bytes_row;
};

#define TARGET(row_, args, bytes)                                                                  \
	{                                                                                          \
		.row = (row_), .line = "p:bench/probe bench_target " args, .event = "bench/probe", \
		.loop = bench_loop_target, .base = bench_loop_untraced, .nr_events = 1,            \
		.bytes_row = (bytes)                                                               \
	}

static const struct bench_kprobe_event settings[] = {
	TARGET("kprobe_event0", "", "kprobe_event_bytes0"),
	TARGET("kprobe_event1", "%%di", "kprobe_event_bytes1"),
	TARGET("kprobe_event3", "%%di %%si %%dx", "kprobe_event_bytes3"),
	TARGET("kprobe_event_mem", "+0(\\0x%lx)", NULL),
	TARGET("kprobe_event_str", "+0(\\0x%lx):string", NULL),
	{ .row = "kprobe_filter_discard",
	  .line = "p:bench/probe bench_target a=%%di",
	  .event = "bench/probe",
	  .filter = "a == 0x123456789abcdef",
	  .loop = bench_loop_target,
	  .base = bench_loop_untraced },
	{ .row = "kprobe_hist",
	  .line = "p:bench/probe bench_target a=%%di",
	  .event = "bench/probe",
	  .trigger = "hist:keys=a",
	  .loop = bench_loop_target,
	  .base = bench_loop_untraced },
	{ .row = "kretprobe_event",
	  .line = "r:bench/probe bench_target %%ax",
	  .event = "bench/probe",
	  .loop = bench_loop_target,
	  .base = bench_loop_untraced,
	  .nr_events = 1 },
	{ .row = "eprobe_int",
	  .line = "e:bench/probe bench.bench_int value=$value:s32",
	  .event = "bench/probe",
	  .loop = bench_loop_event_int,
	  .base = bench_loop_empty,
	  .nr_events = 1 },
};

static const char bench_text[] = "sixteen letters";

static int write_file(const struct bench_kprobe_event *setting, const char *file, const char *text)
{
	char name[80];

	trace_snprintf(name, sizeof(name), "events/%s/%s", setting->event, file);
	return bench_write_file(name, text);
}

/* Is there an event for each round? If so, how long is it? */
static int bench_kprobe_event_check(struct command_env *env,
				    const struct bench_kprobe_event *setting)
{
	struct bench_counts counts;
	int err;

	bench_write_file("trace", "");
	setting->loop(100);
	bench_count("", &counts);
	err = bench_check(env, setting->row, counts.entries, 100ul * setting->nr_events);
	if (!err && setting->bytes_row)
		bench_print(env, setting->bytes_row, counts.bytes * 1000 / counts.entries, "bytes");
	return err;
}

static int bench_kprobe_event_measure(struct command_env *env,
				      const struct bench_kprobe_event *setting)
{
	char undo[64];
	int err = write_file(setting, setting->trigger ? "trigger" : "enable",
			     setting->trigger ? setting->trigger : "1");

	if (!err && setting->filter)
		err = write_file(setting, "filter", setting->filter);
	if (!err)
		err = bench_kprobe_event_check(env, setting);
	if (!err)
		bench_print(env, setting->row, bench_measure_above(setting->loop, setting->base),
			    "instructions");
	if (setting->trigger) {
		trace_snprintf(undo, sizeof(undo), "!%s", setting->trigger);
		(void)write_file(setting, "trigger", undo);
	}
	(void)write_file(setting, "enable", "0");
	return err;
}

static int bench_kprobe_event(struct command_env *env, const char *name)
{
	char line[80];
	size_t i = 0;
	int err;

	while (strcmp(settings[i].row, name) != 0)
		i++;
	trace_snprintf(line, sizeof(line), settings[i].line, (unsigned long)(uintptr_t)bench_text);
	err = bench_write_file("dynamic_events", line);
	if (!err)
		err = bench_kprobe_event_measure(env, &settings[i]);
	bench_write_file("dynamic_events", "-:bench/probe");
	bench_write_file("trace", "");
	return err;
}

/* The mean of some: they are at one function, and have names of their own. */
static int bench_kprobe_define(struct command_env *env, const char *name)
{
	uint64_t cost = 0, start;
	char line[64];
	int err = 0;

	for (uint32_t i = 0; i < NR_DEFINED && !err; i++) {
		trace_snprintf(line, sizeof(line), "p:bench/define%u bench_target", i);
		start = trace_plat_cycles();
		err = bench_write_file("dynamic_events", line);
		cost += trace_plat_cycles() - start;
	}
	if (!err)
		bench_print(env, name, cost * 1000 / NR_DEFINED, "instructions");
	for (uint32_t i = 0; i < NR_DEFINED; i++) {
		trace_snprintf(line, sizeof(line), "-:bench/define%u", i);
		bench_write_file("dynamic_events", line);
	}
	return err;
}

const struct bench bench_kprobe_event_rows[] = {
	{ "kprobe_event0", bench_kprobe_event },
	{ "kprobe_event1", bench_kprobe_event },
	{ "kprobe_event3", bench_kprobe_event },
	{ "kprobe_event_mem", bench_kprobe_event },
	{ "kprobe_event_str", bench_kprobe_event },
	{ "kprobe_filter_discard", bench_kprobe_event },
	{ "kprobe_hist", bench_kprobe_event },
	{ "kretprobe_event", bench_kprobe_event },
	{ "eprobe_int", bench_kprobe_event },
	{ "kprobe_define", bench_kprobe_define },
	{},
};
