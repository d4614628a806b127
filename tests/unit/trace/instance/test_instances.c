/*
 * Instances and snapshots on the fake machine: what belongs to whom, what is refused, what is left
 * when memory runs out, and who may still look at an instance that goes.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include <trace/tracer.h>

static int make(const char *name)
{
	return trace_fs_mkdir(node_of("instances"), name);
}

static int drop(const char *name)
{
	return trace_fs_rmdir(node_of("instances"), name);
}

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void names(void **state)
{
	char longest[129];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[128] = '\0';
	assert_int_equal(make(longest), -ENAMETOOLONG);
	longest[127] = '\0';
	assert_int_equal(make(longest), 0);
	assert_int_equal(make(longest), -EEXIST);
	assert_int_equal(drop(longest), 0);
	assert_int_equal(drop(longest), -ENOENT);
	assert_int_equal(make(""), -EINVAL);
	assert_int_equal(make("a/b"), -EINVAL);
	assert_int_equal(make("a name"), 0);
	assert_int_equal(make("..."), 0);
	assert_int_equal(trace_fs_mkdir(node_of("instances/..."), "nested"), -EPERM);
	assert_int_equal(trace_fs_rmdir(node_of("instances/..."), "per_cpu"), -EPERM);
	assert_int_equal(trace_fs_rmdir(trace_fs_root(), "instances"), -EPERM);
	assert_int_equal(drop("a name"), 0);
	assert_int_equal(drop("..."), 0);
}

static void files(void **state)
{
	static const char *const none[] = { "README",
					    "instances",
					    "tracing_thresh",
					    "saved_cmdlines",
					    "text_poke_stats",
					    "touched_functions",
					    "enabled_functions",
					    "printk_formats",
					    "options/trace_printk",
					    "options/record-cmd" };
	static const char *const some[] = { "trace",
					    "snapshot",
					    "set_ftrace_filter",
					    "set_ftrace_pid",
					    "free_buffer",
					    "buffer_percent",
					    "per_cpu/cpu1/snapshot_raw",
					    "options/verbose",
					    "options/test_nop_accept" };
	char path[100];

	(void)state;
	assert_int_equal(make("one"), 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		snprintf(path, sizeof(path), "instances/one/%s", none[i]);
		assert_null(node_of(path));
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		snprintf(path, sizeof(path), "instances/one/%s", some[i]);
		assert_non_null(node_of(path));
	}
	assert_string_equal(node_of("instances/one")->parent->name, "instances");
	assert_int_equal(drop("one"), 0);
}

/* Each has its own of everything. */
static void apart(void **state)
{
	(void)state;
	assert_int_equal(make("one"), 0);
	assert_int_equal(make("two"), 0);
	assert_int_equal(echo("schedule", "instances/one/set_ftrace_filter"), 0);
	assert_int_equal(echo("kfree", "instances/two/set_ftrace_filter"), 0);
	assert_int_equal(echo("function", "instances/one/current_tracer"), 0);
	assert_int_equal(echo("function", "instances/two/current_tracer"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, SCHEDULE);
	call(1, 1, KFREE);
	call(1, 1, KFREE);
	assert_int_equal(count_in("instances/one/trace", "schedule <-"), 1);
	assert_int_equal(count_in("instances/one/trace", "<-"), 1);
	assert_int_equal(count_in("instances/two/trace", "kfree <-"), 2);
	assert_int_equal(count_in("instances/two/per_cpu/cpu0/trace", "<-"), 0);
	assert_int_equal(count_in("trace", "<-"), 3);
	assert_int_equal(echo("0", "instances/two/tracing_on"), 0);
	assert_int_equal(echo("1", "instances/one/tracing_cpumask"), 0);
	assert_int_equal(echo("16", "instances/one/buffer_size_kb"), 0);
	assert_int_equal(echo("counter", "instances/one/trace_clock"), 0);
	assert_int_equal(echo("1", "instances/one/options/raw"), 0);
	assert_int_equal(echo("1", "instances/one/options/test_nop_accept"), 0);
	says("tracing_on", "1\n");
	says("tracing_cpumask", "3\n");
	says("buffer_size_kb", "1408\n");
	says("options/raw", "0\n");
	says("options/test_nop_accept", "0\n");
	says("instances/one/options/test_nop_accept", "1\n");
	assert_non_null(strstr(cat("trace_clock"), "[local]"));
	call(0, 1, KFREE);
	call(1, 1, SCHEDULE);
	assert_int_equal(count_in("instances/two/trace", "<-"), 2);
	assert_string_equal(cat_body("instances/one/trace"), ""); /* the clock emptied it */
	assert_int_equal(count_in("trace", "<-"), 5);
	/* Errors stay where they were made. */
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("nosuch", "instances/two/set_ftrace_filter"), -EINVAL);
	says("error_log", "");
	assert_non_null(strstr(cat("instances/two/error_log"), "nosuch"));
	assert_int_equal(echo("mine", "instances/one/trace_marker"), 0);
	assert_int_equal(count_in("trace", "mine"), 0);
	assert_int_equal(drop("one"), 0);
	assert_int_equal(drop("two"), 0);
	call(0, 1, SCHEDULE);
	assert_int_equal(count_in("trace", "<-"), 6);
}

