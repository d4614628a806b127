/*
 * Triggers of ftrace:print, the event of trace_marker: conditions on its text, what they see, and who
 * else may write such events without setting them off. tests/golden has what Linux says of them.
 */
#include "unit.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "text/str.h"
#include "host/yard.h"

#define PRINT "events/ftrace/print/"

static int all_off(void **state)
{
	static const char *const removals[] = { "!traceoff", "!snapshot", "!stacktrace",
						"!enable_event:yard:yard_full" };

	assert_int_equal(put("", 0, PRINT "trigger", TRACE_FS_TRUNC), 0);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(removals); i++)
		assert_int_equal(echo_append(removals[i], PRINT "trigger"), 0);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	fake_stack_nr = 0;
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

static void set(const char *text)
{
	assert_int_equal(echo_append(text, PRINT "trigger"), 0);
}

/* As printf does, without a newline. */
static void mark(const char *text)
{
	assert_int_equal(put(text, strlen(text), "trace_marker", 0), 0);
}

static void has_files(const char *dir, const char *const *names)
{
	struct trace_node *node = NULL;

	for (; *names; names++) {
		node = trace_fs_next_child(node_of(dir), node);
		assert_string_equal(node->name, *names);
	}
	assert_null(trace_fs_next_child(node_of(dir), node));
}

/* Events that are always recorded cannot be switched, here or from anywhere else. */
static void files(void **state)
{
	static const char *const of_print[] = { "format",     "hist",	     "hist_ascii",
						"hist_debug", "hist_folded", "hist_picture",
						"id",	      "trigger",     NULL };
	static const char *const of_type[] = { "format", "hist", "hist_debug", "id", NULL };

	(void)state;
	has_files("events/ftrace/print", of_print);
	has_files("events/ftrace/bprint", of_type);
	has_files("events/ftrace/function", of_type);
	assert_string_equal(cat("events/ftrace/bprint/hist"), "");
	assert_string_equal(cat("events/ftrace/bprint/hist_debug"), "");
	assert_null(node_of("events/ftrace/enable"));
	assert_null(node_of("events/ftrace/bprint/trigger"));
	set("traceoff:3 if buf == \"x\"");
	assert_null(strstr(cat("available_events"), "ftrace:"));
	assert_string_equal(cat("set_event"), "");
	assert_non_null(strstr(cat("show_event_triggers"), "ftrace:print"));
	assert_int_equal(echo("ftrace:print", "set_event"), -EINVAL);
	assert_int_equal(echo("print", "set_event"), -EINVAL);
	assert_int_equal(echo_append("enable_event:ftrace:print", "events/yard/yard_full/trigger"),
			 -EINVAL);
}

/* The marker that ends the trace is the last one in it. */
static void traceoff(void **state)
{
	(void)state;
	set("traceoff if buf == \"stop\"");
	mark("stopped");
	mark("sto");
	mark("");
	tracing_is(true);
	mark("stop");
	tracing_is(false);
	assert_int_equal(count_in("trace", ": stop\n"), 1);
	assert_int_equal(put("on", 2, "trace_marker", 0), -EBADF);
	/* Of `echo` the newline does not count. */
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("stop", "trace_marker"), 0);
	tracing_is(false);
}

/* Nothing happens for a text that is not recorded, so no marker switches recording on. */
static void not_recorded(void **state)
{
	(void)state;
	set("hist:keys=buf");
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(put("lost", 4, "trace_marker", 0), -EBADF);
	assert_int_equal(echo("1", "tracing_on"), 0);
	mark("kept");
	assert_null(strstr(cat(PRINT "hist"), "lost"));
	assert_non_null(strstr(cat(PRINT "hist"), "{ buf: kept  "));
	assert_int_equal(echo("0", "options/markers"), 0);
	assert_int_equal(put("none", 4, "trace_marker", 0), -EINVAL);
	assert_int_equal(echo("1", "options/markers"), 0);
	assert_non_null(strstr(cat(PRINT "hist"), "    Hits: 1\n"));
}

/* They have the same type of event. */
static void other_writers(void **state)
{
	(void)state;
	set("traceoff");
	trace_puts_at(fake_func(SCHEDULE), "puts");
	trace_printk("printk %d", 1);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	assert_int_equal(echo("mark", "instances/two/trace_marker"), 0);
	tracing_is(true);
	assert_string_equal(cat("instances/two/tracing_on"), "1\n");
	/* And the other way round. */
	set("!traceoff");
	assert_int_equal(echo("traceoff", "instances/two/" PRINT "trigger"), 0);
	mark("one");
	assert_string_equal(cat("instances/two/tracing_on"), "1\n");
	assert_int_equal(echo("mark", "instances/two/trace_marker"), 0);
	assert_string_equal(cat("instances/two/tracing_on"), "0\n");
	tracing_is(true);
	/* They go with the instance. */
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	mark("two");
}

