/*
 * Rows of events that users put at instructions: what one costs where its probe is, and what
 * defining it costs, in instructions and in memory.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include <trace/kprobe.h>
#include <trace/platform.h>

#include "bench.h"
#include "bench_private.h"

#define NR_DEFINED	100u /* of which one is measured */
#define NR_AT_FUNCTIONS 1000u

#define OPCODE_INT3 0xcc
#define OPCODE_JUMP 0xe9

struct bench_kprobe_event {
	const char *row;
	const char *line; /* with the address of a text in it, perhaps, or the offset of the move */
	const char *event; /* that is switched on */
	const char *filter, *trigger;
	void (*loop)(uint32_t n);
	void (*base)(uint32_t n);
	uint32_t nr_events; /* of a round */
	uint8_t opcode; /* that the probe puts in place of the move; 0: it is at the call site */
	const char *bytes_row;
};

#define TARGET(row_, args, bytes)                                                                  \
	{                                                                                          \
		.row = (row_), .line = "p:bench/probe bench_target " args, .event = "bench/probe", \
		.loop = bench_loop_target, .base = bench_loop_untraced, .nr_events = 1,            \
		.bytes_row = (bytes)                                                               \
	}

#define AT_MOVE(row_, opcode_)                                                                     \
	{                                                                                          \
		.row = (row_), .line = "p:bench/probe bench_target+%lu", .opcode = (opcode_),      \
		.event = "bench/probe", .loop = bench_loop_target, .base = bench_loop_untraced,    \
		.nr_events = 1                                                                     \
	}