static void inherits(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/sym-offset"), 0);
	assert_int_equal(echo("1", "options/function-fork"), 0);
	assert_int_equal(echo("0", "options/overwrite"), 0);
	assert_int_equal(make("one"), 0);
	says("instances/one/options/sym-offset", "1\n");
	says("instances/one/options/function-fork", "0\n");
	says("instances/one/options/overwrite", "0\n");
	assert_int_equal(echo("0", "options/sym-offset"), 0);
	assert_int_equal(echo("0", "options/function-fork"), 0);
	assert_int_equal(echo("1", "options/overwrite"), 0);
	says("instances/one/options/sym-offset", "1\n");
	assert_int_equal(drop("one"), 0);
}

static void busy(void **state)
{
	struct trace_handle *handle;
	struct trace_array *tr;

	(void)state;
	assert_int_equal(make("one"), 0);
	handle = open_file("instances/one/tracing_on", TRACE_FS_READ);
	assert_int_equal(drop("one"), -EBUSY);
	says("instances/one/tracing_on", "1\n"); /* nothing has changed */
	trace_fs_close(handle);
	tr = trace_array_get_by_name("one");
	assert_non_null(tr);
	assert_int_equal(drop("one"), -EBUSY);
	assert_int_equal(trace_array_destroy(tr), -EBUSY);
	trace_array_printk(tr, "from code %d\n", 5);
	assert_int_equal(count_in("instances/one/trace", ": from code 5"), 1);
	assert_int_equal(count_in("trace", "from code"), 0);
	trace_array_put(tr);
	assert_int_equal(drop("one"), 0);
	assert_int_equal(trace_array_destroy(tr), -ENOENT);
	assert_null(trace_array_get_by_name("a/b"));
	tr = trace_array_get_by_name("new");
	assert_non_null(node_of("instances/new/trace"));
	trace_array_put(tr);
	assert_int_equal(trace_array_destroy(tr), 0);
	assert_null(node_of("instances/new"));
}

