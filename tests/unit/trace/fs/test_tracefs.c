/*
 * The files of tracefs that hold settings: what they say, take, refuse. The expected texts and
 * errors are those of a running Linux 6.1.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

/* Before anything was used. Runs first. */
static void sizes_before_first_use(void **state)
{
	(void)state;
	says("buffer_size_kb", "7 (expanded: 1408)\n");
	says("buffer_total_size_kb", "14 (expanded: 2816)\n");
	says("per_cpu/cpu0/buffer_size_kb", "7\n");
	assert_int_equal(echo("nop", "current_tracer"), 0);
	says("buffer_size_kb", "1408\n");
	says("buffer_total_size_kb", "2816\n");
	says("per_cpu/cpu1/buffer_size_kb", "1408\n");
}

static void tree(void **state)
{
	static const char *const files[] = {
		"README",
		"available_events",
		"available_filter_functions",
		"available_filter_functions_addrs",
		"available_tracers",
		"buffer_percent",
		"buffer_size_kb",
		"buffer_subbuf_size_kb",
		"buffer_total_size_kb",
		"current_tracer",
		"dyn_ftrace_total_info",
		"dynamic_events",
		"enabled_functions",
		"error_log",
		"events",
		"free_buffer",
		"function_profile_enabled",
		"instances",
		"kprobe_events",
		"kprobe_profile",
		"max_graph_depth",
		"monitors",
		"options",
		"per_cpu",
		"printk_formats",
		"rv",
		"saved_cmdlines",
		"saved_cmdlines_size",
		"saved_tgids",
		"scripts",
		"set_event",
		"set_event_notrace_pid",
		"set_event_pid",
		"set_ftrace_filter",
		"set_ftrace_notrace",
		"set_ftrace_notrace_pid",
		"set_ftrace_pid",
		"set_graph_function",
		"set_graph_notrace",
		"show_event_filters",
		"show_event_triggers",
		"snapshot",
		"stack_max_size",
		"stack_trace",
		"stack_trace_filter",
		"synthetic_events",
		"text_poke_stats",
		"timestamp_mode",
		"touched_functions",
		"trace",
		"trace_clock",
		"trace_marker",
		"trace_marker_raw",
		"trace_options",
		"trace_pipe",
		"trace_stat",
		"tracing_cpumask",
		"tracing_max_latency",
		"tracing_on",
		"tracing_thresh",
		"why",
	};
	struct trace_node *node = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		node = trace_fs_next_child(trace_fs_root(), node);
		assert_string_equal(node->name, files[i]);
		assert_true(strstr(cat("README"), files[i]) || node->is_dir || !i);
	}
	assert_null(trace_fs_next_child(trace_fs_root(), node));
	assert_int_equal(node_of("trace")->mode, 0640);
	assert_true(node_of("README")->mode == 0440 && node_of("trace_marker")->mode == 0220);
	assert_int_equal(node_of("per_cpu/cpu1")->mode, 0750);
	assert_non_null(node_of("per_cpu/cpu1/trace_pipe_raw"));
	assert_null(node_of("per_cpu/cpu2"));
	assert_int_equal(trace_fs_mkdir(trace_fs_root(), "x"), -EPERM);
	assert_int_equal(trace_fs_rmdir(trace_fs_root(), "options"), -EPERM);
}

static void wrong_direction(void **state)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	char byte;

	(void)state;
	assert_int_equal(echo("x", "README"), -EINVAL);
	assert_int_equal(trace_fs_open(node_of("options"), TRACE_FS_READ, &handle), -EISDIR);
	handle = open_file("trace_marker", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), -EINVAL);
	trace_fs_close(handle);
	handle = open_file("tracing_on", TRACE_FS_READ);
	assert_int_equal(trace_fs_write(handle, "0", 1, &pos), -EBADF);
	trace_fs_close(handle);
}

static void reading_in_pieces(void **state)
{
	struct trace_handle *handle = open_file("tracing_on", TRACE_FS_READ);
	uint64_t pos = 0;
	char two[2];

	(void)state;
	assert_int_equal(trace_fs_read(handle, two, 1, &pos), 1);
	assert_int_equal(trace_fs_read(handle, two + 1, 1, &pos), 1);
	assert_memory_equal(two, "1\n", 2);
	assert_int_equal(trace_fs_read(handle, two, 2, &pos), 0);
	pos = 7;
	assert_int_equal(trace_fs_read(handle, two, 1, &pos), 0);
	assert_int_equal(pos, 7);
	pos = 1;
	assert_int_equal(trace_fs_read(handle, two, 2, &pos), 1);
	assert_int_equal(two[0], '\n');
	pos = 0;
	assert_int_equal(trace_fs_read(handle, two, 2, &pos), 2);
	trace_fs_close(handle);
	for (cat_chunk = 1; cat_chunk < 9; cat_chunk++)
		says("trace_clock",
		     "[local] global counter uptime perf mono mono_raw boot fake-cycles\n");
}