/* Each instance that a marker goes to looks at it. */
static void copies(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	assert_int_equal(echo("1", "instances/two/options/copy_trace_marker"), 0);
	assert_int_equal(echo("traceoff", "instances/two/" PRINT "trigger"), 0);
	mark("both");
	assert_string_equal(cat("instances/two/tracing_on"), "0\n");
	tracing_is(true);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

static void snapshot(void **state)
{
	(void)state;
	set("snapshot:1 if buf ~ \"*done*\"");
	mark("begin");
	mark("all done");
	mark("behind");
	assert_int_equal(count_in("snapshot", ": begin\n"), 1);
	assert_int_equal(count_in("snapshot", ": all done\n"), 1);
	assert_int_equal(count_in("trace", ": behind\n"), 1);
	assert_int_equal(count_in("trace", "done"), 0);
}

static void stack_and_event(void **state)
{
	(void)state;
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	set("stacktrace if common_pid == 1 && common_preempt_count == 0 && buf == \"here\"");
	set("enable_event:yard:yard_full if buf == \"here\"");
	mark("there");
	trace_yard_full(1, 1);
	mark("here");
	trace_yard_full(2, 1);
	assert_int_equal(count_in("trace", ": here\n"), 1);
	assert_int_equal(count_in("trace", "<stack trace>\n => schedule\n"), 1);
	assert_int_equal(count_in("trace", "used="), 1);
	assert_int_equal(count_in("trace", "used=2"), 1);
}

/* More than a trigger sees is recorded; it sees the beginning. */
static void long_text(void **state)
{
	static char text[60000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 2] = 'z';
	assert_int_equal(echo("64", "buffer_subbuf_size_kb"), 0);
	set("traceoff if buf ~ \"*z\"");
	set("hist:keys=common_pid if buf ~ \"aa*\"");
	mark(text);
	tracing_is(true);
	assert_int_equal(count_in("trace", "aaz\n"), 1);
	assert_non_null(strstr(cat(PRINT "hist"), "    Hits: 1\n"));
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

static void mistakes(void **state)
{
	(void)state;
	assert_int_equal(echo_append("traceoff if text == \"x\"", PRINT "trigger"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "trigger: error: Field not found\n"
						 "  Command: traceoff if text == \"x\"\n"));
	assert_int_equal(echo_append("traceoff if buf == 5", PRINT "trigger"), -EINVAL);
	assert_int_equal(echo_append("hist:keys=nosuch", PRINT "trigger"), -EINVAL);
	assert_non_null(
		strstr(cat("error_log"), "hist:ftrace:print: error: Couldn't find field\n"));
	assert_non_null(strstr(cat(PRINT "trigger"), "# Available triggers:"));
}

/* The first trigger of an instance needs memory. */
static void no_memory(void **state)
{
	long budget = 0;
	int err;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	look_at_all(trace_fs_root());
	do {
		fake_alloc_budget = budget++;
		err = put("traceoff", 8, "instances/two/" PRINT "trigger", 0);
		fake_alloc_budget = -1;
		assert_int_equal(echo("mark", "instances/two/trace_marker"), 0);
		assert_string_equal(cat("instances/two/tracing_on"), err ? "1\n" : "0\n");
	} while (err == -ENOMEM);
	assert_int_equal(err, 0);
	assert_true(budget > 2);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files, event_reset, all_off),
		cmocka_unit_test_setup_teardown(traceoff, event_reset, all_off),
		cmocka_unit_test_setup_teardown(not_recorded, event_reset, all_off),
		cmocka_unit_test_setup_teardown(other_writers, event_reset, all_off),
		cmocka_unit_test_setup_teardown(copies, event_reset, all_off),
		cmocka_unit_test_setup_teardown(snapshot, event_reset, all_off),
		cmocka_unit_test_setup_teardown(stack_and_event, event_reset, all_off),
		cmocka_unit_test_setup_teardown(long_text, event_reset, all_off),
		cmocka_unit_test_setup_teardown(mistakes, event_reset, all_off),
		cmocka_unit_test_setup_teardown(no_memory, event_reset, all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
