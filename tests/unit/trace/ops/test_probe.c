/*
 * Function commands and probes: what is set, listed, called, counted, taken away; and the stack
 * traces and repeats of the function tracer.
 */
#include "unit.h"
#include "allocations.h"
#include "child.h"
#include "tracefs.h"
#include <trace/ftrace_probe.h>
#include "instance/array.h"
#include "instance/entry.h"

#define FILTER "set_ftrace_filter"
#define EMPTY  "#### all functions enabled ####\n"

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static bool is_on(void)
{
	return strcmp(cat("tracing_on"), "1\n") == 0;
}

static void switches(void **state)
{
	(void)state;
	assert_int_equal(echo("schedule:traceoff:2", FILTER), 0);
	assert_int_equal(echo("yield:traceon", FILTER), 0);
	says(FILTER, EMPTY "yield:traceon:unlimited\nschedule:traceoff:count=2\n");
	call(0, 1, YIELD); /* nothing to switch */
	for (int i = 0; i < 3; i++) {
		call(i % 2, 1, SCHEDULE);
		assert_int_equal(is_on(), i == 2); /* the count is used up */
		call(0, 1, SCHEDULE);		   /* it is off already: does not count */
		call(1, 1, YIELD);
		assert_true(is_on());
	}
	says(FILTER, EMPTY "yield:traceon:unlimited\nschedule:traceoff:count=0\n");
	assert_int_equal(echo("!schedule:traceoff", FILTER), -ENODEV);
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("!yield:traceoff:0", FILTER), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "the command is not set for such a function\n"));
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("!schedule:traceoff:0", FILTER), 0);
	assert_int_equal(echo("!*:traceon", FILTER), 0);
	says(FILTER, EMPTY);
	says("enabled_functions", "");
}

static void globs(void **state)
{
	(void)state;
	assert_int_equal(echo("k*:traceoff:3", FILTER), 0);
	assert_int_equal(echo("*:traceoff:5", FILTER), 0); /* those that have not got it */
	says(FILTER, EMPTY "schedule:traceoff:count=5\nyield:traceoff:count=5\n"
			   "do_work:traceoff:count=5\nkfree:traceoff:count=3\n");
	assert_int_equal(echo("*:traceoff:7", FILTER), -EINVAL);
	assert_int_equal(echo("!*l*:traceoff:0", FILTER), 0);
	says(FILTER, EMPTY "do_work:traceoff:count=5\nkfree:traceoff:count=3\n");
	call(0, 1, SCHEDULE);
	assert_true(is_on());
	call(0, 1, KFREE);
	assert_false(is_on());
	says(FILTER, EMPTY "do_work:traceoff:count=5\nkfree:traceoff:count=2\n");
	assert_int_equal(echo("1", "tracing_on"), 0);
	/* Behind the functions of the filter, which they do not touch. */
	assert_int_equal(echo("schedule", FILTER), 0);
	says(FILTER, "schedule\ndo_work:traceoff:count=5\nkfree:traceoff:count=2\n");
	assert_int_equal(echo("!*:traceoff:0", FILTER), 0);
	says(FILTER, EMPTY);
}

static void refusals(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *why;
	} cases[] = {
		{ "schedule:nonsense", -EINVAL, "nonsense: no such command\n" },
		{ "schedule:", -EINVAL, ": no such command\n" },
		{ "schedule:traceoff:x", -EINVAL, "x: count is not a number\n" },
		{ "schedule:traceoff:-1", -EINVAL, "-1: count is not a number\n" },
		{ "schedule:traceoff:99999999999999999999", -ERANGE, ": count is too large\n" },
		{ "schedule:traceoff:9223372036854775808", -ERANGE, ": count is too large\n" },
		{ "absent:traceoff", -EINVAL, "absent: no function matches that has not got" },
		{ ":traceoff", -EINVAL, ": no function matches" },
		{ "!schedule:traceoff", -ENODEV, "no such command without a count is set\n" },
		{ "!schedule:dump", -ENODEV, "no such command with a count is set\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(echo("", "error_log"), 0);
		assert_int_equal(echo(cases[i].text, FILTER), cases[i].err);
		assert_non_null(strstr(cat("error_log"), cases[i].why));
		says(FILTER, EMPTY);
	}
	assert_int_equal(echo("schedule:traceoff", "set_ftrace_notrace"), -EINVAL);
	assert_int_equal(echo("", "error_log"), 0);
}