/* A walker stands in a directory that goes. */
static void held_nodes(void **state)
{
	struct trace_node *dir, *file;
	struct trace_handle *handle;
	char name[20];

	(void)state;
	assert_int_equal(make("one"), 0);
	dir = trace_fs_lookup(node_of("instances"), "one", 3);
	file = trace_fs_lookup(dir, "trace", 5);
	assert_int_equal(trace_fs_entry(dir, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "available_tracers");
	assert_int_equal(trace_fs_entry(dir, 0, name, 6), 0);
	assert_string_equal(name, "avail");
	assert_int_equal(trace_fs_entry(dir, 1000, name, sizeof(name)), -ENOENT);
	assert_int_equal(drop("one"), 0);
	assert_null(trace_fs_lookup(dir, "trace", 5));
	assert_int_equal(trace_fs_entry(dir, 0, name, sizeof(name)), -ENOENT);
	assert_int_equal(trace_fs_open(file, TRACE_FS_READ, &handle), -ENODEV);
	assert_int_equal(make("one"), 0); /* the name is free again */
	assert_int_equal(trace_fs_open(file, TRACE_FS_READ, &handle), -ENODEV);
	trace_fs_put(file);
	trace_fs_put(dir);
	assert_int_equal(drop("one"), 0);
}

/* Every allocation of mkdir fails once: nothing is left, and the next attempt works. */
static void no_memory(void **state)
{
	long nr;

	(void)state;
	for_each_allocation(nr, make("one")) {
		assert_int_equal(fake_alloc_out, memory_out);
		assert_null(node_of("instances/one"));
	}
	assert_true(nr > 4);
	assert_int_equal(drop("one"), 0);
}

static int late_init(struct trace_array *tr)
{
	(void)tr;
	return 0;
}

static void late_tracer(void **state)
{
	static const struct tracer_option options[] = { { "late-one", 1 }, { "late-two", 2 } };
	static struct tracer late = { .name = "late",
				      .init = late_init,
				      .options = options,
				      .nr_options = 2,
				      .default_bits = 2 };

	(void)state;
	assert_int_equal(make("one"), 0);
	for (long budget = 0; budget < 2; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(register_tracer(&late), -ENOMEM);
		fake_alloc_budget = -1;
		assert_null(node_of("options/late-one"));
	}
	assert_int_equal(register_tracer(&late), 0);
	memory_out++; /* the root keeps its files for good */
	says("options/late-two", "1\n");
	says("instances/one/options/late-one", "0\n");
	says("instances/one/options/late-two", "1\n");
	assert_int_equal(echo("0", "instances/one/options/late-two"), 0);
	says("options/late-two", "1\n");
	assert_non_null(strstr(cat("instances/one/available_tracers"), "late"));
	assert_int_equal(drop("one"), 0);
	assert_int_equal(make("one"), 0);
	says("instances/one/options/late-two", "1\n");
	assert_int_equal(drop("one"), 0);
}

/* Thread filters: a bit of the thread for each instance that has one. */
static void thread_filters(void **state)
{
	char name[20], path[60];

	(void)state;
	fake_thread_add(1, "a");
	fake_thread_add(2, "b");
	assert_int_equal(make("one"), 0);
	assert_int_equal(echo("1", "instances/one/set_ftrace_pid"), 0);
	assert_int_equal(echo("2", "set_ftrace_pid"), 0);
	assert_int_equal(fake_thread_of(1)->ignored_by & fake_thread_of(2)->ignored_by, 0);
	assert_int_equal(echo("function", "instances/one/current_tracer"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int32_t pid = 1; pid <= 2; pid++) {
		fake_cpus[0].thread = *fake_thread_of(pid);
		call(0, pid, KFREE);
	}
	assert_int_equal(count_in("trace", "-2 "), 1);
	assert_int_equal(count_in("trace", "kfree <-"), 1);
	assert_int_equal(count_in("instances/one/trace", "-1 "), 1);
	assert_int_equal(count_in("instances/one/trace", "kfree <-"), 1);
	assert_int_equal(drop("one"), 0);
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
	assert_int_equal(fake_thread_of(1)->ignored_by | fake_thread_of(2)->ignored_by, 0);
	fake_cpus[0].thread = *fake_thread_of(1);
	/* 64 may filter at the same time, however many instances there are. */
	for (int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "i%d", i);
		snprintf(path, sizeof(path), "instances/i%d/set_ftrace_notrace_pid", i);
		assert_int_equal(make(name), 0);
		assert_int_equal(echo("1", path), i < 64 ? 0 : -ENOSPC);
	}
	says("instances/i64/set_ftrace_notrace_pid", "no pid\n");
	assert_int_equal(fake_thread_of(1)->ignored_by, UINT64_MAX);
	assert_int_equal(echo("", "instances/i7/set_ftrace_notrace_pid"), 0);
	assert_int_equal(echo("1", "instances/i64/set_ftrace_notrace_pid"), 0);
	for (int i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "i%d", i);
		assert_int_equal(drop(name), 0);
	}
	assert_int_equal(fake_thread_of(1)->ignored_by, 0);
}

#define DEST "options/trace_printk_dest"
#define COPY "options/copy_trace_marker"
#define ONE  "instances/one/"
#define TWO  "instances/two/"

/* The global instance has the option, and no other. */
static void dest_is_global(void)
{
	says(DEST, "1\n");
	says(ONE DEST, "0\n");
	if (node_of("instances/two"))
		says(TWO DEST, "0\n");
}