static void tracers(void **state)
{
	(void)state;
	says("available_tracers",
	     "preemptirqsoff preemptoff irqsoff wakeup_rt wakeup function_graph function nop\n");
	says("current_tracer", "nop\n");
	assert_int_equal(echo("function", "current_tracer"), 0);
	says("current_tracer", "function\n");
	assert_int_equal(echo("nosuch", "current_tracer"), -EINVAL);
	says("current_tracer", "function\n");
	assert_int_equal(echo(" nop ", "current_tracer"), 0);
	says("current_tracer", "nop\n");
	assert_int_equal(echo("", "current_tracer"), -EINVAL);
}

static void numbers(void **state)
{
	static const char *const bad[] = { "foo", "", "-1", "0x1", " 1", "1 2", "1x" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(echo(bad[i], "tracing_on"), -EINVAL);
		assert_int_equal(echo(bad[i], "options/overwrite"), -EINVAL);
		assert_int_equal(echo(bad[i], "buffer_size_kb"), -EINVAL);
		assert_int_equal(echo(bad[i], "saved_cmdlines_size"), -EINVAL);
		assert_int_equal(echo(bad[i], "tracing_thresh"), -EINVAL);
	}
	assert_int_equal(echo("99999999999999999999", "tracing_on"), -ERANGE);
	assert_int_equal(echo("2", "tracing_on"), 0);
	says("tracing_on", "1\n");
	assert_int_equal(echo("0", "tracing_on"), 0);
	says("tracing_on", "0\n");
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("12", "tracing_thresh"), 0);
	says("tracing_thresh", "12\n");
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("5", "tracing_max_latency"), 0);
	says("tracing_max_latency", "5\n");
	assert_int_equal(echo("0", "tracing_max_latency"), 0);
}

static void options(void **state)
{
	(void)state;
	says("trace_options",
	     "print-parent\nnosym-offset\nnosym-addr\nnoverbose\nnoraw\nnohex\n"
	     "nobin\nnoblock\nnofields\ntrace_printk\nannotate\nnouserstacktrace\n"
	     "nosym-userobj\nnoprintk-msg-only\ncontext-info\nnolatency-format\n"
	     "record-cmd\nnorecord-tgid\noverwrite\nnodisable_on_free\nirq-info\nmarkers\n"
	     "noevent-fork\ntrace_printk_dest\ncopy_trace_marker\nnopause-on-trace\n"
	     "nohash-ptr\nnobitmask-list\nfunction-trace\nnofunction-fork\n"
	     "nodisplay-graph\nnostacktrace\nnoerrno-names\n"
	     "notest_nop_accept\nnotest_nop_refuse\n");
	assert_int_equal(echo("foo", "trace_options"), -EINVAL);
	assert_int_equal(echo("nofoo", "trace_options"), -EINVAL);
	assert_int_equal(echo(" nooverwrite ", "trace_options"), 0);
	says("options/overwrite", "0\n");
	assert_int_equal(echo("2", "options/overwrite"), -EINVAL);
	assert_int_equal(echo("1", "options/overwrite"), 0);
	says("options/overwrite", "1\n");
	assert_int_equal(echo("1", "options/test_nop_refuse"), -EINVAL);
	assert_int_equal(echo("1", "options/test_nop_accept"), 0);
	says("options/test_nop_accept", "1\n");
	assert_int_equal(echo("notest_nop_accept", "trace_options"), 0);
	says("options/test_nop_accept", "0\n");
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("test_nop_accept", "trace_options"), -EINVAL);
}

static void clocks(void **state)
{
	(void)state;
	assert_int_equal(echo(" global ", "trace_clock"), 0);
	says("trace_clock", "local [global] counter uptime perf mono mono_raw boot fake-cycles\n");
	assert_int_equal(echo("sundial", "trace_clock"), -EINVAL);
	says("trace_clock", "local [global] counter uptime perf mono mono_raw boot fake-cycles\n");
}