/* A probe of our own: adds up, per function. */
static uint64_t nr_hits;

static void hit(const struct ftrace_probe_hit *found, const struct ftrace_probe_ops *ops)
{
	assert_ptr_equal(found->tr, trace_global_array());
	assert_int_equal(found->parent_ip, PARENT);
	assert_ptr_equal(ops->private, &nr_hits);
	atomic_fetch_add(found->data, 1);
	nr_hits++;
}

static const struct ftrace_probe_ops own_probe = {
	.name = "own",
	.func = hit,
	.is_counted = true,
	.private = &nr_hits,
};

static void api(void **state)
{
	struct trace_array *tr = trace_global_array();
	char stars[700];

	(void)state;
	nr_hits = 0;
	assert_int_equal(register_ftrace_function_probe("!yield", tr, &own_probe, 0), -EINVAL);
	memset(stars, '*', sizeof(stars) - 1);
	stars[sizeof(stars) - 1] = '\0';
	assert_int_equal(register_ftrace_function_probe(stars, tr, &own_probe, 0), -EINVAL);
	assert_int_equal(register_ftrace_function_probe("yield", tr, &own_probe, 10), 0);
	assert_int_equal(register_ftrace_function_probe("k*", tr, &own_probe, 20), 0);
	assert_int_equal(register_ftrace_function_probe("yield", tr, &own_probe, 30), -EINVAL);
	call(0, 1, YIELD);
	call(1, 1, KFREE);
	call(1, 1, KFREE);
	call(0, 1, SCHEDULE);
	says(FILTER, EMPTY "yield:own:count=11\nkfree:own:count=22\n");
	assert_int_equal(nr_hits, 3);
	assert_int_equal(unregister_ftrace_function_probe_func("sch*", tr, &own_probe), -EINVAL);
	assert_int_equal(unregister_ftrace_function_probe_func("yield", tr, &own_probe), 0);
	call(0, 1, YIELD);
	says(FILTER, EMPTY "kfree:own:count=22\n"); /* the words of others stay */
	assert_int_equal(unregister_ftrace_function_probe_func("", tr, &own_probe), 0);
	assert_int_equal(unregister_ftrace_function_probe_func("", tr, &own_probe), -ENODEV);
	call(0, 1, KFREE);
	assert_int_equal(nr_hits, 3);
}

/* Of many functions, in a life with more of them than others have. */
static void probe_many_functions(void)
{
	struct trace_array *tr;
	long out = 0;
	char name[16];

	fake_reset();
	fake_text_build_many("f", 32);
	ftrace_init();
	EXPECT(trace_init() == 0);
	tr = trace_global_array();
	/* One after the other: it grows at some of them. */
	for (int i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		EXPECT(!register_ftrace_function_probe(name, tr, &own_probe, 0));
	}
	for (size_t i = 0; i < 32; i++)
		fake_call(i, PARENT);
	EXPECT(nr_hits == 32);
	EXPECT(!unregister_ftrace_function_probe_func("f?*", tr, &own_probe));
	EXPECT(!register_ftrace_function_probe("f0", tr, &own_probe, 0));
	/* A probe that was taken away can be had again, however often. */
	for (int round = 0; round < 200; round++) {
		EXPECT(!register_ftrace_function_probe("f2*", tr, &own_probe, 0));
		EXPECT(!unregister_ftrace_function_probe_func("f2*", tr, &own_probe));
		if (!round)
			out = fake_alloc_out;
	}
	EXPECT(fake_alloc_out == out);
}

static void many_functions(void **state)
{
	(void)state;
	in_child(probe_many_functions);
}

