/*
 * The library without some of its features: linked once for each feature that can be left out,
 * with what is left. What belongs to the features that are out is not there; the rest works.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/thread.h>
#include "start/features.h"

/* In place of that in ops/, in the build that has no call sites. */
__attribute__((weak)) void ftrace_init(void)
{
}

/* Is it in the table of this build? */
static bool has(const char *feature)
{
	for (const struct trace_feature *const *at = trace_feature_table; *at; at++) {
		if (!strcmp((*at)->name, feature))
			return true;
	}
	return false;
}

/* Does README have a line about the file? */
static bool is_described(const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "\n  %s\t", name);
	if (strstr(cat("README"), line))
		return true;
	snprintf(line, sizeof(line), "\n  %s -", name);
	return strstr(cat("README"), line);
}

static void files(void **state)
{
	static const struct {
		const char *feature, *path;
	} all[] = {
		{ "function_pids", "set_ftrace_pid" },
		{ "function_pids", "set_ftrace_notrace_pid" },
		{ "event_pids", "set_event_pid" },
		{ "graph", "set_graph_function" },
		{ "graph", "set_graph_notrace" },
		{ "graph", "max_graph_depth" },
		{ "graph", "options/funcgraph-cpu" },
		{ "function", "options/func_stack_trace" },
		{ "latency", "tracing_max_latency" },
		{ "profile", "function_profile_enabled" },
		{ "profile", "trace_stat/function1" },
		{ "profile", "trace_stat" },
		{ "stack_tracer", "stack_trace" },
		{ "stack_tracer", "stack_max_size" },
		{ "stack_tracer", "stack_trace_filter" },
		{ "snapshot", "snapshot" },
		{ "snapshot", "per_cpu/cpu1/snapshot_raw" },
		{ "why", "why" },
		{ "monitors", "monitors" },
		{ "monitors", "rv/available_reactors" },
		{ "monitors", "rv/monitors/wwnr/hits" },
		{ "files", "trace" },
		{ "functions", "set_ftrace_filter" },
		{ "functions", "dyn_ftrace_total_info" },
		{ "files", "per_cpu/cpu1/stats" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (has(all[i].feature) != (node_of(all[i].path) != NULL))
			fail_msg("%s with%s %s", all[i].path, has(all[i].feature) ? "" : "out",
				 all[i].feature);
		if (strchr(all[i].path, '/') || !strcmp(all[i].path, "trace_stat"))
			continue;
		if (has(all[i].feature) != is_described(all[i].path))
			fail_msg("README about %s with%s %s", all[i].path,
				 has(all[i].feature) ? "" : "out", all[i].feature);
	}
}

/* Those that end. */
static void all_can_be_read(void **state)
{
	struct trace_node *node = NULL;

	(void)state;
	while ((node = trace_fs_next_child(trace_fs_root(), node))) {
		if (!node->is_dir && (node->mode & 0400) && strcmp(node->name, "trace_pipe"))
			cat(node->name);
	}
}

static void boot_parameters(void **state)
{
	static const struct {
		const char *feature, *name, *value;
	} all[] = {
		{ "graph", "ftrace_graph_filter", "" }, { "dump", "ftrace_dump_on_oops", "0" },
		{ "stack_tracer", "stacktrace", "" },	{ "snapshot", "alloc_snapshot", "" },
		{ "files", "trace_clock", "" },		{ "functions", "ftrace_filter", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_int_equal(trace_boot_param(all[i].name, all[i].value), has(all[i].feature));
}

static void tracers(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), has("function") ? 0 : -EINVAL);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("function_graph", "current_tracer"), has("graph") ? 0 : -EINVAL);
	assert_int_equal(echo("irqsoff", "current_tracer"), has("latency") ? 0 : -EINVAL);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

static void calls_are_recorded(void **state)
{
	(void)state;
	assert_int_equal(echo("", "trace"), 0);
	if (has("function")) {
		assert_int_equal(echo("function", "current_tracer"), 0);
		call(0, 1, KFREE);
		assert_non_null(strstr(cat("trace"), "kfree <-yield"));
	}
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_non_null(strstr(cat("trace"), ": hello\n"));
}

/* A command goes with its feature. */
static void command(const char *name, bool is_there)
{
	char text[64], *help;

	snprintf(text, sizeof(text), "!kfree:%s", name);
	assert_int_equal(echo(text + 1, "set_ftrace_filter"), is_there ? 0 : -EINVAL);
	assert_int_equal(!!strstr(cat("set_ftrace_filter"), text + 1), is_there);
	if (is_there)
		assert_int_equal(echo(text, "set_ftrace_filter"), 0);
	snprintf(text, sizeof(text), " %s", name);
	help = strstr(cat("README"), " set_ftrace_filter\t");
	*strstr(help, " set_ftrace_notrace") = '\0';
	assert_int_equal(!!strstr(help, text), is_there);
}

static void commands(void **state)
{
	(void)state;
	if (!has("functions"))
		return;
	command("traceoff", has("commands"));
	command("cpudump", has("dump"));
	command("snapshot", has("snapshot"));
}

/* The trigger and the reactor `snapshot` go with either of the features that they need. */
static void snapshots_by_others(void **state)
{
	(void)state;
	if (has("events"))
		assert_int_equal(!!strstr(cat("events/ftrace/print/trigger"), " snapshot"),
				 has("trigger_snapshot"));
	if (has("monitors"))
		assert_int_equal(!!strstr(cat("rv/available_reactors"), "snapshot\n"),
				 has("monitor_snapshot"));
	assert_true(has("snapshot") || !has("trigger_snapshot"));
}

static void instances_and_threads(void **state)
{
	static struct trace_thread thread;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(!!node_of("instances/one/set_ftrace_pid"), has("function_pids"));
	assert_int_equal(echo("hello", "instances/one/trace_marker"), 0);
	assert_non_null(strstr(cat("instances/one/trace"), ": hello\n"));
	trace_thread_created(1, 77, &thread);
	trace_thread_exited(77, "worker");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(all_can_be_read),
		cmocka_unit_test(boot_parameters),
		cmocka_unit_test(tracers),
		cmocka_unit_test(calls_are_recorded),
		cmocka_unit_test(commands),
		cmocka_unit_test(snapshots_by_others),
		cmocka_unit_test(instances_and_threads),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
