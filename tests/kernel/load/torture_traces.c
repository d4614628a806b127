/*
 * Instances of `torture`, each with another tracer on the same targets, made, used and removed
 * through the files of tracefs:
 *
 *   function   each call is an event
 *   graph      each call is two: entered and left
 *   pid        calls of some workers, which change; the first one is always among them
 *   nop        markers, and stacks that a function command with a count writes
 *   guest      comes and goes
 *
 * What the buffers of an instance hold, with its snapshot, and have lost, must be what happened,
 * while snapshots are taken, sizes, modes, filters and options change, and the trace is read and
 * consumed. What means to lose events, or to add others, is not done to them: tracing_on,
 * tracing_cpumask, pause-on-trace, a new clock or size of sub-buffers in the middle,
 * func_stack_trace and func-no-repeats.
 *
 * Two counts are bounds. `pid`: calls of the workers but the first, which are counted from and up
 * to unknown moments. `graph`: an entry that is lost has no return, so that of lost + events up to
 * `lost` are missing, and the files do not say which of the two was lost.
 */
#include <arch/smp.h>
#include <kernel/string.h>
#include <trace/errno.h>
#include <trace/fmt.h>
#include "torture.h"

#define PATH_BYTES	96
#define TEXT_BYTES	2048
#define SETTLE_KB	64ul /* size of the buffers at first */
#define NR_SUBBUF_SIZES 3u   /* from 4 KiB on */
#define SUBBUFS_ONE_IN	4u   /* rounds */
#define NR_STACKS	5u   /* the count of the function command */
#define PARENT		"instances/torture_"
#define STACK_PROBE	"target_call:stacktrace:5\n"

enum instance {
	FUNCTION,
	GRAPH,
	PID,
	NOP,
	NR_INSTANCES,
};

struct recorder {
	const char *name;
	const char *tracer;
};

static const struct recorder recorders[NR_INSTANCES] = {
	[FUNCTION] = { "function", "function\n" },
	[GRAPH] = { "graph", "function_graph\n" },
	[PID] = { "pid", "function\n" },
	[NOP] = { "nop", "nop\n" },
};

static bool is_made[NR_INSTANCES];
static bool guest_is_there;
static uint64_t nr_markers; /* written to `nop` in this round */
static char text[TEXT_BYTES];

/* ---- Files of instances ---- */

static int torture_traces_write_to(const char *name, const char *file, const char *what,
				   uint32_t vfs_flags)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/%s", name, file);
	return torture_write(path, what, vfs_flags);
}

static int torture_traces_write_number(const char *name, const char *file, uint64_t number)
{
	char digits[24];

	trace_snprintf(digits, sizeof(digits), "%lu\n", (unsigned long)number);
	return torture_traces_write_to(name, file, digits, 0);
}

static int torture_traces_make(const char *name)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s", name);
	return vfs_mkdir("/sys/kernel/tracing", path);
}

static int torture_traces_remove(const char *name)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s", name);
	return vfs_rmdir("/sys/kernel/tracing", path);
}

/* ---- The events of an instance ---- */

static uint64_t torture_traces_stat_of(const char *name)
{
	const char *line = strstr(text, name);
	uint64_t value = 0;

	if (!line)
		return UINT64_MAX; /* spoils the sum */
	for (line += strlen(name); *line >= '0' && *line <= '9'; line++)
		value = value * 10 + (uint64_t)(*line - '0');
	return value;
}

struct sum {
	uint64_t events; /* there, read, or overwritten */
	uint64_t lost;	 /* never written */
};

static int torture_traces_read_stats(const char *name, uint32_t cpu)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/per_cpu/cpu%u/stats", name, cpu);
	return torture_read(path, text, sizeof(text));
}

/* Add those of the buffer. 0 or -errno. */
static int torture_traces_add_events(const char *name, uint32_t cpu, struct sum *sum)
{
	int err = torture_traces_read_stats(name, cpu);

	if (err)
		return err;
	sum->events += torture_traces_stat_of("entries: ") + torture_traces_stat_of("\noverrun: ") +
		       torture_traces_stat_of("read events: ");
	sum->lost += torture_traces_stat_of("commit overrun: ") +
		     torture_traces_stat_of("dropped events: ");
	return 0;
}