/* Without memory at any allocation: an error, and everything as before. */
static void no_memory(void **state)
{
	struct trace_array *tr = trace_global_array();
	long nr;

	(void)state;
	for_each_allocation(nr, register_ftrace_function_probe("*", tr, &own_probe, 1))
		says("enabled_functions", "");
	assert_in_range(nr, 1, 19);
	for_each_allocation(nr, unregister_ftrace_function_probe_func("yield", tr, &own_probe))
		assert_non_null(strstr(cat("enabled_functions"), "yield"));
	says(FILTER, EMPTY "schedule:own:count=1\ndo_work:own:count=1\nkfree:own:count=1\n");
	assert_null(strstr(cat("enabled_functions"), "yield"));
	assert_non_null(strstr(cat("enabled_functions"), "do_work"));
	assert_int_equal(unregister_ftrace_function_probe_func("*", tr, &own_probe), 0);
}

static int run_own(const struct ftrace_func_command *command, struct ftrace_command_args *args)
{
	assert_string_equal(command->name, "own");
	args->why = "not today";
	args->where = args->param;
	return args->param ? -EBUSY : 0;
}

static void own_command(void **state)
{
	static struct ftrace_func_command command = { .name = "own", .func = run_own };
	static struct ftrace_func_command again = { .name = "own", .func = run_own };

	(void)state;
	assert_int_equal(register_ftrace_command(&command), 0);
	assert_int_equal(register_ftrace_command(&again), -EBUSY);
	assert_int_equal(echo("yield:own", FILTER), 0);
	assert_int_equal(echo("yield:own:now", FILTER), -EBUSY);
	assert_non_null(strstr(cat("error_log"), "now: not today\n  Command: yield:own:now\n"
						 "                     ^\n"));
	assert_int_equal(unregister_ftrace_command(&again), -ENODEV);
	assert_int_equal(unregister_ftrace_command(&command), 0);
	assert_int_equal(echo("yield:own", FILTER), -EINVAL);
	assert_int_equal(echo("", "error_log"), 0);
}

static void dumps(void **state)
{
	(void)state;
	assert_int_equal(echo("before", "trace_marker"), 0);
	assert_int_equal(echo("yield:dump", FILTER), 0);
	assert_int_equal(echo("kfree:cpudump", FILTER), 0);
	says(FILTER, EMPTY "kfree:cpudump:unlimited\nyield:dump:count=1\n");
	call(1, 1, YIELD);
	assert_false(is_on()); /* at once; the text comes when a thread runs */
	call(1, 1, KFREE);
	assert_null(strstr(fake_log(), "Dumping"));
	fake_run_deferred();
	assert_non_null(
		strstr(fake_log(), "Dumping ftrace buffer:\n---------------------------------\n"));
	assert_non_null(strstr(fake_log(), ": before\n---------------------------------\n"));
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("", "trace"), 0);
	call(1, 1, YIELD);
	assert_true(is_on());
	call(1, 1, KFREE);
	assert_false(is_on());
	fake_run_deferred();
	assert_non_null(strstr(fake_log(), "   (ftrace buffer empty)\n"));
	assert_int_equal(echo("!yield:dump", FILTER), 0);
	assert_int_equal(echo("!kfree:cpudump", FILTER), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	/* An instance that goes before a thread runs. */
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("yield:dump", "instances/one/" FILTER), 0);
	call(1, 1, YIELD);
	says("instances/one/tracing_on", "0\n");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	fake_run_deferred();
	assert_null(strstr(fake_log(), "instance one"));
}

/* ---- Stack traces ---- */

static void set_stack(size_t nr)
{
	fake_stack_nr = nr;
	for (size_t i = 0; i < nr; i++)
		fake_stack[i] = trace_plat_ip_pack(fake_func(i % NR_FUNCS) + 5);
}

#define CONTEXT "           <...>-9       [000] .....    12.345680: "

