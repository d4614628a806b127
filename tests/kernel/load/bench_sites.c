/*
 * `bench`: what a site costs with the ops that a host registers, and an event of the host's own.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/ftrace.h>
#include <trace/ring_buffer.h>
#include "bench.h"
#include "bench_private.h"

static int bench_calibrate(struct command_env *env, const char *name)
{
	bench_print(env, name, bench_per_round_milli(bench_loop_calibrate), "instructions");
	return 0;
}

static int bench_site_off(struct command_env *env, const char *name)
{
	bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	return 0;
}

static int bench_add_target(struct ftrace_ops *ops)
{
	int err = ftrace_set_filter(ops, BENCH_TARGET, strlen(BENCH_TARGET), true);

	return err ? err : register_ftrace_function(ops);
}

static void bench_remove_target(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static int bench_one_ops(struct command_env *env, const char *name, struct ftrace_ops *ops)
{
	int err = bench_add_target(ops);

	if (!err)
		bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	bench_remove_target(ops);
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
	bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	return unregister_ftrace_direct(&ops, (uintptr_t)bench_direct_call, true);
}

static int bench_ops_two(struct command_env *env, const char *name)
{
	static struct ftrace_ops first = { .func = bench_callback };
	static struct ftrace_ops second = { .func = bench_callback };
	int err = bench_add_target(&first);

	if (!err)
		err = bench_add_target(&second);
	if (!err)
		bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	bench_remove_target(&second);
	bench_remove_target(&first);
	return err;
}

static int bench_fprobe(struct command_env *env, const char *name, struct fprobe *fp)
{
	int err = register_fprobe(fp, BENCH_TARGET, NULL);

	if (err)
		return err;
	bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	err = unregister_fprobe(fp);
	return err ? err : bench_check(env, name, fp->nmissed, 0);
}

static int bench_one_fprobe_entry(struct command_env *env, const char *name)
{
	static struct fprobe fp = { .entry_handler = bench_fprobe_entry };

	return bench_fprobe(env, name, &fp);
}

static int bench_fprobe_both(struct command_env *env, const char *name)
{
	static struct fprobe fp = { .entry_handler = bench_fprobe_entry,
				    .exit_handler = bench_fprobe_exit };

	return bench_fprobe(env, name, &fp);
}

static int bench_one_kretprobe(struct command_env *env, const char *name)
{
	static struct kretprobe rp = { .kp = { .symbol_name = BENCH_TARGET },
				       .handler = bench_kretprobe };
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
		    "instructions");
	unregister_kretprobe(&rp);
	return bench_check(env, name, rp.nmissed, 0);
}

static int bench_trace_printk(struct command_env *env, const char *name)
{
	struct bench_counts counts;
	uint64_t milli;
	int err = bench_write_file("trace", "");

	if (err)
		return err;
	milli = bench_measure_above(bench_loop_printk, bench_loop_empty);
	bench_count("", &counts);
	bench_write_file("trace", "");
	err = bench_check(env, name, counts.entries + counts.overrun, bench_calls());
	if (!err)
		bench_print(env, name, milli, "instructions");
	return err;
}

static int bench_ring_16(struct command_env *env, const char *name)
{
	uint64_t milli, events;
	int err;

	bench_ring = ring_buffer_alloc(1 << 20, RING_BUFFER_OVERWRITE);
	if (!bench_ring)
		return -ENOMEM;
	milli = bench_measure_above(bench_loop_ring, bench_loop_empty);
	events = ring_buffer_entries(bench_ring) + ring_buffer_overruns(bench_ring);
	ring_buffer_free(bench_ring);
	bench_ring = NULL;
	err = bench_check(env, name, events, bench_calls());
	if (!err)
		bench_print(env, name, milli, "instructions");
	return err;
}

const struct bench bench_site_rows[] = {
	{ "calibrate", bench_calibrate },
	{ "site_off", bench_site_off },
	{ "op_empty", bench_op_empty },
	{ "ops_two", bench_ops_two },
	{ "op_regs", bench_op_regs },
	{ "direct", bench_direct },
	{ "fprobe_entry", bench_one_fprobe_entry },
	{ "fprobe_both", bench_fprobe_both },
	{ "kretprobe", bench_one_kretprobe },
	{ "ring_16", bench_ring_16 },
	{ "trace_printk", bench_trace_printk },
	{},
};