/* How many lines of the `trace` in `dir` have `text`, and forget them. */
static int nr_in(const char *dir, const char *text)
{
	char path[60];
	int nr;

	snprintf(path, sizeof(path), "%strace", dir);
	nr = count_in(path, text);
	assert_int_equal(echo("", path), 0);
	return nr;
}

/* trace_printk() and its kin write to one instance, that with the option. */
static void printk_dest(void **state)
{
	static const char *const dirs[] = { ONE, TWO, "" };

	(void)state;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE) + 1);
	fake_stack_nr = 1;
	assert_int_equal(make("one"), 0);
	assert_int_equal(echo("1", ONE DEST), 0);
	assert_int_equal(make("two"), 0); /* it is not inherited */
	for (size_t i = 0; i < 3; i++) {
		char path[60];

		snprintf(path, sizeof(path), "%s" DEST, dirs[i]);
		assert_int_equal(echo("1", path), 0);
		says(path, "1\n");
		trace_printk("said: integer %d\n", 1);
		trace_printk("said: words %d %d\n", 1, 2);
		trace_printk("said: literal\n");
		trace_puts("said: puts\n");
		trace_dump_stack(0);
		for (size_t j = 0; j < 3; j++) {
			snprintf(path, sizeof(path), "%strace", dirs[j]);
			assert_int_equal(count_in(path, "=> kfree"), i == j);
			assert_int_equal(nr_in(dirs[j], "said: "), i == j ? 4 : 0);
		}
	}
	fake_stack_nr = 0;
	assert_int_equal(drop("one"), 0);
	assert_int_equal(drop("two"), 0);
}

/* One instance has it at any time: the global one, when no other has. */
static void printk_dest_returns(void **state)
{
	(void)state;
	assert_int_equal(make("one"), 0);
	assert_int_equal(make("two"), 0);
	dest_is_global();
	assert_int_equal(echo("0", DEST), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "another instance has to set it\n"));
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("notrace_printk_dest", "trace_options"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "another instance has to set it\n"));
	assert_int_equal(echo("", "error_log"), 0);
	dest_is_global();
	assert_int_equal(echo("trace_printk_dest", ONE "trace_options"), 0);
	says(DEST, "0\n");
	assert_int_equal(echo("0", DEST), 0); /* it is 0 */
	assert_int_equal(echo("0", TWO DEST), 0);
	says(ONE DEST, "1\n");
	assert_int_equal(echo("0", ONE DEST), 0);
	dest_is_global();
	assert_int_equal(echo("1", TWO DEST), 0);
	assert_int_equal(drop("two"), 0);
	dest_is_global();
	trace_printk("said: %d\n", 1);
	assert_int_equal(nr_in("", "said: 1"), 1);
	assert_int_equal(drop("one"), 0);
}

/* The options of that instance count, not those of the global one. */
static void printk_dest_options(void **state)
{
	(void)state;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE) + 1);
	fake_stack_nr = 1;
	assert_int_equal(make("one"), 0);
	assert_int_equal(echo("1", ONE DEST), 0);
	assert_int_equal(echo("notrace_printk", "trace_options"), 0);
	assert_int_equal(echo("stacktrace", "trace_options"), 0);
	trace_printk("said: %d\n", 1);
	assert_int_equal(count_in(ONE "trace", "=> kfree"), 0);
	assert_int_equal(nr_in(ONE, "said: 1"), 1);
	assert_int_equal(echo("trace_printk", "trace_options"), 0);
	assert_int_equal(echo("nostacktrace", "trace_options"), 0);
	assert_int_equal(echo("stacktrace", ONE "trace_options"), 0);
	trace_printk("said: %d %d\n", 1, 2);
	assert_int_equal(count_in(ONE "trace", "=> kfree"), 1);
	assert_int_equal(nr_in(ONE, "said: 1 2"), 1);
	assert_int_equal(echo("notrace_printk", ONE "trace_options"), 0);
	trace_printk("said: %d\n", 1);
	trace_printk("said: literal\n");
	assert_int_equal(nr_in(ONE, "said: "), 0);
	assert_int_equal(nr_in("", "said: "), 0);
	fake_stack_nr = 0;
	assert_int_equal(drop("one"), 0);
}

