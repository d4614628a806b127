/*
 * Files of tracefs while a thread stands in a trampoline that a write takes away: who waits, with
 * which locks, what Ctrl-C does, when memory goes, and calls that come late.
 */
#include "unit.h"
#include "instance/array.h"
#include "graph/fgraph_private.h"
#include "ops/ftrace_private.h"
#include "instance/instance.h"
#include "tracefs.h"

#define THREAD 7

static uintptr_t stands_at;
static uint64_t nr_pauses_left;

static void stand_in(const struct ftrace_ops *ops)
{
	assert_int_not_equal(ops->trampoline.addr, 0);
	stands_at = ops->trampoline.addr + 5;
	fake_thread_stack(THREAD, &stands_at, 1);
}

static void leave(void)
{
	fake_thread_stack(THREAD, NULL, 0);
}

/* Others get on meanwhile, with all files. */
static void work_beside(void)
{
	fake_on_pause = NULL;
	assert_false(fake_lock_held(&trace_config_lock));
	assert_false(fake_lock_held(&ftrace_lock));
	assert_string_equal(cat("current_tracer"), "nop\n");
	assert_int_equal(echo("1", "options/func_stack_trace"), 0);
	assert_int_equal(echo("0", "options/func_stack_trace"), 0);
	assert_int_equal(echo("do_work", "set_ftrace_filter"), 0);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	fake_on_pause = work_beside;
	if (--nr_pauses_left == 0)
		leave();
}

static struct ftrace_ops *global_ops(void)
{
	return trace_global_array()->ops;
}

static void test_a_write_waits_without_locks(void **state)
{
	size_t before = fake_nr_trampolines;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	stand_in(global_ops());
	nr_pauses_left = 3;
	fake_on_pause = work_beside;
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(nr_pauses_left, 0);
	assert_int_equal(fake_nr_trampolines, before);
}

/* The write has happened; memory goes when the thread has left. */
static void test_interrupted_write(void **state)
{
	size_t before = fake_nr_trampolines;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	stand_in(global_ops());
	fake_interrupted = true;
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_string_equal(cat("current_tracer"), "nop\n");
	assert_int_equal(fake_nr_trampolines, before + 1);
	/* The next users get trampolines of their own, and do not wait. */
	fake_interrupted = false;
	fake_nr_pauses = 0;
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(fake_nr_trampolines, before + 2);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(fake_nr_pauses, 0);
	assert_int_equal(fake_nr_trampolines, before + 1);
	assert_true(fake_run_later());
	assert_int_equal(fake_nr_trampolines, before + 1);
	leave();
	assert_true(fake_run_later());
	assert_int_equal(fake_nr_trampolines, before);
	assert_false(fake_run_later());
}

/* The callback uses all of the instance, so that stays with the trampoline. */
static void test_removed_instance_stays(void **state)
{
	struct trace_array *tr;
	ftrace_func_t func;
	struct ftrace_ops *ops;
	long out;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "a"), 0);
	assert_int_equal(echo("function", "instances/a/current_tracer"), 0);
	tr = trace_array_next(trace_global_array());
	ops = tr->ops;
	func = ops->func;
	stand_in(ops);
	fake_interrupted = true;
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "a"), 0);
	assert_null(trace_array_next(trace_global_array()));
	out = fake_alloc_out;
	func(fake_func(DO_WORK), PARENT, ops, &(struct ftrace_regs){ 0 }); /* late */
	leave();
	assert_true(fake_run_later());
	assert_true(fake_alloc_out < out);
}

/* A late call of a command that was taken out does nothing. */
static void test_late_command(void **state)
{
	struct ftrace_ops *ops;
	ftrace_func_t func;
	long out;

	(void)state;
	assert_int_equal(echo("do_work:traceoff", "set_ftrace_filter"), 0);
	ops = ftrace_ops_list;
	func = ops->func;
	stand_in(ops);
	fake_interrupted = true;
	assert_int_equal(echo("!do_work:traceoff", "set_ftrace_filter"), 0);
	out = fake_alloc_out;
	func(fake_func(DO_WORK), PARENT, ops, &(struct ftrace_regs){ 0 });
	assert_string_equal(cat("tracing_on"), "1\n");
	leave();
	assert_true(fake_run_later());
	assert_true(fake_alloc_out < out);
}

/* A late entry of function_graph hooks no return: its shadow stacks are gone. */
static void test_late_entry_of_graph(void **state)
{
	struct ftrace_ops *ops = global_ops();
	ftrace_func_t func;
	uintptr_t slot = PARENT;
	struct ftrace_regs fregs = { .slot = &slot };

	(void)state;
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	func = ops->func;
	stand_in(ops);
	fake_interrupted = true;
	assert_int_equal(echo("nop", "current_tracer"), 0);
	fake_run(THREAD);
	func(fake_func(DO_WORK), PARENT, ops, &fregs);
	assert_int_equal(slot, PARENT);
	fake_run(-1);
	leave();
	assert_true(fake_run_later());
}

static int setup(void **state)
{
	fake_interrupted = false;
	fake_on_pause = NULL;
	fake_nr_pauses = 0;
	fake_thread_add(THREAD, "preempted");
	leave();
	return tracefs_reset(state);
}

static int teardown(void **state)
{
	fake_interrupted = false;
	fake_on_pause = NULL;
	leave();
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_write_waits_without_locks), TEST(test_interrupted_write),
		TEST(test_removed_instance_stays),	TEST(test_late_command),
		TEST(test_late_entry_of_graph),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