/* Of both buffers, for each worker's CPU. */
static int torture_traces_count_events(const char *name, struct sum *out_sums)
{
	int err = 0;

	memset(out_sums, 0, torture_nr_workers() * sizeof(*out_sums));
	for (uint32_t half = 0; half < 2 && !err; half++) {
		for (uint32_t i = 0; i < torture_nr_workers() && !err; i++)
			err = torture_traces_add_events(name, torture_worker_cpu(i), &out_sums[i]);
		if (!err)
			err = torture_traces_write_number(name, "snapshot", 1);
	}
	return err;
}

/* ---- A user of tracing ---- */

static int torture_traces_set_up(const struct recorder *recorder)
{
	int err = torture_traces_write_number(recorder->name, "buffer_size_kb", SETTLE_KB);

	if (!err)
		err = torture_traces_write_to(recorder->name, "set_ftrace_filter",
					      torture_target_names, VFS_TRUNCATE);
	if (!err)
		err = torture_traces_write_number(recorder->name, "snapshot", 1);
	if (!err)
		err = torture_traces_write_to(recorder->name, "current_tracer", recorder->tracer,
					      0);
	return err;
}

static int torture_traces_start(void)
{
	int err = 0;

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		err = torture_traces_make(recorders[i].name);
		is_made[i] = !err;
		if (!err)
			err = torture_traces_set_up(&recorders[i]);
	}
	return err ? err
		   : torture_traces_write_number("pid", "set_ftrace_pid",
						 (uint64_t)torture_worker_pid(0));
}

static const char *torture_traces_any_name(void)
{
	return recorders[torture_pick(NR_INSTANCES)].name;
}

/* It empties the buffers: now and then, and before the events are counted. */
static int torture_traces_change_subbufs(void)
{
	if (torture_pick(SUBBUFS_ONE_IN))
		return 0;
	return torture_traces_write_number(torture_traces_any_name(), "buffer_subbuf_size_kb",
					   4ul << torture_pick(NR_SUBBUF_SIZES));
}

static int torture_traces_begin_round(void)
{
	static const char *const clocks[] = { "local\n", "local\n", "global\n", "counter\n" };
	int err = torture_traces_change_subbufs();

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		err = torture_traces_write_to(recorders[i].name, "trace_clock",
					      clocks[torture_pick(ARRAY_SIZE(clocks))], 0);
		if (!err)
			err = torture_traces_write_to(recorders[i].name, "trace", "", VFS_TRUNCATE);
		if (!err)
			err = torture_traces_write_number(recorders[i].name, "snapshot", 2);
	}
	nr_markers = 0;
	/* Remains of the last one go: the count begins anew. */
	if (!err)
		err = torture_traces_write_to("nop", "set_ftrace_filter",
					      "!target_call:stacktrace:0\n", VFS_APPEND);
	if (!err || err == -ENODEV)
		err = torture_traces_write_to("nop", "set_ftrace_filter", STACK_PROBE, VFS_APPEND);
	return err;
}

/* The reader may be looking at what is to change: then nothing does. */
static int torture_traces_unless_busy(int err)
{
	return err == -EBUSY ? 0 : err;
}

static int torture_traces_swap_snapshot(void)
{
	return torture_traces_unless_busy(
		torture_traces_write_number(torture_traces_any_name(), "snapshot", 1));
}

static int torture_traces_resize(void)
{
	return torture_traces_unless_busy(torture_traces_write_number(
		torture_traces_any_name(), "buffer_size_kb", 8 + torture_pick(2 * SETTLE_KB)));
}

