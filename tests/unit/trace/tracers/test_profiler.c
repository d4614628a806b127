/*
 * The function profiler, through its files: hits where a call began, times where it ended, options,
 * filters, mistakes. The clock is set by hand.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/fgraph.h>
#include <trace/host_tracepoints.h>
#include "instance/array.h"
#include "tracers/profile.h"

#define HEAD                                                                                       \
	"  Function                               Hit    Time            Avg             s^2\n"    \
	"  --------                               ---    ----            ---             ---\n"

static void is(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void enter(size_t index)
{
	fake_enter(index, PARENT);
}

static void leave(uint64_t ns)
{
	fake_clock += ns;
	assert_int_equal(fake_leave(7), PARENT);
}

static void once(size_t index, uint64_t ns)
{
	enter(index);
	leave(ns);
}

static int create(void **state)
{
	int err = tracefs_setup(state);

	fake_thread_add(70, "one");
	fake_thread_add(71, "two");
	return err;
}

static int setup(void **state)
{
	tracefs_reset(state);
	fake_bind(1);
	fake_run(71);
	fake_bind(0);
	fake_run(70);
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_bind(1);
	fake_run(-1);
	fake_bind(0);
	fake_run(-1);
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("1", "options/graph-time"), 0);
	assert_int_equal(echo("1", "options/sleep-time"), 0);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	assert_int_equal(echo("", "set_ftrace_notrace"), 0);
	is("enabled_functions", "");
	assert_int_equal(fake_nr_trampolines, 0);
	assert_false(trace_sched_switch_enabled());
	return 0;
}

/* Runs first: nothing exists yet. */
static void before_first_use(void **state)
{
	(void)state;
	is("function_profile_enabled", "0\n");
	is("trace_stat/function0", HEAD);
	is("trace_stat/function1", HEAD);
	assert_null(node_of("trace_stat/function2"));
	/* Nothing is counted without the pointers, whatever else there is memory for. */
	fake_alloc_budget = 0;
	fake_alloc_fails_once = true;
	assert_int_equal(trace_profile_enable(true), -ENOMEM);
	fake_alloc_fails_once = false;
	/* The pointers, two tables, the stacks of two threads: what was got is kept. */
	for (int have = 0; have < 5; have++) {
		fake_alloc_budget = have < 3;
		assert_int_equal(trace_profile_enable(true), -ENOMEM);
		fake_alloc_budget = -1;
		is("function_profile_enabled", "0\n");
		is("enabled_functions", "");
	}
	assert_int_equal(trace_profile_enable(true), 0);
	assert_int_equal(trace_profile_enable(false), 0);
	is("trace_stat/function0", HEAD);
}

static void counts_and_times(void **state)
{
	(void)state;
	is("function_profile_enabled", "1\n");
	enter(SCHEDULE);
	once(KFREE, 1000);
	once(KFREE, 3000);
	leave(500);
	once(DO_WORK, 250);
	is("trace_stat/function0", HEAD "  schedule                                 1    4.500 us  "
					"      4.500 us        0.000 us    \n"
					"  kfree                                    2    4.000 us  "
					"      2.000 us        2.000 us    \n"
					"  do_work                                  1    0.250 us  "
					"      0.250 us        0.000 us    \n");
	is("trace_stat/function1", HEAD);
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	once(KFREE, 3000);
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  kfree                                    2  "));
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	is("trace_stat/function0", HEAD);
}

/* Writing 1 again changes nothing; a call that is under way ends well when it is switched off. */
static void switched_inside_a_call(void **state)
{
	(void)state;
	enter(SCHEDULE);
	once(KFREE, 10);
	assert_int_equal(echo("5", "function_profile_enabled"), 0);
	is("function_profile_enabled", "1\n");
	assert_non_null(strstr(cat("trace_stat/function0"), "kfree"));
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	leave(10);
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	is("trace_stat/function0", HEAD);
}

static void mistakes(void **state)
{
	(void)state;
	assert_int_equal(echo("garbage", "function_profile_enabled"), -EINVAL);
	assert_int_equal(echo("-1", "function_profile_enabled"), -EINVAL);
	assert_int_equal(echo("", "function_profile_enabled"), -EINVAL);
	assert_int_equal(echo("99999999999999999999", "function_profile_enabled"), -ERANGE);
	is("function_profile_enabled", "1\n");
	assert_int_equal(echo("1", "trace_stat/function0"), -EINVAL);
	fake_alloc_budget = 2;
	once(KFREE, 10);
	assert_int_equal(trace_fs_open(node_of("trace_stat/function0"), TRACE_FS_READ,
				       &(struct trace_handle *){ NULL }),
			 -ENOMEM);
	fake_alloc_budget = -1;
}

