/*
 * Refusals of the files of tracefs, on the fake machine: numbers that are too large, and unknown
 * words.
 */
#include "unit.h"
#include "tracefs.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "instance/event_private.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Numbers at the edges: what is refused changes nothing, what is taken is not a smaller one. */
static void numbers(void **state)
{
	static const struct {
		const char *path;
		const char *text;
		int err;
	} stores[] = {
		{ "tracing_thresh", "18446744073709551", 0 },
		{ "tracing_thresh", "18446744073709552", -ERANGE },
		{ "tracing_thresh", "18446744073709551615", -ERANGE },
		{ "tracing_thresh", "18446744073709551616", -ERANGE },
		{ "tracing_thresh", "-1", -EINVAL },
		{ "tracing_max_latency", "18446744073709551", 0 },
		{ "tracing_max_latency", "18446744073709552", -ERANGE },
		{ "tracing_max_latency", "18446744073709551615", -ERANGE },
		{ "buffer_size_kb", "18014398509481984", -ENOMEM }, /* 2^64 bytes */
		{ "buffer_size_kb", "18014398509481988", -ENOMEM },
		{ "buffer_size_kb", "4194304", -ENOMEM }, /* 2^32 bytes */
		{ "buffer_size_kb", "18446744073709551615", -ENOMEM },
		{ "buffer_size_kb", "18446744073709551616", -ERANGE },
		{ "per_cpu/cpu0/buffer_size_kb", "18014398509481988", -ENOMEM },
		{ "buffer_subbuf_size_kb", "513", -EINVAL },
		{ "buffer_subbuf_size_kb", "4294967300", -EINVAL },
		{ "buffer_subbuf_size_kb", "18014398509481988", -EINVAL },
		{ "buffer_percent", "100", 0 },
		{ "buffer_percent", "101", -EINVAL },
		{ "buffer_percent", "4294967296", -EINVAL },
		{ "max_graph_depth", "4294967296", -ERANGE },
		{ "max_graph_depth", "18446744073709551615", -ERANGE },
		{ "saved_cmdlines_size", "4294967296", -EINVAL },
		{ "saved_cmdlines_size", "18446744073709551615", -EINVAL },
		{ "snapshot", "18446744073709551616", -ERANGE },
		{ "set_ftrace_pid", "2147483648", -EINVAL },
		{ "set_ftrace_pid", "4294967297", -EINVAL },
		{ "set_ftrace_notrace_pid", "18446744073709551617", -EINVAL },
		{ "options/overwrite", "4294967297", -EINVAL },
		{ "set_ftrace_filter", "schedule:traceon:18446744073709551616", -ERANGE },
		{ "set_ftrace_filter", "schedule:traceon:9223372036854775808", -ERANGE },
		{ "stack_max_size", "18446744073709551616", -ERANGE },
	};
	char before[64];

	(void)state;
	for (size_t i = 0; i < NR(stores); i++) {
		const char *path = stores[i].path;
		int err;

		snprintf(before, sizeof(before), "%.60s", cat(path));
		/* Opening with truncation clears these. */
		if (strstr(path, "pid"))
			snprintf(before, sizeof(before), "no pid\n");
		err = echo(stores[i].text, path);
		if (err != stores[i].err)
			fail_msg("%s > %s: %d", stores[i].text, path, err);
		if (!err)
			snprintf(before, sizeof(before), "%s\n", stores[i].text);
		if (strncmp(cat(path), before, 60) != 0)
			fail_msg("%s > %s: %s", stores[i].text, path, cat(path));
	}
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("0", "tracing_max_latency"), 0);
	assert_int_equal(echo("50", "buffer_percent"), 0);
}

/* ---- error_log ---- */

/* The last entry: "where: error: why", the command, the column of the caret in it. */
static void last_error(char *where_why, char *command, size_t *out_pos)
{
	const char *text = cat("error_log"), *last, *end;

	assert_int_not_equal(strlen(text), 0);
	last = text;
	while (strstr(last, "\n["))
		last = strstr(last, "\n[") + 1;
	last = strchr(last, ']') + 2;
	end = strchr(last, '\n');
	sprintf(where_why, "%.*s", (int)(end - last), last);
	assert_memory_equal(end + 1, "  Command: ", 11);
	last = end + 12;
	end = strchr(last, '\n');
	sprintf(command, "%.*s", (int)(end - last), last);
	last = end + 1;
	end = strchr(last, '^');
	assert_string_equal(end, "^\n");
	*out_pos = (size_t)(end - last) - 11;
}

static void expect_error(const char *path, const char *text, const char *why, size_t pos)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char got[1000], command[1000], want[1000];
	size_t got_pos;

	last_error(got, command, &got_pos);
	snprintf(want, sizeof(want), "%s: error: %s", name, why);
	assert_string_equal(got, want);
	assert_string_equal(command, text);
	if (got_pos != pos)
		fail_msg("%s > %s: caret at %zu", text, path, got_pos);
}

