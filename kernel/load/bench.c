/*
 * The `bench` command: what a traced call costs, what switching all sites costs.
 *
 * Each figure is a line `bench NAME VALUE UNIT`. Cycles of the time stamp counter are instructions
 * when QEMU runs with -icount shift=0; otherwise they are time, and only good for comparing.
 *
 *   per call = (cycles of a loop that calls bench_target()
 *               - cycles of the same loop that calls its untraced twin) / rounds
 *
 * Chunks run with interrupts off; the time between chunks is not counted. The loop of known length
 * (`calibrate`, 12 instructions a round) shows that the counter counts what it should.
 *
 * Context: thread.
 */
#include <arch/cpu.h>
#include <kernel/boot_stats.h>
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <arch/text_poke.h>
#include <trace/ftrace.h>
#include <trace/ring_buffer.h>
#include "bench.h"

#define BENCH_CHUNK   1000u
#define BENCH_CHUNKS  50ul
#define BENCH_ROUNDS  (BENCH_CHUNK * BENCH_CHUNKS)
#define BENCH_TARGET  "bench_target"
#define BENCH_TRACING "/sys/kernel/tracing"

struct bench {
	const char *name;
	int (*run)(struct command_env *env, const char *name);
};

static void print_value(struct command_env *env, const char *name, uint64_t value_milli,
			const char *unit)
{
	command_printf(env, "bench %s %lu.%03lu %s\n", name, (unsigned long)(value_milli / 1000),
		       (unsigned long)(value_milli % 1000), unit);
}

static uint64_t cycles_of(void (*loop)(uint32_t n), uint32_t n)
{
	uint64_t flags = arch_irq_save();
	uint64_t start = trace_plat_cycles();

	loop(n);
	start = trace_plat_cycles() - start;
	arch_irq_restore(flags);
	return start;
}

/*
 * Cycles of BENCH_ROUNDS rounds of `loop`, after one chunk to warm up. Two chunks less one: what
 * entering and leaving the loop costs is not in it.
 */
static uint64_t measure(void (*loop)(uint32_t n))
{
	int64_t total = 0;

	loop(BENCH_CHUNK);
	for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
		total += (int64_t)cycles_of(loop, 2 * BENCH_CHUNK);
		total -= (int64_t)cycles_of(loop, BENCH_CHUNK);
	}
	return total > 0 ? (uint64_t)total : 0;
}

/* Thousandths of a cycle per round by which `loop` is dearer than `base`. */
static uint64_t measure_above(void (*loop)(uint32_t n), void (*base)(uint32_t n))
{
	uint64_t with = measure(loop), without = measure(base);

	return with > without ? (with - without) * 1000 / BENCH_ROUNDS : 0;
}

/* One write to a file of tracefs. */
static int write_file(const char *name, const char *text)
{
	struct file *file;
	ssize_t written;
	int err = vfs_open(BENCH_TRACING, name, VFS_WRITE | VFS_TRUNCATE, &file);

	if (err)
		return err;
	written = text[0] ? file_write(file, text, strlen(text)) : 0;
	err = file_put(file);
	return written < 0 ? (int)written : err;
}

static int bench_calibrate(struct command_env *env, const char *name)
{
	print_value(env, name, measure(bench_loop_calibrate) * 1000 / BENCH_ROUNDS, "instructions");
	return 0;
}

static int bench_site_off(struct command_env *env, const char *name)
{
	print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	return 0;
}

static int add_target(struct ftrace_ops *ops)
{
	int err = ftrace_set_filter(ops, BENCH_TARGET, strlen(BENCH_TARGET), true);

	return err ? err : register_ftrace_function(ops);
}