/* Live, as the function tracer's: the filter of the global instance counts. */
static void filters_are_followed(void **state)
{
	(void)state;
	assert_int_equal(echo("kfree", "set_ftrace_filter"), 0);
	once(KFREE, 10);
	once(SCHEDULE, 10);
	assert_non_null(strstr(cat("enabled_functions"), "kfree (1)"));
	assert_null(strstr(cat("enabled_functions"), "schedule"));
	assert_null(strstr(cat("trace_stat/function0"), "schedule"));
	assert_int_equal(echo_append("schedule", "set_ftrace_filter"), 0);
	assert_int_equal(echo("kfree", "set_ftrace_notrace"), 0);
	once(KFREE, 10);
	once(SCHEDULE, 10);
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  kfree                                    1  "));
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  schedule                                 1  "));
	/* Begun with a filter. */
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	once(KFREE, 10);
	once(DO_WORK, 10);
	once(SCHEDULE, 10);
	assert_null(strstr(cat("trace_stat/function0"), "do_work"));
	assert_null(strstr(cat("trace_stat/function0"), "kfree"));
	/* No memory for the second copy: neither of the two changes. */
	fake_alloc_budget = 0;
	assert_int_equal(ftrace_set_global_filter("do_work", 7, true), -ENOMEM);
	fake_alloc_budget = 1;
	assert_int_equal(ftrace_set_global_filter("do_work", 7, true), -ENOMEM);
	fake_alloc_budget = -1;
	is("set_ftrace_filter", "schedule\nkfree\n");
	assert_null(strstr(cat("enabled_functions"), "do_work"));
}

/* As in Linux: the time goes to the CPU of the return, if that knows the function. */
static void another_cpu_at_the_return(void **state)
{
	(void)state;
	enter(KFREE);
	fake_this->id = 1;
	leave(10);
	is("trace_stat/function0", HEAD "  kfree                                    1    0.000 us  "
					"      0.000 us        0.000 us    \n");
	is("trace_stat/function1", HEAD);
	once(KFREE, 5);
	fake_this->id = 0;
	enter(KFREE);
	fake_this->id = 1;
	leave(10);
	fake_this->id = 0;
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  kfree                                    2    0.000 us"));
	assert_non_null(strstr(cat("trace_stat/function1"),
			       "  kfree                                    1    0.015 us"));
}

static void without_graph_time(void **state)
{
	(void)state;
	once(SCHEDULE, 5); /* known: the usual way */
	assert_int_equal(echo("0", "options/graph-time"), 0);
	enter(SCHEDULE);
	once(KFREE, 1000);
	once(KFREE, 1000);
	leave(500);
	is("trace_stat/function0", HEAD "  kfree                                    2    2.000 us  "
					"      1.000 us        0.000 us    \n"
					"  schedule                                 2    0.505 us  "
					"      0.252 us        0.122 us    \n");
	/* A call that began before the option was off counts whole. */
	assert_int_equal(echo("1", "options/graph-time"), 0);
	enter(SCHEDULE);
	assert_int_equal(echo("0", "options/graph-time"), 0);
	once(KFREE, 1000);
	leave(500);
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  schedule                                 3    2.005 us"));
}

static void sleep_thread(uint64_t ns)
{
	struct trace_sched_thread me = { .thread = trace_plat_current(), .pid = 60 };
	struct trace_sched_thread other = { .thread = fake_thread_of(61), .pid = 61 };

	trace_sched_switch(&me, &other);
	fake_clock += ns;
	trace_sched_switch(&other, &me);
}