static void mistakes(void **state)
{
	static const char number[] = "not a number", large[] = "the number is too large";
	static const struct {
		const char *path, *text, *why;
		int err;
		size_t pos;
	} stores[] = {
		{ "current_tracer", "funktion", "no such tracer", -EINVAL, 0 },
		{ "current_tracer", "  no such", "no such tracer", -EINVAL, 2 },
		{ "current_tracer", "", "no such tracer", -EINVAL, 0 },
		{ "trace_clock", " lokal", "no such clock", -EINVAL, 1 },
		{ "trace_options", "nonsense", "no such option, or one that the tracer refuses",
		  -EINVAL, 0 },
		{ "trace_options", "test_nop_refuse",
		  "no such option, or one that the tracer refuses", -EINVAL, 0 },
		{ "options/overwrite", "2", "neither 0 nor 1", -EINVAL, 0 },
		{ "options/overwrite", "on", number, -EINVAL, 0 },
		{ "options/test_nop_refuse", "1", "the tracer refuses it", -EINVAL, 0 },
		{ "tracing_cpumask", "0g",
		  "not a mask: groups of hexadecimal digits, with commas between", -EINVAL, 1 },
		{ "tracing_cpumask", "4", "more CPUs than there are", -EOVERFLOW, 0 },
		{ "buffer_size_kb", "12k", number, -EINVAL, 2 },
		{ "buffer_size_kb", "+x", number, -EINVAL, 1 },
		{ "buffer_size_kb", "+12k", number, -EINVAL, 3 },
		{ "buffer_size_kb", "0", "a buffer has at least 1", -EINVAL, 0 },
		{ "buffer_size_kb", "18446744073709551615", "more than there can be", -ENOMEM, 0 },
		{ "per_cpu/cpu1/buffer_size_kb", "-1", number, -EINVAL, 0 },
		{ "buffer_subbuf_size_kb", "513", "not from 1 to 512", -EINVAL, 0 },
		{ "buffer_subbuf_size_kb", "4 4", number, -EINVAL, 1 },
		{ "buffer_percent", "101", "more than 100", -EINVAL, 0 },
		{ "buffer_percent", "half", number, -EINVAL, 0 },
		{ "set_ftrace_pid", "1 x 2", "not the number of a thread", -EINVAL, 2 },
		{ "set_ftrace_pid", "2147483648", "not the number of a thread", -EINVAL, 0 },
		{ "set_ftrace_notrace_pid", "-7", "not the number of a thread", -EINVAL, 0 },
		{ "tracing_on", "yes", number, -EINVAL, 0 },
		{ "tracing_on", "1 ", number, -EINVAL, 1 },
		{ "max_graph_depth", "4294967296", large, -ERANGE, 0 },
		{ "max_graph_depth", "3x", number, -EINVAL, 1 },
		{ "tracing_thresh", "18446744073709552", "more microseconds than fit", -ERANGE, 0 },
		{ "tracing_thresh", "18446744073709551616", large, -ERANGE, 0 },
		{ "tracing_max_latency", "1.5", number, -EINVAL, 1 },
		{ "saved_cmdlines_size", "0", "room for no name at all", -EINVAL, 0 },
		{ "saved_cmdlines_size", "4294967296", "more names than there can be", -EINVAL, 0 },
		{ "snapshot", "now", number, -EINVAL, 0 },
		{ "per_cpu/cpu0/snapshot", "0", "memory is given back for all CPUs at once",
		  -EINVAL, 0 },
		{ "stack_max_size", "-1", number, -EINVAL, 0 },
		{ "function_profile_enabled", "?", number, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(stores); i++) {
		int err;

		assert_int_equal(echo("", "error_log"), 0);
		err = echo(stores[i].text, stores[i].path);
		if (err != stores[i].err)
			fail_msg("%s > %s: %d", stores[i].text, stores[i].path, err);
		expect_error(stores[i].path, stores[i].text, stores[i].why, stores[i].pos);
	}
	assert_int_equal(echo("", "error_log"), 0);
}

/* In use is no mistake in the text, but worth a word. */
static void refusals(void **state)
{
	struct trace_handle *pipe, *trace;

	(void)state;
	assert_int_equal(echo("", "error_log"), 0);
	pipe = open_file("trace_pipe", TRACE_FS_READ);
	assert_int_equal(echo("function", "current_tracer"), -EBUSY);
	expect_error("current_tracer", "function", "the tracer is in use, or a trace_pipe is open",
		     0);
	assert_int_equal(trace_fs_close(pipe), 0);
	trace = open_file("trace", TRACE_FS_READ);
	assert_int_equal(echo("64", "buffer_size_kb"), -EBUSY);
	expect_error("buffer_size_kb", "64", "somebody reads the trace or the snapshot", 0);
	assert_int_equal(trace_fs_close(trace), 0);
	/* No memory is no mistake of the writer. */
	assert_int_equal(echo("", "error_log"), 0);
	fake_alloc_budget = 2;
	assert_int_equal(echo("6000", "buffer_size_kb"), -ENOMEM);
	fake_alloc_budget = -1;
	assert_string_equal(cat("error_log"), "");
}

static void too_long(void **state)
{
	char text[5000], where_why[1000], command[1000];
	size_t pos;

	(void)state;
	memset(text, '1', sizeof(text));
	assert_int_equal(put(text, 4500, "tracing_on", 0), -EINVAL);
	last_error(where_why, command, &pos);
	assert_string_equal(where_why, "tracing_on: error: the text is too long");
	assert_int_equal(strlen(command), 255);
	assert_int_equal(pos, 64);
	assert_int_equal(echo("", "error_log"), 0);
}

/* Files that take any text, or bytes. */
static bool takes_anything(const char *path)
{
	static const char *const names[] = { "trace", "trace_marker", "trace_marker_raw",
					     "free_buffer", "error_log" };

	for (size_t i = 0; i < NR(names); i++)
		if (strcmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, names[i]) == 0)
			return true;
	return false;
}

