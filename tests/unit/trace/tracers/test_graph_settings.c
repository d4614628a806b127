/*
 * Settings of function_graph that are taken back while the tracer runs: its callbacks are the short
 * ones again, and calls that were entered before are still right.
 */
#include "unit.h"
#include <trace/thread.h>
#include "tracefs.h"
#include "instance/array.h"
#include "tracers/graph_tracer.h"

#define PID 100

typedef void (*exit_fn)(struct fgraph_frame *, struct trace_thread *, struct fgraph_user *);

static const struct trace_graph *graph(void)
{
	return trace_graph_of(trace_global_array());
}

static const char *body(void)
{
	return cat_body("trace");
}

/* A file, what is written into it, and what takes that back. */
static const struct setting {
	const char *path, *set, *back;
} settings[] = {
	{ "max_graph_depth", "1", "0" },
	{ "set_graph_function", "do_work", "" },
	{ "set_graph_notrace", "kfree", "" },
	{ "set_ftrace_pid", "100", "" },
	{ "set_ftrace_notrace_pid", "101", "" },
	{ "tracing_thresh", "1", "0" },
	{ "trace_options", "funcgraph-retval", "nofuncgraph-retval" },
	{ "trace_options", "funcgraph-retaddr", "nofuncgraph-retaddr" },
	{ "trace_options", "nosleep-time", "sleep-time" },
	{ "trace_options", "nofuncgraph-irqs", "funcgraph-irqs" },
};

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

static void start_graph(void)
{
	fake_run(PID);
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
}

static void pair_is_recorded(void)
{
	assert_int_equal(echo("", "trace"), 0);
	fake_enter(DO_WORK, PARENT);
	fake_clock += 2500;
	assert_int_equal(fake_leave(0), PARENT);
	assert_string_equal(body(), " 0)   2.500 us    |  do_work();\n");
}

static void short_ways_come_back(void **state)
{
	const exit_fn *exit = &graph()->user.exit;
	exit_fn first;

	(void)state;
	start_graph();
	first = *exit;
	assert_int_equal(graph()->user.flags, 0);
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		const struct setting *setting = &settings[i];

		assert_int_equal(echo(setting->set, setting->path), 0);
		fake_call(DO_WORK, PARENT);
		assert_int_equal(echo(setting->back, setting->path), 0);
		assert_true(*exit == first);
		assert_int_equal(graph()->user.flags, 0);
		pair_is_recorded();
	}
}

/* The same for a tracer that starts with the setting. */
static void short_ways_come_later(void **state)
{
	const exit_fn *exit = &graph()->user.exit;
	exit_fn first;

	(void)state;
	start_graph();
	first = *exit;
	for (size_t i = 0; i < NR_SETTINGS; i++) {
		assert_int_equal(echo(settings[i].set, settings[i].path), 0);
		assert_int_equal(echo("nop", "current_tracer"), 0);
		start_graph();
		assert_int_equal(echo(settings[i].back, settings[i].path), 0);
		assert_true(*exit == first);
		assert_int_equal(graph()->user.flags, 0);
		pair_is_recorded();
	}
}

/* A call that was entered hidden has no event at its return, whatever holds by then. */
static void hidden_calls_return_hidden(void **state)
{
	(void)state;
	start_graph();
	assert_int_equal(echo("do_work", "set_graph_notrace"), 0);
	fake_enter(SCHEDULE, PARENT);
	fake_enter(DO_WORK, PARENT);
	fake_call(KFREE, PARENT);
	assert_int_equal(echo("", "set_graph_notrace"), 0);
	fake_clock += 1000;
	assert_int_equal(fake_leave(0), PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	assert_string_equal(body(), " 0)   1.000 us    |  schedule();\n");
	pair_is_recorded();
}

/* Calls of before, at their return, under what has been set meanwhile. */
static void calls_of_before(void **state)
{
	(void)state;
	start_graph();
	fake_enter(SCHEDULE, PARENT);
	fake_enter(DO_WORK, PARENT);
	fake_enter(KFREE, PARENT);
	fake_clock += 1000;
	assert_int_equal(echo("funcgraph-retval", "trace_options"), 0);
	assert_int_equal(fake_leave(7), PARENT);
	assert_int_equal(echo("schedule", "set_graph_notrace"), 0);
	assert_int_equal(fake_leave(7), PARENT);
	assert_int_equal(echo("", "set_graph_notrace"), 0);
	assert_int_equal(echo("nofuncgraph-retval", "trace_options"), 0);
	assert_int_equal(fake_leave(7), PARENT);
	assert_int_equal(echo("funcgraph-retval", "trace_options"), 0);
	assert_string_equal(body(), " 0)               |  schedule() {\n"
				    " 0)               |    do_work() {\n"
				    " 0)   1.000 us    |      kfree(); /* = 0x7 */\n"
				    " 0)   1.000 us    |    } /* do_work = 0x7 */\n"
				    " 0)   1.000 us    |  }\n");
	assert_int_equal(echo("nofuncgraph-retval", "trace_options"), 0);
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	fake_thread_add(PID, "worker");
	return err;
}

static int reset(void **state)
{
	fake_run(-1);
	return tracefs_reset(state);
}

static int check(void **state)
{
	fake_run(-1);
	assert_int_equal(fake_this->stack_used, 0);
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(short_ways_come_back),
		TEST(short_ways_come_later),
		TEST(hidden_calls_return_hidden),
		TEST(calls_of_before),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
