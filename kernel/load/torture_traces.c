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

static int write_to(const char *name, const char *file, const char *what, uint32_t vfs_flags)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/%s", name, file);
	return torture_write(path, what, vfs_flags);
}

static int write_number(const char *name, const char *file, uint64_t number)
{
	char digits[24];

	trace_snprintf(digits, sizeof(digits), "%lu\n", (unsigned long)number);
	return write_to(name, file, digits, 0);
}

static int make(const char *name)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s", name);
	return vfs_mkdir("/sys/kernel/tracing", path);
}

static int remove(const char *name)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s", name);
	return vfs_rmdir("/sys/kernel/tracing", path);
}

/* ---- What an instance has seen ---- */

static uint64_t stat_of(const char *name)
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

static int read_stats(const char *name, uint32_t cpu)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/per_cpu/cpu%u/stats", name, cpu);
	return torture_read(path, text, sizeof(text));
}

/* Add those of the buffer. 0 or -errno. */
static int add_events(const char *name, uint32_t cpu, struct sum *sum)
{
	int err = read_stats(name, cpu);

	if (err)
		return err;
	sum->events += stat_of("entries: ") + stat_of("\noverrun: ") + stat_of("read events: ");
	sum->lost += stat_of("commit overrun: ") + stat_of("dropped events: ");
	return 0;
}

/* Of both buffers, for each worker's CPU. */
static int count_events(const char *name, struct sum *out_sums)
{
	int err = 0;

	memset(out_sums, 0, torture_nr_workers() * sizeof(*out_sums));
	for (uint32_t half = 0; half < 2 && !err; half++) {
		for (uint32_t i = 0; i < torture_nr_workers() && !err; i++)
			err = add_events(name, torture_worker_cpu(i), &out_sums[i]);
		if (!err)
			err = write_number(name, "snapshot", 1);
	}
	return err;
}

/* ---- A user of tracing ---- */

static int set_up(const struct recorder *recorder)
{
	int err = write_number(recorder->name, "buffer_size_kb", SETTLE_KB);

	if (!err)
		err = write_to(recorder->name, "set_ftrace_filter", torture_target_names,
			       VFS_TRUNCATE);
	if (!err)
		err = write_number(recorder->name, "snapshot", 1);
	if (!err)
		err = write_to(recorder->name, "current_tracer", recorder->tracer, 0);
	return err;
}

static int start(void)
{
	int err = 0;

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		err = make(recorders[i].name);
		is_made[i] = !err;
		if (!err)
			err = set_up(&recorders[i]);
	}
	return err ? err : write_number("pid", "set_ftrace_pid", (uint64_t)torture_worker_pid(0));
}

static const char *any_name(void)
{
	return recorders[torture_pick(NR_INSTANCES)].name;
}

/* It empties the buffers: now and then, and before the events are counted. */
static int change_subbufs(void)
{
	if (torture_pick(SUBBUFS_ONE_IN))
		return 0;
	return write_number(any_name(), "buffer_subbuf_size_kb",
			    4ul << torture_pick(NR_SUBBUF_SIZES));
}

static int begin_round(void)
{
	static const char *const clocks[] = { "local\n", "local\n", "global\n", "counter\n" };
	int err = change_subbufs();

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		err = write_to(recorders[i].name, "trace_clock",
			       clocks[torture_pick(ARRAY_SIZE(clocks))], 0);
		if (!err)
			err = write_to(recorders[i].name, "trace", "", VFS_TRUNCATE);
		if (!err)
			err = write_number(recorders[i].name, "snapshot", 2);
	}
	nr_markers = 0;
	/* What is left of the last one goes: the count begins anew. */
	if (!err)
		err = write_to("nop", "set_ftrace_filter", "!target_call:stacktrace:0\n",
			       VFS_APPEND);
	if (!err || err == -ENODEV)
		err = write_to("nop", "set_ftrace_filter", STACK_PROBE, VFS_APPEND);
	return err;
}

/* The reader may be looking at what is to change: then nothing does. */
static int unless_busy(int err)
{
	return err == -EBUSY ? 0 : err;
}

static int swap_snapshot(void)
{
	return unless_busy(write_number(any_name(), "snapshot", 1));
}

static int resize(void)
{
	return unless_busy(
		write_number(any_name(), "buffer_size_kb", 8 + torture_pick(2 * SETTLE_KB)));
}

/* Filters that mean the same for the targets, switched while they are called. */
static int change_filter(void)
{
	if (torture_pick(2))
		return write_to("function", "set_ftrace_filter", torture_target_names,
				VFS_TRUNCATE);
	return write_to("function", "set_ftrace_notrace", torture_pick(2) ? "helper\n" : "",
			VFS_TRUNCATE);
}

struct graph_setting {
	const char *file;
	const char *text;
	uint32_t vfs_flags;
};