/* Filters that mean the same for the targets, switched while they are called. */
static int torture_traces_change_filter(void)
{
	if (torture_pick(2))
		return torture_traces_write_to("function", "set_ftrace_filter",
					       torture_target_names, VFS_TRUNCATE);
	return torture_traces_write_to("function", "set_ftrace_notrace",
				       torture_pick(2) ? "torture_helper\n" : "", VFS_TRUNCATE);
}

struct graph_setting {
	const char *file;
	const char *text;
	uint32_t vfs_flags;
};

/* None of them takes a call of a target out of the graph. */
static int torture_traces_change_graph(void)
{
	static const struct graph_setting settings[] = {
		{ "max_graph_depth", "1\n", 0 },
		{ "max_graph_depth", "0\n", 0 },
		{ "set_graph_function", torture_target_names, VFS_TRUNCATE },
		{ "set_graph_function", "", VFS_TRUNCATE },
		{ "set_graph_notrace", "torture_helper\n", VFS_TRUNCATE },
		{ "set_graph_notrace", "", VFS_TRUNCATE },
		{ "trace_options", "funcgraph-retval\n", 0 },
		{ "trace_options", "nofuncgraph-retval\n", 0 },
		{ "trace_options", "funcgraph-retaddr\n", 0 },
		{ "trace_options", "nofuncgraph-retaddr\n", 0 },
		{ "trace_options", "nofuncgraph-irqs\n", 0 },
		{ "trace_options", "funcgraph-irqs\n", 0 },
		{ "trace_options", "nosleep-time\n", 0 },
		{ "trace_options", "sleep-time\n", 0 },
		{ "trace_options", "funcgraph-abstime\n", 0 },
		{ "trace_options", "funcgraph-tail\n", 0 },
	};
	const struct graph_setting *setting = &settings[torture_pick(ARRAY_SIZE(settings))];

	return torture_traces_write_to("graph", setting->file, setting->text, setting->vfs_flags);
}

/* A full buffer drops the newest for a while. */
static int torture_traces_change_mode(void)
{
	return torture_traces_write_to("function", "trace_options",
				       torture_pick(2) ? "overwrite\n" : "nooverwrite\n", 0);
}

/* How the trace is printed, in the middle of reading it. */
static int torture_traces_change_print(void)
{
	static const char *const options[] = {
		"sym-offset\n",
		"nosym-offset\n",
		"sym-addr\n",
		"nosym-addr\n",
		"print-parent\n",
		"verbose\n",
		"noverbose\n",
		"irq-info\n",
		"noirq-info\n",
		"latency-format\n",
		"annotate\n",
		"hex\n",
		"nohex\n",
		"raw\n",
		"noraw\n",
		"bin\n",
		"nobin\n",
		"noannotate\n",
		"nolatency-format\n",
	};

	return torture_traces_write_to(torture_traces_any_name(), "trace_options",
				       options[torture_pick(ARRAY_SIZE(options))], 0);
}

static int torture_traces_read_trace(void)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/%s", torture_traces_any_name(),
		       torture_pick(2) ? "trace" : "snapshot");
	return torture_read(path, text, sizeof(text));
}

/* Events that are there stay until they are overwritten by others: a read does not wait. */
static int torture_traces_consume(void)
{
	static const char *const files[] = { "trace_pipe", "trace_pipe_raw", "snapshot_raw" };
	uint32_t cpu = torture_worker_cpu((uint32_t)torture_pick(torture_nr_workers()));
	const char *name = torture_traces_any_name();
	char path[PATH_BYTES];
	int err = torture_traces_read_stats(name, cpu);

	if (err || strstr(text, "entries: 0\n"))
		return err;
	trace_snprintf(path, sizeof(path), PARENT "%s/per_cpu/cpu%u/%s", name, cpu,
		       files[torture_pick(ARRAY_SIZE(files))]);
	return torture_read_once(path, text, sizeof(text));
}

