/*
 * `bench`: what switching all sites costs, their records, finding them by name, and the boot.
 *
 * Context: thread.
 */
#include <kernel/boot_stats.h>
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/ftrace.h>
#include <trace/platform.h>
#include "bench.h"
#include "bench_private.h"

static int bench_site_bytes(struct command_env *env, const char *name)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	bench_print(env, name, totals.pages * PAGE_SIZE / totals.sites * 1000, "bytes");
	bench_print(env, "sites", totals.sites * 1000, "sites");
	return 0;
}

static int bench_patch_all(struct command_env *env, const char *name)
{
	struct trace_poke_stats before, after;
	struct ftrace_totals totals;
	uint64_t start, cycles, start_ns, on_ns;
	int err;

	ftrace_totals(&totals);
	bench_write_file("tracing_on", "0\n");
	/* the first time allocates buffers */
	err = bench_write_file("current_tracer", "function\n");
	bench_write_file("current_tracer", "nop\n");
	if (err)
		goto on;
	trace_plat_poke_stats(&before);
	start_ns = ktime_get_ns();
	start = trace_plat_cycles();
	err = bench_write_file("current_tracer", "function\n");
	cycles = trace_plat_cycles() - start;
	on_ns = ktime_get_ns() - start_ns;
	trace_plat_poke_stats(&after);
	bench_write_file("current_tracer", "nop\n");
	bench_print(env, name, cycles * 1000 / totals.sites, "instructions/site");
	bench_print(env, "patch_all_syncs", (after.syncs - before.syncs) * 1000, "syncs");
	bench_print(env, "patch_all_us", on_ns, "us");
on:
	bench_write_file("tracing_on", "1\n");
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
	bench_print(env, name, start * 1000 / totals.sites, "instructions/record");
	return err;
}

static int bench_boot(struct command_env *env, const char *name)
{
	struct ftrace_totals totals;

	ftrace_totals(&totals);
	bench_print(env, "boot_nop_insn", boot_stats.ftrace_cycles * 1000 / totals.sites,
		    "instructions/site");
	if (!boot_stats.prompt_cycles)
		return -ENODATA; /* started by run=, before the first prompt */
	bench_print(env, name, (boot_stats.prompt_cycles - boot_stats.entry_cycles) * 1000,
		    "instructions");
	return 0;
}

const struct bench bench_patch_rows[] = {
	{ "site_bytes", bench_site_bytes },
	{ "patch_all_insn", bench_patch_all },
	{ "glob_insn", bench_glob },
	{ "boot_to_prompt", bench_boot },
	{},
};