/* A marker of the global instance goes to all that have the option. */
static void marker_copies(void **state)
{
	(void)state;
	assert_int_equal(make("one"), 0);
	says(COPY, "1\n");
	says(ONE COPY, "0\n");
	assert_int_equal(echo("1", ONE COPY), 0);
	assert_int_equal(make("two"), 0);
	says(TWO COPY, "0\n");				       /* not inherited */
	assert_int_equal(echo("0", ONE "options/markers"), 0); /* counts for its own file */
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(nr_in(ONE, ": hello\n"), 1);
	assert_int_equal(nr_in("", ": hello\n"), 1);
	assert_int_equal(nr_in(TWO, "hello"), 0);
	assert_int_equal(echo("1", ONE "options/markers"), 0);
	assert_int_equal(put("\x34\x12\0\0abcd", 8, "trace_marker_raw", 0), 0);
	assert_int_equal(nr_in("", "# 1234 buf: 61 62 63 64\n"), 1);
	assert_int_equal(nr_in(ONE, "# 1234 buf: 61 62 63 64\n"), 1);
	assert_int_equal(echo("hello", ONE "trace_marker"), 0);
	assert_int_equal(nr_in(ONE, "hello"), 1);
	assert_int_equal(nr_in("", "hello"), 0);
	assert_int_equal(echo("0", "options/markers"), 0);
	assert_int_equal(echo("hello", "trace_marker"), -EINVAL);
	assert_int_equal(nr_in(ONE, "hello"), 0);
	assert_int_equal(echo("1", "options/markers"), 0);
	assert_int_equal(drop("two"), 0);
	assert_int_equal(drop("one"), 0);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(nr_in("", "hello"), 1);
}

static void marker_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(make("one"), 0);
	assert_int_equal(echo("0", COPY), 0);
	assert_int_equal(echo("hello", "trace_marker"), -ENODEV);
	assert_int_equal(put("\x34\x12\0\0abcd", 8, "trace_marker_raw", 0), -ENODEV);
	assert_int_equal(echo("hello", ONE "trace_marker"), 0); /* the one of its own */
	assert_int_equal(nr_in("", "hello"), 0);
	assert_int_equal(nr_in(ONE, "hello"), 1);
	assert_int_equal(echo("1", ONE COPY), 0);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(nr_in("", "hello"), 0);
	assert_int_equal(nr_in(ONE, "hello"), 1);
	/* Who does not record keeps nothing from others. */
	assert_int_equal(echo("1", COPY), 0);
	assert_int_equal(echo("0", ONE "tracing_on"), 0);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(nr_in("", "hello"), 1);
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(echo("hello", "trace_marker"), -EBADF);
	assert_int_equal(echo("1", ONE "tracing_on"), 0);
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(nr_in(ONE, "hello"), 1);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(drop("one"), 0);
}

/* Each gets all of a text, in pieces that fit everywhere; what cannot be cut is refused. */
static void marker_sizes(void **state)
{
	static char text[6000];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(make("one"), 0);
	assert_int_equal(echo("1", ONE COPY), 0);
	assert_int_equal(echo("8", ONE "buffer_subbuf_size_kb"), 0);
	assert_int_equal(put(text, sizeof(text), "trace_marker", 0), 0);
	assert_int_equal(nr_in(ONE, ": xx"), 2);
	assert_int_equal(nr_in("", ": xx"), 2);
	assert_int_equal(put(text, sizeof(text), "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(put(text, sizeof(text), ONE "trace_marker_raw", 0), 0);
	assert_int_equal(nr_in(ONE, "buf:"), 1);
	assert_int_equal(nr_in("", "buf:"), 0);
	assert_int_equal(drop("one"), 0);
}

static int teardown(void **state)
{
	assert_null(trace_fs_next_child(node_of("instances"), NULL));
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names),
		TEST(files),
		TEST(apart),
		TEST(inherits),
		TEST(busy),
		TEST(held_nodes),
		TEST(no_memory),
		TEST(late_tracer),
		TEST(thread_filters),
		TEST(printk_dest),
		TEST(printk_dest_returns),
		TEST(printk_dest_options),
		TEST(marker_copies),
		TEST(marker_elsewhere),
		TEST(marker_sizes),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