/* None of them takes a call of a target out of the graph. */
static int change_graph(void)
{
	static const struct graph_setting settings[] = {
		{ "max_graph_depth", "1\n", 0 },
		{ "max_graph_depth", "0\n", 0 },
		{ "set_graph_function", torture_target_names, VFS_TRUNCATE },
		{ "set_graph_function", "", VFS_TRUNCATE },
		{ "set_graph_notrace", "helper\n", VFS_TRUNCATE },
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

	return write_to("graph", setting->file, setting->text, setting->vfs_flags);
}

/* A full buffer drops the newest for a while. */
static int change_mode(void)
{
	return write_to("function", "trace_options",
			torture_pick(2) ? "overwrite\n" : "nooverwrite\n", 0);
}

/* How the trace is printed, in the middle of reading it. */
static int change_print(void)
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

	return write_to(any_name(), "trace_options", options[torture_pick(ARRAY_SIZE(options))], 0);
}

static int read_trace(void)
{
	char path[PATH_BYTES];

	trace_snprintf(path, sizeof(path), PARENT "%s/%s", any_name(),
		       torture_pick(2) ? "trace" : "snapshot");
	return torture_read(path, text, sizeof(text));
}

/* Events that are there stay until they are overwritten by others: a read does not wait. */
static int consume(void)
{
	static const char *const files[] = { "trace_pipe", "trace_pipe_raw", "snapshot_raw" };
	uint32_t cpu = torture_worker_cpu((uint32_t)torture_pick(torture_nr_workers()));
	const char *name = any_name();
	char path[PATH_BYTES];
	int err = read_stats(name, cpu);

	if (err || strstr(text, "entries: 0\n"))
		return err;
	trace_snprintf(path, sizeof(path), PARENT "%s/per_cpu/cpu%u/%s", name, cpu,
		       files[torture_pick(ARRAY_SIZE(files))]);
	return torture_read_once(path, text, sizeof(text));
}

/* The first worker is always in; whether nobody else is, or somebody, changes. */
static int change_pids(void)
{
	uint32_t other = (uint32_t)torture_pick(torture_nr_workers());
	char pids[48];

	if (torture_pick(2)) {
		trace_snprintf(pids, sizeof(pids), "%d %d\n", torture_worker_pid(0),
			       torture_worker_pid(other));
		return write_to("pid", "set_ftrace_pid", pids, VFS_TRUNCATE);
	}
	trace_snprintf(pids, sizeof(pids), "%d\n", torture_worker_pid(other));
	return write_to("pid", "set_ftrace_pid", pids, VFS_APPEND);
}

static int write_marker(void)
{
	nr_markers++;
	return write_to("nop", "trace_marker", "marker of the torture\n", 0);
}

static int toggle_guest(void)
{
	int err = guest_is_there ? remove("guest") : make("guest");

	if (err)
		return unless_busy(err);
	guest_is_there = !guest_is_there;
	if (!guest_is_there)
		return 0;
	err = write_to("guest", "set_ftrace_filter", torture_target_names, VFS_TRUNCATE);
	if (!err)
		err = write_to("guest", "current_tracer",
			       recorders[torture_pick(NR_INSTANCES)].tracer, 0);
	return err;
}

static int change(void)
{
	static int (*const changes[])(void) = {
		swap_snapshot, swap_snapshot, resize,	    change_mode,   change_print, read_trace,
		change_pids,   write_marker,  toggle_guest, change_filter, change_graph, consume,
	};

	return changes[torture_pick(ARRAY_SIZE(changes))]();
}

static bool check_graph(struct command_env *env, uint64_t events, uint64_t lost, uint64_t expected)
{
	if (events + lost <= expected && events + 2 * lost >= expected)
		return true;
	return torture_expect(env, "graph", events + lost, expected);
}

static bool check_cpu(struct command_env *env, enum instance which, uint32_t worker,
		      const struct sum *sum)
{
	uint64_t calls = torture_worker_calls(worker) * TORTURE_NR_TARGETS;
	uint64_t seen = sum->events + sum->lost;

	if (which == GRAPH)
		return check_graph(env, sum->events, sum->lost, 2 * calls);
	if (which == PID && worker > 0 && seen <= calls)
		return true;
	return which == NOP || torture_expect(env, recorders[which].name, seen, calls);
}

static bool check_instance(struct command_env *env, enum instance which)
{
	static struct sum sums[MAX_CPUS]; /* too much for a stack */
	uint64_t total = 0;
	int err = count_events(recorders[which].name, sums);
	bool is_right = !err;

	if (err)
		command_perror(env, recorders[which].name, err);
	for (uint32_t i = 0; i < torture_nr_workers() && !err; i++) {
		total += sums[i].events + sums[i].lost;
		is_right &= check_cpu(env, which, i, &sums[i]);
	}
	if (which == NOP)
		is_right &= torture_expect(env, "nop", total, nr_markers + NR_STACKS);
	return is_right;
}

static bool check_round(struct command_env *env, uint64_t expected)
{
	bool is_right = true;

	(void)expected;
	for (uint32_t i = 0; i < NR_INSTANCES; i++)
		is_right &= check_instance(env, (enum instance)i);
	return is_right;
}

static int stop(void)
{
	int err = guest_is_there ? toggle_guest() : 0;

	for (uint32_t i = 0; i < NR_INSTANCES && !err; i++) {
		if (is_made[i])
			err = remove(recorders[i].name);
		is_made[i] = is_made[i] && err;
	}
	return err;
}

const struct torture_user torture_traces = {
	.start = start,
	.begin = begin_round,
	.change = change,
	.check = check_round,
	.stop = stop,
};
