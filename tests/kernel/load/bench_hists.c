/*
 * `bench`: what counting an event in a histogram costs, one row for each kind of key. The event is
 * off: nothing is recorded.
 *
 * A figure is by how much the loop that hits the tracepoint is dearer than without listeners to
 * it. The row fails when hits and drops together are not as many as the rounds.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "bench.h"
#include "bench_private.h"

#define DIR(event)	   "events/bench/bench_" event "/"
#define BENCH_HIST_ENTRIES 16384u

struct bench_hist_setting {
	const char *row;
	void (*loop)(uint32_t n);
	const char *dir;
	const char *hist; /* behind `hist:` */
};

static const struct bench_hist_setting settings[] = {
	{ "hist_pid", bench_loop_event_int, DIR("int"), "keys=common_pid" },
	{ "hist_2keys", bench_loop_event_few, DIR("three"), "keys=one,two" },
	{ "hist_3keys", bench_loop_event_few, DIR("three"), "keys=common_pid,one,two" },
	{ "hist_sum", bench_loop_event_few, DIR("three"), "keys=one:vals=two" },
	{ "hist_str", bench_loop_event_few, DIR("three"), "keys=name" },
	{ "hist_str128", bench_loop_event_label, DIR("label"), "keys=label" },
	{ "hist_log2", bench_loop_event_int, DIR("int"), "keys=value.log2" },
	{ "hist_buckets", bench_loop_event_int, DIR("int"), "keys=value.buckets=100" },
	{ "hist_expr", bench_loop_event_few, DIR("three"), "keys=one+two*3-1" },
	{ "hist_var", bench_loop_event_few, DIR("three"), "keys=one:x=two" },
	{ "hist_full", bench_loop_event_int, DIR("int"), "keys=value:size=128" },
	{ "hist_if", bench_loop_event_few, DIR("three"), "keys=one if two == 1" },
	{ "hist_stack", bench_loop_event_int, DIR("int"), "keys=stacktrace" },
};

/* Set the histogram, or with mark "!" take it away. */
static int bench_hist_set(const char *dir, const char *mark, const char *hist)
{
	char name[64], text[96];

	trace_snprintf(name, sizeof(name), "%strigger", dir);
	trace_snprintf(text, sizeof(text), "%shist:%s", mark, hist);
	return bench_write_file(name, text);
}

/* A condition lets pass one in four. */
static uint64_t bench_hist_wanted(const struct bench_hist_setting *setting)
{
	return strstr(setting->hist, " if ") ? bench_rounds() / 4 : bench_rounds();
}

/* Inline: hist_stack counts what lies above the loop. */
static TRACE_ALWAYS_INLINE int bench_hist_run(struct command_env *env,
					      const struct bench_hist_setting *setting)
{
	uint64_t off = bench_per_round_milli(setting->loop), on;
	int err = bench_hist_set(setting->dir, "", setting->hist);
	char name[64];

	if (err)
		return err;
	on = bench_per_round_milli(setting->loop);
	trace_snprintf(name, sizeof(name), "%shist", setting->dir);
	err = bench_check(env, setting->row, bench_count_hits(name), bench_hist_wanted(setting));
	bench_hist_set(setting->dir, "!", setting->hist);
	if (!err)
		bench_print(env, setting->row, on > off ? on - off : 0, "instructions");
	return err;
}

static int bench_hist(struct command_env *env, const char *name)
{
	size_t i = 0;

	while (strcmp(settings[i].row, name) != 0)
		i++;
	return bench_hist_run(env, &settings[i]);
}

/* All memory that a histogram takes, by the entries that it has room for. */
static int bench_hist_bytes(struct command_env *env, const char *name)
{
	struct mm_stats before, after;
	char hist[48];
	int err;

	trace_snprintf(hist, sizeof(hist), "keys=value:size=%u", BENCH_HIST_ENTRIES);
	err = bench_hist_set(DIR("int"), "", "keys=value"); /* the first one allocates more */
	bench_hist_set(DIR("int"), "!", "keys=value");
	mm_stats_get(&before);
	if (!err)
		err = bench_hist_set(DIR("int"), "", hist);
	if (err)
		return err;
	mm_stats_get(&after);
	bench_hist_set(DIR("int"), "!", hist);
	bench_print(env, name,
		    (after.used_pages - before.used_pages) * PAGE_SIZE * 1000 / BENCH_HIST_ENTRIES,
		    "bytes");
	return 0;
}

const struct bench bench_hist_rows[] = {
	{ "hist_pid", bench_hist },
	{ "hist_2keys", bench_hist },
	{ "hist_3keys", bench_hist },
	{ "hist_sum", bench_hist },
	{ "hist_str", bench_hist },
	{ "hist_str128", bench_hist },
	{ "hist_log2", bench_hist },
	{ "hist_buckets", bench_hist },
	{ "hist_var", bench_hist },
	{ "hist_expr", bench_hist },
	{ "hist_full", bench_hist },
	{ "hist_if", bench_hist },
	{ "hist_stack", bench_hist },
	{ "hist_entry_bytes", bench_hist_bytes },
	{},
};