static void buffer_sizes(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "buffer_size_kb"), -EINVAL);
	assert_int_equal(echo("99999999999", "buffer_size_kb"), -ENOMEM);
	says("buffer_size_kb", "1408\n");
	assert_int_equal(echo("64", "per_cpu/cpu1/buffer_size_kb"), 0);
	says("buffer_size_kb", "X\n");
	says("per_cpu/cpu0/buffer_size_kb", "1408\n");
	says("per_cpu/cpu1/buffer_size_kb", "64\n");
	says("buffer_total_size_kb", "1472\n");
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
	says("buffer_size_kb", "1408\n");
	fake_alloc_budget = 2;
	assert_int_equal(echo("4096", "buffer_size_kb"), -ENOMEM);
	fake_alloc_budget = -1;
	says("buffer_size_kb", "1408\n");
}

static void cpumask(void **state)
{
	(void)state;
	says("tracing_cpumask", "3\n");
	assert_int_equal(echo("1", "tracing_cpumask"), 0);
	says("tracing_cpumask", "1\n");
	assert_int_equal(echo("8", "tracing_cpumask"), -EOVERFLOW);
	assert_int_equal(echo("g", "tracing_cpumask"), -EINVAL);
	assert_int_equal(echo("0,1,", "tracing_cpumask"), -EINVAL);
	assert_int_equal(echo("1,0", "tracing_cpumask"), -EOVERFLOW);
	assert_int_equal(echo("ffffffffff", "tracing_cpumask"), -EOVERFLOW);
	says("tracing_cpumask", "1\n");
	assert_int_equal(echo("", "tracing_cpumask"), 0);
	says("tracing_cpumask", "0\n");
	assert_int_equal(echo("0,00000003", "tracing_cpumask"), 0);
	says("tracing_cpumask", "3\n");
	/* A masked CPU records nothing. */
	assert_int_equal(echo("2", "tracing_cpumask"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	call(1, 1, KFREE);
	assert_int_equal(echo("3", "tracing_cpumask"), 0);
	assert_string_equal(cat_body("per_cpu/cpu0/trace"), "");
	assert_string_not_equal(cat_body("per_cpu/cpu1/trace"), "");
}

static void pids(void **state)
{
	static const char *const bad[] = { "foo", "-1", "1 bad 2", "99999999999", "2147483648" };

	(void)state;
	says("set_ftrace_pid", "no pid\n");
	says("set_ftrace_notrace_pid", "no pid\n");
	assert_int_equal(echo("5 3", "set_ftrace_pid"), 0);
	says("set_ftrace_pid", "3\n5\n");
	assert_int_equal(echo_append("9 5", "set_ftrace_pid"), 0);
	cat_chunk = 1;
	says("set_ftrace_pid", "3\n5\n9\n");
	says("set_ftrace_notrace_pid", "no pid\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(echo_append(bad[i], "set_ftrace_pid"), -EINVAL);
	says("set_ftrace_pid", "3\n5\n9\n");
	assert_int_equal(echo("foo", "set_ftrace_pid"), -EINVAL);
	says("set_ftrace_pid", "no pid\n");
	assert_int_equal(echo("0", "set_ftrace_pid"), 0);
	says("set_ftrace_pid", "0\n");
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
	says("set_ftrace_pid", "no pid\n");
}

/*
 * One write may bring more threads than fit in a page of text; a longer one is refused as a whole.
 */
static void many_pids(void **state)
{
	static char list[70000];
	size_t len = 0;

	(void)state;
	for (int pid = 1; pid <= 3000; pid++)
		len += (size_t)sprintf(list + len, "%d ", pid);
	assert_int_equal(put(list, len, "set_ftrace_pid", TRACE_FS_TRUNC), 0);
	assert_non_null(strstr(cat("set_ftrace_pid"), "\n2999\n3000\n"));
	memset(list + len, ' ', sizeof(list) - len);
	assert_int_equal(put(list, sizeof(list), "set_ftrace_pid", 0), -EINVAL);
	assert_non_null(strstr(cat("set_ftrace_pid"), "\n3000\n"));
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
}

/* Call once as each of the threads; what was recorded. */
static const char *seen_pids(void)
{
	static char text[64];
	const char *line = text;
	size_t len = 0;

	assert_int_equal(echo("", "trace"), 0);
	for (int32_t pid = 1; pid <= 4; pid++) {
		struct trace_thread *thread = fake_thread_of(pid);

		fake_cpus[0].thread = thread ? *thread : (struct trace_thread){ 0 };
		call(0, pid, KFREE);
	}
	assert_int_equal(echo("1", "options/raw"), 0);
	text[0] = '\0';
	for (line = cat_body("trace"); *line; line = strchr(line, '\n') + 1)
		len += (size_t)sprintf(text + len, "%d ", atoi(line));
	assert_int_equal(echo("0", "options/raw"), 0);
	return text;
}

static void pid_filters(void **state)
{
	struct trace_thread thread = { 0 };

	(void)state;
	for (int32_t pid = 1; pid <= 4; pid++)
		fake_thread_add(pid, "worker");
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_string_equal(seen_pids(), "1 2 3 4 ");
	assert_int_equal(echo("2 4", "set_ftrace_pid"), 0);
	assert_string_equal(seen_pids(), "2 4 ");
	assert_int_equal(echo("4", "set_ftrace_notrace_pid"), 0);
	assert_string_equal(seen_pids(), "2 ");
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
	assert_string_equal(seen_pids(), "1 2 3 ");
	assert_int_equal(echo("", "set_ftrace_notrace_pid"), 0);
	assert_string_equal(seen_pids(), "1 2 3 4 ");
	/* Threads that are made later. */
	assert_int_equal(echo("2", "set_ftrace_pid"), 0);
	trace_thread_created(2, 77, &thread);
	assert_int_equal(thread.ignored_by, 1);
	assert_int_equal(echo("1", "options/function-fork"), 0);
	trace_thread_created(2, 78, &thread);
	assert_int_equal(thread.ignored_by, 0);
	says("set_ftrace_pid", "2\n78\n");
	trace_thread_exited(2, "worker");
	says("set_ftrace_pid", "78\n");
	trace_thread_exited(78, "worker");
	says("set_ftrace_pid", "78\n");
	assert_int_equal(echo("0", "options/function-fork"), 0);
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
}

static void filters(void **state)
{
	(void)state;
	says("set_ftrace_filter", "#### all functions enabled ####\n");
	says("set_ftrace_notrace", "#### no functions disabled ####\n");
	says("available_filter_functions", "schedule\nyield\ndo_work\nkfree\n");
	assert_int_equal(echo("yield", "set_ftrace_filter"), 0);
	assert_int_equal(echo_append("schedule", "set_ftrace_filter"), 0);
	says("set_ftrace_filter", "schedule\nyield\n");
	assert_int_equal(echo("*k*", "set_ftrace_filter"), 0);
	cat_chunk = 3;
	says("set_ftrace_filter", "do_work\nkfree\n");
	assert_int_equal(echo("kfree", "set_ftrace_notrace"), 0);
	says("set_ftrace_notrace", "kfree\n");
	assert_int_equal(put("", 0, "set_ftrace_notrace", TRACE_FS_TRUNC), 0);
	says("set_ftrace_notrace", "#### no functions disabled ####\n");
	assert_int_equal(echo("do_work nosuch", "set_ftrace_filter"), -EINVAL);
	says("set_ftrace_filter", "do_work\n");
	assert_true(strstr(cat("dyn_ftrace_total_info"), "4 pages:") ==
		    cat("dyn_ftrace_total_info"));
	assert_string_equal(cat("enabled_functions"), "");
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_true(strstr(cat("enabled_functions"), "do_work (1)") == cat("enabled_functions"));
}

static void error_log(void **state)
{
	(void)state;
	assert_int_equal(put("", 0, "error_log", TRACE_FS_TRUNC), 0);
	says("error_log", "");
	fake_why_not_add("kmalloc_fast", "inlined everywhere");
	assert_int_equal(echo("  kmalloc_fast", "set_ftrace_filter"), -EINVAL);
	says("error_log", "[   12.345678] set_ftrace_filter: error: kmalloc_fast: inlined "
			  "everywhere\n  Command:   kmalloc_fast\n             ^\n");
	fake_clock = 1234999999999;
	assert_int_equal(echo("nosuch", "set_ftrace_notrace"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "[ 1234.999999] set_ftrace_notrace: "));
	fake_clock = 123456000001000;
	assert_int_equal(echo("nosuch", "set_ftrace_notrace"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "[123456.000001] set_ftrace_notrace: "));
	for (int i = 0; i < 12; i++)
		assert_int_equal(echo(i < 11 ? "nosuch" : "last", "set_ftrace_notrace"), -EINVAL);
	assert_null(strstr(cat("error_log"), "kmalloc_fast"));
	assert_non_null(strstr(cat("error_log"), "  Command: last\n           ^\n"));
	assert_int_equal(echo_append("kept", "error_log"), 0);
	assert_string_not_equal(cat("error_log"), "");
	assert_int_equal(echo("", "error_log"), 0);
	says("error_log", "");
}

/* Opening every file fails cleanly when memory runs out. */
static void open_without_memory(void **state)
{
	static const char *const paths[] = {
		"trace",
		"trace_pipe",
		"trace_stat/function0",
		"per_cpu/cpu0/trace_pipe_raw",
		"set_ftrace_filter",
		"available_filter_functions",
		"README",
	};
	const unsigned int flags = TRACE_FS_READ | TRACE_FS_WRITE;
	struct trace_handle *handle;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		long nr;

		for_each_allocation(nr, trace_fs_open(node_of(paths[i]), flags, &handle))
			assert_int_equal(fake_alloc_out, memory_out);
		assert_true(nr > 0);
		trace_fs_close(handle);
		assert_int_equal(fake_alloc_out, memory_out);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

static struct trace_node *walk(const char *path)
{
	struct trace_node *node = trace_fs_root(), *dir;

	while (*path) {
		size_t len = strcspn(path, "/");

		dir = node;
		node = trace_fs_lookup(dir, path, len);
		assert_non_null(node);
		trace_fs_put(dir);
		path += len + (path[len] == '/');
	}
	return node;
}

static struct trace_fs_attr attr_of(const char *path)
{
	struct trace_node *node = walk(path);
	struct trace_fs_attr attr;

	trace_fs_get_attr(node, &attr);
	trace_fs_put(node);
	return attr;
}

static int set_attr(const char *path, unsigned int which, uint32_t owner, uint16_t mode)
{
	const struct trace_fs_attr attr = {
		.which = which, .mode = mode, .uid = owner, .gid = owner
	};
	struct trace_node *node = walk(path);
	int err = trace_fs_set_attr(node, &attr);

	trace_fs_put(node);
	return err;
}

/* Of one file, though its node is made anew for each look; and of all. */
static void owners_stay(void **state)
{
	static const char enable[] = "events/sched/sched_switch/enable", dir[] = "events/sched";
	const struct trace_fs_attr group = { .which = TRACE_FS_GID, .gid = 5 };
	const struct trace_fs_attr root = { .which = TRACE_FS_GID | TRACE_FS_UID };

	(void)state;
	assert_int_equal(attr_of(enable).mode, 0640);
	assert_int_equal(set_attr(dir, TRACE_FS_GID, 7, 0), 0);
	assert_int_equal(set_attr(enable, TRACE_FS_UID, 3, 0), 0);
	assert_int_equal(set_attr(enable, TRACE_FS_MODE, 0, 0600), 0);
	assert_true(attr_of(dir).gid == 7 && attr_of(dir).uid == 0);
	assert_true(attr_of(enable).gid == 0 && attr_of(enable).mode == 0600);
	trace_fs_set_owner(&group);
	assert_true(attr_of(dir).gid == 5 && attr_of("trace").gid == 5);
	assert_true(attr_of(enable).uid == 3 && attr_of(enable).mode == 0600);
	/* An instance has what its directory has then. */
	assert_int_equal(set_attr("instances", TRACE_FS_GID, 9, 0), 0);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "owned"), 0);
	assert_int_equal(set_attr("instances/owned/trace", TRACE_FS_UID, 4, 0), 0);
	assert_true(attr_of("instances/owned/events/sched").gid == 9);
	assert_true(attr_of("instances/owned/trace").gid == 9 && attr_of("trace").gid == 5);
	trace_fs_set_owner(&root);
	assert_true(!attr_of("instances/owned/trace").uid && !attr_of("instances/owned").gid);
	assert_true(!attr_of(enable).uid && !attr_of(dir).gid);
	assert_int_equal(set_attr(enable, TRACE_FS_MODE, 0, 0640), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "owned"), 0);
}

/* A change without memory changes nothing. */
static void owners_without_memory(void **state)
{
	(void)state;
	fake_alloc_budget = 0;
	assert_int_equal(set_attr("trace", TRACE_FS_UID, 3, 0), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(attr_of("trace").uid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_stay),
		cmocka_unit_test(owners_without_memory),
		cmocka_unit_test(sizes_before_first_use),
		TEST(tree),
		TEST(wrong_direction),
		TEST(reading_in_pieces),
		TEST(tracers),
		TEST(numbers),
		TEST(options),
		TEST(clocks),
		TEST(buffer_sizes),
		TEST(cpumask),
		TEST(pids),
		TEST(many_pids),
		TEST(pid_filters),
		TEST(filters),
		TEST(error_log),
		TEST(open_without_memory),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