static const struct bench_kprobe_event settings[] = {
	TARGET("kprobe_event0", "", "kprobe_event_bytes0"),
	TARGET("kprobe_event1", "%%di", "kprobe_event_bytes1"),
	TARGET("kprobe_event3", "%%di %%si %%dx", "kprobe_event_bytes3"),
	TARGET("kprobe_event_mem", "+0(\\0x%lx)", NULL),
	TARGET("kprobe_event_str", "+0(\\0x%lx):string", NULL),
	AT_MOVE("kprobe_event_jump", OPCODE_JUMP),
	AT_MOVE("kprobe_event_int3", OPCODE_INT3),
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

/* Wait until the probe is in the move's place as it should be: breakpoints become jumps later. */
static int bench_wait_for_opcode(uintptr_t move, uint8_t opcode)
{
	for (int i = 0; i < 50 && *(const volatile uint8_t *)move != opcode; i++)
		thread_sleep_ns(2 * NSEC_PER_MSEC);
	return *(const volatile uint8_t *)move == opcode ? 0 : -ETIMEDOUT;
}

static int bench_kprobe_event_measure(struct command_env *env,
				      const struct bench_kprobe_event *setting, uintptr_t move)
{
	char undo[64];
	int err = write_file(setting, setting->trigger ? "trigger" : "enable",
			     setting->trigger ? setting->trigger : "1");

	if (!err && setting->filter)
		err = write_file(setting, "filter", setting->filter);
	if (!err && setting->opcode)
		err = bench_wait_for_opcode(move, setting->opcode);
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
	uintptr_t move = bench_probe_move();
	char line[80];
	size_t i = 0;
	int err;

	while (strcmp(settings[i].row, name) != 0)
		i++;
	trace_snprintf(line, sizeof(line), settings[i].line,
		       (unsigned long)(settings[i].opcode ? move - (uintptr_t)bench_target
							  : (uintptr_t)bench_text));
	err = bench_write_file("dynamic_events", line);
	if (!err)
		err = bench_kprobe_event_measure(env, &settings[i], move);
	bench_write_file("dynamic_events", "-:bench/probe");
	bench_write_file("trace", "");
	return err;
}

static int bench_kprobe_event_int3(struct command_env *env, const char *name)
{
	int err = kprobes_set_optimization(false);

	if (!err)
		err = bench_kprobe_event(env, name);
	kprobes_set_optimization(true);
	return err;
}

/* ---- Many ---- */

/* Define the event `bench/defineI` at a place, and add what the write takes to `cost`. */
static int bench_define(uint32_t i, const char *place, const char *args, uint64_t *cost)
{
	char line[TRACE_SYM_LEN + 64];
	uint64_t start;
	int err;

	trace_snprintf(line, sizeof(line), "p:bench/define%u %s %s", i, place, args);
	start = trace_plat_cycles();
	err = bench_append_file("dynamic_events", line);
	if (!err)
		*cost += trace_plat_cycles() - start;
	return err;
}

static void bench_undefine_all(void)
{
	bench_write_file("dynamic_events", "");
}

/*
 * Define `nr` events with these arguments, each at a function of its own: the first that can be had.
 * 0 or -errno.
 */
static int bench_define_at_functions(uint32_t nr, const char *args, uint64_t *cost)
{
	const uintptr_t *sites;
	size_t nr_sites, size;
	char func[TRACE_SYM_LEN];
	uintptr_t start;
	uint32_t done = 0;

	sites = trace_plat_sites(&nr_sites);
	for (size_t i = 0; i < nr_sites && done < nr; i++) {
		if (trace_plat_symbol(sites[i], func, &start, &size) &&
		    !bench_define(done, func, args, cost))
			done++;
	}
	if (done < nr)
		bench_undefine_all();
	return done < nr ? -ENOSPC : 0;
}

/* The mean of some: they are at one function, and have names of their own. */
static int bench_kprobe_define(struct command_env *env, const char *name)
{
	uint64_t cost = 0;
	int err = 0;

	for (uint32_t i = 0; i < NR_DEFINED && !err; i++)
		err = bench_define(i, BENCH_TARGET, "", &cost);
	if (!err)
		bench_print(env, name, cost * 1000 / NR_DEFINED, "instructions");
	bench_undefine_all();
	return err;
}

static int bench_kprobe_define1000(struct command_env *env, const char *name)
{
	uint64_t cost = 0;
	int err = bench_define_at_functions(NR_AT_FUNCTIONS, "", &cost);

	if (err)
		return err;
	bench_print(env, name, cost * 1000, "instructions");
	bench_undefine_all();
	return 0;
}

static const struct bench_kprobe_bytes {
	const char *row;
	const char *args;
	bool is_on; /* they are switched on, too */
} bytes_settings[] = {
	{ .row = "kprobe_bytes", .args = "" },
	{ .row = "kprobe_bytes1", .args = "%di" },
	{ .row = "kprobe_bytes3", .args = "%di %si %dx" },
	{ .row = "kprobe_bytes_on", .args = "", .is_on = true },
};

/* Define some, and switch them on if the setting says so. 0 or -errno. */
static int bench_kprobe_bytes_begin(const struct bench_kprobe_bytes *setting, uint32_t nr)
{
	uint64_t cost = 0;
	int err = bench_define_at_functions(nr, setting->args, &cost);

	if (!err && setting->is_on)
		err = bench_write_file("events/bench/enable", "1");
	return err;
}

static void bench_kprobe_bytes_end(const struct bench_kprobe_bytes *setting)
{
	if (setting->is_on)
		bench_write_file("events/bench/enable", "0");
	bench_undefine_all();
}

/* Bytes that some probes take when they are defined, each at a function of its own. 0 or -errno. */
static int bench_kprobe_bytes_once(const struct bench_kprobe_bytes *setting, uint64_t *out_bytes)
{
	uint64_t before = bench_settled_bytes();
	int err = bench_kprobe_bytes_begin(setting, NR_DEFINED);

	*out_bytes = bench_settled_bytes() - before;
	bench_kprobe_bytes_end(setting);
	return err;
}

/* A share of that. It is measured until it stays the same: tables that have grown may stay so. */
static int bench_kprobe_bytes(struct command_env *env, const char *name)
{
	const struct bench_kprobe_bytes *setting = bytes_settings;
	uint64_t bytes = 0, last = 1;
	int err = 0;

	while (strcmp(setting->row, name) != 0)
		setting++;
	for (uint32_t round = 0; !err && bytes != last && round < 8; round++) {
		last = bytes;
		err = bench_kprobe_bytes_once(setting, &bytes);
	}
	if (!err)
		bench_print(env, name, bytes * 1000 / NR_DEFINED, "bytes");
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
	{ "kprobe_define1000", bench_kprobe_define1000 },
	{ "kprobe_bytes", bench_kprobe_bytes },
	{ "kprobe_bytes1", bench_kprobe_bytes },
	{ "kprobe_bytes3", bench_kprobe_bytes },
	{ "kprobe_bytes_on", bench_kprobe_bytes },
	{ "kprobe_event_jump", bench_kprobe_event },
	{ "kprobe_event_int3", bench_kprobe_event_int3 },
	{},
};