static void without_sleep_time(void **state)
{
	(void)state;
	fake_thread_add(60, "sleeper");
	fake_thread_add(61, "other");
	trace_thread_created(0, 60, fake_thread_of(60));
	trace_thread_created(0, 61, fake_thread_of(61));
	fake_run(60);
	enter(SCHEDULE);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("0", "instances/one/options/sleep-time"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_false(trace_sched_switch_enabled()); /* it has no users */
	fake_clock += 7000;
	leave(10);
	assert_int_equal(echo("0", "options/sleep-time"), 0);
	assert_true(trace_sched_switch_enabled());
	enter(SCHEDULE);
	sleep_thread(7000);
	leave(10);
	is("trace_stat/function0", HEAD "  schedule                                 2    7.020 us  "
					"      3.510 us        24.500 us   \n");
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_false(trace_sched_switch_enabled());
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	assert_true(trace_sched_switch_enabled());
	assert_int_equal(echo("1", "options/sleep-time"), 0);
	assert_false(trace_sched_switch_enabled());
	fake_run(60);
	trace_thread_exited(60, "sleeper");
	fake_run(61);
	trace_thread_exited(61, "other");
	fake_run(70);
}

static void sleep_without_memory(void **state)
{
	(void)state;
	fake_alloc_budget = 0;
	assert_int_equal(echo("0", "options/sleep-time"), -ENOMEM);
	fake_alloc_budget = -1;
	assert_false(trace_sched_switch_enabled());
	is("options/sleep-time", "1\n");
	is("function_profile_enabled", "1\n");
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("0", "options/sleep-time"), 0);
	fake_alloc_budget = 0;
	assert_int_equal(echo("1", "function_profile_enabled"), -ENOMEM);
	fake_alloc_budget = -1;
	is("function_profile_enabled", "0\n");
	assert_false(trace_sched_switch_enabled());
}

static void interrupt(void)
{
	atomic_fetch_add(&fake_this->preempt_count, 1u << 16);
	fake_enter(KFREE, PARENT);
	assert_int_equal(fake_leave(1), PARENT);
	atomic_fetch_sub(&fake_this->preempt_count, 1u << 16);
}

/* Interrupts at every reading of the clock: all are counted, as are those that they interrupt. */
static void interrupts_count(void **state)
{
	(void)state;
	fake_clock_irq = interrupt;
	for (int i = 0; i < 10; i++)
		once(SCHEDULE, 1);
	fake_clock_irq = NULL;
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  schedule                                10  "));
	assert_non_null(strstr(cat("trace_stat/function0"),
			       "  kfree                                   20  "));
}

/* Beside the graph tracer and another user, on the same sites. */
static void with_other_users(void **state)
{
	(void)state;
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	enter(SCHEDULE);
	once(KFREE, 1000);
	leave(500);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	once(KFREE, 1000);
	is("trace_stat/function0", HEAD "  kfree                                    2    2.000 us  "
					"      1.000 us        0.000 us    \n"
					"  schedule                                 1    1.500 us  "
					"      1.500 us        0.000 us    \n");
}

static void an_open_file_is_a_copy(void **state)
{
	struct trace_handle *handle;
	char text[1000];
	uint64_t pos = 0;

	(void)state;
	once(KFREE, 10);
	handle = open_file("trace_stat/function0", TRACE_FS_READ);
	once(SCHEDULE, 100);
	assert_true(trace_fs_read(handle, text, sizeof(text), &pos) > 0);
	assert_null(memmem(text, pos, "schedule", 8));
	pos = 0;
	assert_true(trace_fs_read(handle, text, sizeof(text), &pos) > 0);
	assert_non_null(memmem(text, pos, "schedule", 8));
	trace_fs_close(handle);
}

/* Runs last: graph tracing stops for good. Calls are neither hooked nor counted. */
static void nothing_when_graph_tracing_is_dead(void **state)
{
	(void)state;
	once(KFREE, 1000);
	ftrace_graph_stop();
	assert_int_equal(*fake_enter(KFREE, PARENT), PARENT);
	leave(1000);
	is("trace_stat/function0", HEAD "  kfree                                    1    1.000 us  "
					"      1.000 us        0.000 us    \n");
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("1", "function_profile_enabled"), -ENODEV);
	is("function_profile_enabled", "0\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_first_use),
		TEST(counts_and_times),
		TEST(switched_inside_a_call),
		TEST(mistakes),
		TEST(filters_are_followed),
		TEST(another_cpu_at_the_return),
		TEST(without_graph_time),
		TEST(without_sleep_time),
		TEST(sleep_without_memory),
		TEST(interrupts_count),
		TEST(with_other_users),
		TEST(an_open_file_is_a_copy),
		TEST(nothing_when_graph_tracing_is_dead),
	};

	return cmocka_run_group_tests(tests, create, NULL);
}