/* The first worker is always in; alone or with others, in turn. */
static int torture_traces_change_pids(void)
{
	uint32_t other = (uint32_t)torture_pick(torture_nr_workers());
	char pids[48];

	if (torture_pick(2)) {
		trace_snprintf(pids, sizeof(pids), "%d %d\n", torture_worker_pid(0),
			       torture_worker_pid(other));
		return torture_traces_write_to("pid", "set_ftrace_pid", pids, VFS_TRUNCATE);
	}
	trace_snprintf(pids, sizeof(pids), "%d\n", torture_worker_pid(other));
	return torture_traces_write_to("pid", "set_ftrace_pid", pids, VFS_APPEND);
}

static int torture_traces_write_marker(void)
{
	nr_markers++;
	return torture_traces_write_to("nop", "trace_marker", "marker of the torture\n", 0);
}

static int torture_traces_toggle_guest(void)
{
	int err = guest_is_there ? torture_traces_remove("guest") : torture_traces_make("guest");

	if (err)
		return torture_traces_unless_busy(err);
	guest_is_there = !guest_is_there;
	if (!guest_is_there)
		return 0;
	err = torture_traces_write_to("guest", "set_ftrace_filter", torture_target_names,
				      VFS_TRUNCATE);
	if (!err)
		err = torture_traces_write_to("guest", "current_tracer",
					      recorders[torture_pick(NR_INSTANCES)].tracer, 0);
	return err;
}

static int torture_traces_change(void)
{
	static int (*const changes[])(void) = {
		torture_traces_swap_snapshot, torture_traces_swap_snapshot,
		torture_traces_resize,	      torture_traces_change_mode,
		torture_traces_change_print,  torture_traces_read_trace,
		torture_traces_change_pids,   torture_traces_write_marker,
		torture_traces_toggle_guest,  torture_traces_change_filter,
		torture_traces_change_graph,  torture_traces_consume,
	};

	return changes[torture_pick(ARRAY_SIZE(changes))]();
}

static bool torture_traces_check_graph(struct command_env *env, uint64_t events, uint64_t lost,
				       uint64_t expected)
{
	if (events + lost <= expected && events + 2 * lost >= expected)
		return true;
	return torture_expect(env, "graph", events + lost, expected);
}

static bool torture_traces_check_cpu(struct command_env *env, enum instance which, uint32_t worker,
				     const struct sum *sum)
{
	uint64_t calls = torture_worker_calls(worker) * TORTURE_NR_TARGETS;
	uint64_t seen = sum->events + sum->lost;

	if (which == GRAPH)
		return torture_traces_check_graph(env, sum->events, sum->lost, 2 * calls);
	if (which == PID && worker > 0 && seen <= calls)
		return true;
	return which == NOP || torture_expect(env, recorders[which].name, seen, calls);
}

static bool torture_traces_check_instance(struct command_env *env, enum instance which)
{
	static struct sum sums[MAX_CPUS]; /* too much for a stack */
	uint64_t total = 0;
	int err = torture_traces_count_events(recorders[which].name, sums);
	bool is_right = !err;

	if (err)
		command_perror(env, recorders[which].name, err);
	for (uint32_t i = 0; i < torture_nr_workers() && !err; i++) {
		total += sums[i].events + sums[i].lost;
		is_right &= torture_traces_check_cpu(env, which, i, &sums[i]);
	}
	if (which == NOP)
		is_right &= torture_expect(env, "nop", total, nr_markers + NR_STACKS);
	return is_right;
}

static bool torture_traces_check_round(struct command_env *env, uint64_t expected)
{
	bool is_right = true;

	(void)expected;
	for (uint32_t i = 0; i < NR_INSTANCES; i++)
		is_right &= torture_traces_check_instance(env, (enum instance)i);
	return is_right;
}

static int torture_traces_stop(void)
{
	int err = guest_is_there ? torture_traces_toggle_guest() : 0;

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		if (is_made[i])
			err = torture_traces_remove(recorders[i].name);
		is_made[i] = is_made[i] && err;
	}
	return err;
}

const struct torture_user torture_traces = {
	.start = torture_traces_start,
	.begin = torture_traces_begin_round,
	.change = torture_traces_change,
	.check = torture_traces_check_round,
	.stop = torture_traces_stop,
};