static void remove_target(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static int bench_one_ops(struct command_env *env, const char *name, struct ftrace_ops *ops)
{
	int err = add_target(ops);

	if (!err)
		print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	remove_target(ops);
	return err;
}

static int bench_op_empty(struct command_env *env, const char *name)
{
	static struct ftrace_ops ops = { .func = bench_callback };

	return bench_one_ops(env, name, &ops);
}

static int bench_op_regs(struct command_env *env, const char *name)
{
	static struct ftrace_ops ops = { .func = bench_callback, .flags = FTRACE_OPS_FL_SAVE_REGS };

	return bench_one_ops(env, name, &ops);
}

static int bench_direct(struct command_env *env, const char *name)
{
	static struct ftrace_ops ops;
	int err = ftrace_set_filter(&ops, BENCH_TARGET, strlen(BENCH_TARGET), true);

	if (!err)
		err = register_ftrace_direct(&ops, (uintptr_t)bench_direct_call);
	if (err)
		return err;
	print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	return unregister_ftrace_direct(&ops, (uintptr_t)bench_direct_call, true);
}

static int bench_ops_two(struct command_env *env, const char *name)
{
	static struct ftrace_ops first = { .func = bench_callback };
	static struct ftrace_ops second = { .func = bench_callback };
	int err = add_target(&first);

	if (!err)
		err = add_target(&second);
	if (!err)
		print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	remove_target(&second);
	remove_target(&first);
	return err;
}

/* The number behind `label` in `text`; 0 when it is not there. */
static uint64_t number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (at += strlen(label); *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* Bytes per event as the `stats` file of CPU 0 has them, in thousandths; 0 when it cannot tell. */
static uint64_t bytes_per_event_milli(void)
{
	char text[512];
	uint64_t entries, bytes;
	struct file *file;
	ssize_t len;

	if (vfs_open(BENCH_TRACING, "per_cpu/cpu0/stats", VFS_READ, &file))
		return 0;
	len = file_read(file, text, sizeof(text) - 1);
	file_put(file);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	entries = number_after(text, "entries: ");
	bytes = number_after(text, "bytes: ");
	return entries ? bytes * 1000 / entries : 0;
}

/* A tracer of the global instance on the target alone; `*out_bytes_milli` in an event of it. */
static int measure_tracer(const char *tracer, bool on, uint64_t *out_milli,
			  uint64_t *out_bytes_milli)
{
	int err = write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = write_file("current_tracer", tracer);
	if (!err) {
		write_file("trace", "");
		if (!on)
			write_file("tracing_on", "0\n");
		*out_milli = measure_above(bench_loop_target, bench_loop_untraced);
		write_file("tracing_on", "0\n");
		*out_bytes_milli = bytes_per_event_milli();
	}
	write_file("current_tracer", "nop\n");
	write_file("tracing_on", "1\n");
	write_file("set_ftrace_filter", "");
	return err;
}

/* With the shell's command above it: about ten callers, as usual. */
static int bench_func_stack(struct command_env *env, const char *name)
{
	int err = write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = write_file("current_tracer", "function\n");
	if (!err)
		err = write_file("trace_options", "func_stack_trace\n");
	if (!err)
		print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	write_file("trace_options", "nofunc_stack_trace\n");
	write_file("current_tracer", "nop\n");
	write_file("set_ftrace_filter", "");
	return err;
}

static int bench_func_event(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = measure_tracer("function\n", true, &milli, &bytes);

	if (err)
		return err;
	print_value(env, name, milli, "instructions");
	print_value(env, "func_event_bytes", bytes, "bytes");
	return 0;
}

/* An entry and an exit: two events. */
static int bench_graph_pair(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = measure_tracer("function_graph\n", true, &milli, &bytes);

	if (err)
		return err;
	print_value(env, name, milli, "instructions");
	print_value(env, "graph_bytes", 2 * bytes, "bytes");
	return 0;
}

static int bench_profile(struct command_env *env, const char *name)
{
	int err = write_file("set_ftrace_filter", BENCH_TARGET "\n");

	if (!err)
		err = write_file("function_profile_enabled", "1\n");
	if (!err)
		print_value(env, name, measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	write_file("function_profile_enabled", "0\n");
	write_file("set_ftrace_filter", "");
	return err;
}

static int bench_graph_off(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = measure_tracer("function_graph\n", false, &milli, &bytes);

	if (!err)
		print_value(env, name, milli, "instructions");
	return err;
}

/* The function tracer, for threads that do not include this one. */
static int bench_func_pid_miss(struct command_env *env, const char *name)
{
	uint64_t milli = 0, bytes = 0;
	int err = write_file("set_ftrace_pid", "1000000\n");

	if (!err)
		err = measure_tracer("function\n", true, &milli, &bytes);
	write_file("set_ftrace_pid", "");
	if (!err)
		print_value(env, name, milli, "instructions");
	return err;
}

static int bench_trace_printk(struct command_env *env, const char *name)
{
	int err = write_file("trace", "");

	if (!err)
		print_value(env, name, measure_above(bench_loop_printk, bench_loop_empty),
			    "instructions");
	write_file("trace", "");
	return err;
}

static int bench_ring_16(struct command_env *env, const char *name)
{
	bench_ring = ring_buffer_alloc(1 << 20, RING_BUFFER_OVERWRITE);
	if (!bench_ring)
		return -ENOMEM;
	print_value(env, name, measure_above(bench_loop_ring, bench_loop_empty), "instructions");
	ring_buffer_free(bench_ring);
	bench_ring = NULL;
	return 0;
}

static int bench_site_bytes(struct command_env *env, const char *name)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	print_value(env, name, totals.pages * PAGE_SIZE / totals.sites * 1000, "bytes");
	print_value(env, "sites", totals.sites * 1000, "sites");
	return 0;
}

static int bench_patch_all(struct command_env *env, const char *name)
{
	struct trace_poke_stats before, after;
	struct ftrace_totals totals;
	uint64_t start, cycles, start_ns, on_ns;
	int err;

	ftrace_totals(&totals);
	write_file("tracing_on", "0\n");
	err = write_file("current_tracer", "function\n"); /* the first time allocates buffers */
	write_file("current_tracer", "nop\n");
	if (err)
		goto on;
	trace_plat_poke_stats(&before);
	start_ns = ktime_ns();
	start = trace_plat_cycles();
	err = write_file("current_tracer", "function\n");
	cycles = trace_plat_cycles() - start;
	on_ns = ktime_ns() - start_ns;
	trace_plat_poke_stats(&after);
	write_file("current_tracer", "nop\n");
	print_value(env, name, cycles * 1000 / totals.sites, "instructions/site");
	print_value(env, "patch_all_syncs", (after.syncs - before.syncs) * 1000, "syncs");
	print_value(env, "patch_all_us", on_ns, "us");
on:
	write_file("tracing_on", "1\n");
	return err;
}

static int bench_glob(struct command_env *env, const char *name)
{
	static struct ftrace_ops ops = { .func = bench_callback };
	struct ftrace_totals totals;
	uint64_t start;
	int err;

	ftrace_totals(&totals);
	start = trace_plat_cycles();
	err = ftrace_set_filter(&ops, "*sched*", strlen("*sched*"), true);
	start = trace_plat_cycles() - start;
	ftrace_free_filter(&ops);
	print_value(env, name, start * 1000 / totals.sites, "instructions/record");
	return err;
}

static int bench_boot(struct command_env *env, const char *name)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	print_value(env, "boot_nop_insn", boot_stats.ftrace_cycles * 1000 / totals.sites,
		    "instructions/site");
	if (!boot_stats.prompt_cycles)
		return -ENODATA; /* started by run=, before the first prompt */
	print_value(env, name, (boot_stats.prompt_cycles - boot_stats.entry_cycles) * 1000,
		    "instructions");
	return 0;
}

static const struct bench benches[] = {
	{ "calibrate", bench_calibrate },	{ "site_off", bench_site_off },
	{ "op_empty", bench_op_empty },		{ "ops_two", bench_ops_two },
	{ "op_regs", bench_op_regs },		{ "direct", bench_direct },
	{ "func_event", bench_func_event },	{ "ring_16", bench_ring_16 },
	{ "func_stack", bench_func_stack },	{ "site_bytes", bench_site_bytes },
	{ "patch_all_insn", bench_patch_all },	{ "glob_insn", bench_glob },
	{ "boot_to_prompt", bench_boot },	{ "graph_pair", bench_graph_pair },
	{ "graph_off", bench_graph_off },	{ "func_pid_miss", bench_func_pid_miss },
	{ "trace_printk", bench_trace_printk }, { "profile", bench_profile },
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 1;
}

static int bench_run(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(benches); i++) {
		int err;

		if (!is_wanted(benches[i].name, argc, argv))
			continue;
		err = benches[i].run(env, benches[i].name);
		if (err) {
			command_perror(env, benches[i].name, err);
			status = 1;
		}
	}
	return status;
}

const struct command bench_commands[] = {
	{ .name = "bench",
	  .usage = "[NAME...]",
	  .help = "measure what tracing costs (run QEMU with -icount shift=0)",
	  .run = bench_run },
	{}
};