static uint32_t nr_files;

static void try_file(struct trace_node *node, const char *path)
{
	char where_why[1000], command[1000];
	size_t pos;
	int err;

	if ((!node->file->store && !node->file->write) || takes_anything(path))
		return;
	nr_files++;
	assert_int_equal(echo("", "error_log"), 0);
	/* Filters have an error number for each kind of mistake, as on Linux. */
	err = echo_append("~ nonsense", path);
	if (err != -EINVAL && !(err == -EPERM && strstr(path, "/filter")))
		fail_msg("%s takes nonsense", path);
	if (!*cat("error_log"))
		fail_msg("%s: error_log is empty", path);
	last_error(where_why, command, &pos);
	if (strcmp(node->name, "filter") == 0)
		assert_non_null(strstr(where_why, "event filter parse error"));
	else
		assert_memory_equal(where_why, node->name, strlen(node->name));
	assert_string_equal(command, "~ nonsense");
}

static void try_all(struct trace_node *dir, const char *prefix)
{
	struct trace_node *node = NULL;
	char path[300];

	while ((node = trace_fs_next_child(dir, node))) {
		snprintf(path, sizeof(path), "%s%s", prefix, node->name);
		if (!node->is_dir) {
			try_file(node, path);
			continue;
		}
		strcat(path, "/");
		try_all(node, path);
	}
}

/* Every file that there is: nonsense is refused, and said to be. */
static void every_file(void **state)
{
	(void)state;
	nr_files = 0;
	try_all(trace_fs_root(), "");
	assert_in_range(nr_files, 60, 1000);
	assert_int_equal(echo("", "error_log"), 0);
	clear_filters();
}

#define T(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

static const struct trace_plat_lock *events_lock;
static uint32_t nr_events_locks, nr_bare; /* let go; of these without the config lock */

static void learn_lock(const struct trace_plat_lock *lock)
{
	events_lock = lock;
}

static void count_locks(const struct trace_plat_lock *lock)
{
	nr_events_locks += lock == events_lock;
	nr_bare += lock == events_lock && !fake_lock_held(&trace_config_lock);
}

/* Files that change all events of a system hold the config lock before they walk over the events. */
static void events_change_under_the_config_lock(void **state)
{
	static const struct {
		const char *path, *text;
	} stores[] = { { "set_event", "sched:*\n" },
		       { "set_event", "" },
		       { "events/enable", "1\n" },
		       { "events/sched/enable", "0\n" },
		       { "events/sched/filter", "common_pid == 1\n" },
		       { "events/sched/filter", "0\n" },
		       { "events/enable", "0\n" },
		       { "dynamic_events", "e:my/late sched.sched_switch\n" },
		       { "dynamic_events", "" },
		       { "synthetic_events", "late int nr\n" },
		       { "synthetic_events", "" } };

	(void)state;
	fake_on_unlock = learn_lock;
	trace_events_lock();
	trace_events_unlock();
	fake_on_unlock = NULL;
	for (size_t i = 0; i < NR(stores); i++) {
		struct trace_node *node = node_of(stores[i].path);
		size_t len = strlen(stores[i].text);
		struct trace_handle *handle;
		uint64_t pos = 0;

		nr_events_locks = nr_bare = 0;
		fake_on_unlock = count_locks;
		assert_int_equal(trace_fs_open(node, TRACE_FS_WRITE | TRACE_FS_TRUNC, &handle), 0);
		if (len)
			assert_int_equal(trace_fs_write(handle, stores[i].text, len, &pos), len);
		assert_int_equal(trace_fs_close(handle), 0);
		fake_on_unlock = NULL;
		assert_true(nr_events_locks > 0);
		assert_int_equal(nr_bare, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(numbers),  T(mistakes),   T(refusals),
		T(too_long), T(every_file), T(events_change_under_the_config_lock),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