static void stacks(void **state)
{
	(void)state;
	set_stack(2);
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("1", "options/func_stack_trace"), 0);
	call(0, 9, KFREE);
	assert_string_equal(cat_body("trace"), CONTEXT "kfree <-yield\n" CONTEXT "<stack trace>\n"
						       " => schedule\n => yield\n");
	assert_int_equal(echo("1", "options/sym-offset"), 0);
	assert_non_null(strstr(cat_body("trace"), " => schedule+0x5/0x10\n => yield+0x5/0x10\n"));
	assert_int_equal(echo("0", "options/sym-offset"), 0);
	assert_int_equal(echo("1", "options/raw"), 0);
	assert_non_null(strstr(cat_body("trace"), "9 0 12345679900 type: 4\n"));
	assert_int_equal(echo("0", "options/raw"), 0);
	assert_int_equal(echo("1", "options/hex"), 0);
	assert_non_null(strstr(cat_body("trace"), " type: 4\n\n"));
	assert_int_equal(echo("0", "options/hex"), 0);
	assert_int_equal(echo("0", "options/func_stack_trace"), 0);
	call(0, 9, KFREE);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

/* Commands that leave something in the buffers. */
static void recording_commands(void **state)
{
	(void)state;
	set_stack(2);
	assert_int_equal(echo("yield:stacktrace:2", FILTER), 0);
	assert_int_equal(echo("kfree:snapshot:1", FILTER), 0);
	says(FILTER, EMPTY "kfree:snapshot:count=1\nyield:stacktrace:count=2\n");
	assert_non_null(strstr(cat("snapshot"), "Snapshot is allocated"));
	call(0, 9, YIELD);
	assert_string_equal(cat_body("trace"), CONTEXT "<stack trace>\n => schedule\n => yield\n");
	assert_int_equal(echo("0", "tracing_on"), 0);
	call(0, 9, YIELD); /* nothing records: does not count */
	assert_int_equal(echo("1", "tracing_on"), 0);
	says(FILTER, EMPTY "kfree:snapshot:count=1\nyield:stacktrace:count=1\n");
	call(0, 9, KFREE);
	assert_non_null(strstr(cat("snapshot"), CONTEXT "<stack trace>\n"));
	assert_string_equal(cat_body("trace"), "");
	call(0, 9, YIELD);
	call(0, 9, YIELD);
	call(0, 9, KFREE); /* both are used up */
	assert_string_equal(cat_body("trace"), "           <...>-9       [000] .....    12.345683: "
					       "<stack trace>\n => schedule\n => yield\n");
	says(FILTER, EMPTY "kfree:snapshot:count=0\nyield:stacktrace:count=0\n");
	assert_int_equal(echo("!yield:stacktrace:0", FILTER), 0);
	assert_int_equal(echo("!kfree:snapshot:0", FILTER), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
}

/* As deep as is kept, and deeper: it says so. */
static void deep_stacks(void **state)
{
	int lines = 0;

	(void)state;
	set_stack(TRACE_STACK_MAX);
	trace_dump_stack(0);
	assert_null(strstr(cat("trace"), "more than"));
	set_stack(TRACE_STACK_MAX + 1);
	trace_dump_stack(0);
	assert_non_null(strstr(cat("trace"), " => ... (more than 64)\n"));
	for (const char *at = cat("trace"); (at = strstr(at, " => ")); at++)
		lines++;
	assert_int_equal(lines, 2 * TRACE_STACK_MAX + 1);
	/* So does that of a traced function. */
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("1", "options/func_stack_trace"), 0);
	call(0, 9, KFREE);
	assert_non_null(strstr(cat("trace"), " => ... (more than 64)\n"));
	assert_int_equal(echo("0", "options/func_stack_trace"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	set_stack(3);
	assert_int_equal(echo("", "trace"), 0);
	trace_dump_stack(2);
	assert_non_null(strstr(cat("trace"), "<stack trace>\n => do_work\n"));
	trace_dump_stack(1000);
	assert_non_null(strstr(cat("trace"), "<stack trace>\n => do_work\n"));
}

static void option_stacktrace(void **state)
{
	(void)state;
	set_stack(1);
	assert_int_equal(echo("1", "options/stacktrace"), 0);
	trace_printk("number %d\n", 1);
	trace_printk("literal\n");
	trace_puts("text\n");
	assert_int_equal(echo("marker", "trace_marker"), 0);
	assert_int_equal(echo("0", "options/stacktrace"), 0);
	trace_printk("last\n");
	for (int i = 0, nr = 0; i < 1; i++) {
		for (const char *at = cat("trace");
		     (at = strstr(at, "<stack trace>\n => schedule\n")); at++)
			nr++;
		assert_int_equal(nr, 3);
	}
}

/* ---- Repeats ---- */

static void repeats(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("1", "options/func-no-repeats"), 0);
	for (int i = 0; i < 4; i++)
		call(0, 9, KFREE);
	call(1, 9, KFREE); /* each CPU for itself */
	call(0, 9, YIELD);
	assert_string_equal(cat_body("per_cpu/cpu0/trace"), CONTEXT
			    "kfree <-yield\n"
			    "           <...>-9       [000] .....    12.345685: kfree <-yield "
			    "(repeats: 3, last_ts:    12.345683)\n"
			    "           <...>-9       [000] .....    12.345685: yield <-yield\n");
	assert_int_equal(echo("1", "options/raw"), 0);
	assert_non_null(strstr(cat("per_cpu/cpu0/trace"), " 3 2000\n"));
	assert_int_equal(echo("0", "options/raw"), 0);
	/* A call that is not recorded is no repeat. */
	assert_int_equal(echo("0", "tracing_on"), 0);
	call(0, 9, YIELD);
	assert_int_equal(echo("1", "tracing_on"), 0);
	call(0, 9, YIELD);
	call(0, 9, KFREE);
	assert_non_null(strstr(cat("trace"), "yield <-yield (repeats: 1, "));
	assert_int_equal(echo("0", "options/func-no-repeats"), 0);
}

/* The worst moment for an interrupt: whenever the clock is read, an own call of the same kind. */
static void in_interrupt(void)
{
	uint32_t count = fake_cpus[0].preempt_count;

	fake_cpus[0].preempt_count += 0x10000;
	fake_call(KFREE, PARENT);
	fake_cpus[0].preempt_count = count;
}

static void repeats_nest(void **state)
{
	unsigned int seen = 0, number;
	const char *at;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("1", "options/func-no-repeats"), 0);
	fake_clock_irq = in_interrupt;
	for (int i = 0; i < 100; i++)
		call(0, 9, KFREE);
	fake_clock_irq = NULL;
	call(0, 9, YIELD);
	for (at = cat("trace"); (at = strstr(at, "kfree <-yield")); at++)
		seen += sscanf(at, "kfree <-yield (repeats: %u", &number) == 1 ? number : 1;
	/* one reading of the clock for each call, an interrupt in each */
	assert_int_equal(seen, 200);
	assert_int_equal(echo("0", "options/func-no-repeats"), 0);
}

static void repeats_without_memory(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	/* For the handle of the file, the text, the memory of calls. */
	for (long budget = 0; budget < 3; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(echo("1", "options/func-no-repeats"), -ENOMEM);
		fake_alloc_budget = -1;
		says("options/func-no-repeats", "0\n");
	}
	call(0, 9, KFREE);
	assert_non_null(strstr(cat("trace"), "kfree <-yield\n"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(repeats_without_memory),
		T(switches),
		T(globs),
		T(refusals),
		T(api),
		T(no_memory),
		T(own_command),
		T(dumps),
		T(stacks),
		T(recording_commands),
		T(deep_stacks),
		T(option_stacktrace),
	};
	static const struct CMUnitTest own_lives[] = { cmocka_unit_test(many_functions) };
	static const struct CMUnitTest repeat_tests[] = {
		cmocka_unit_test_setup(repeats, tracefs_reset), /* its memory stays */
		T(repeats_nest),
	};
	int failed = cmocka_run_group_tests(own_lives, NULL, NULL);

	failed += cmocka_run_group_tests(tests, tracefs_setup, NULL);
	return failed + cmocka_run_group_tests(repeat_tests, NULL, NULL);
}
