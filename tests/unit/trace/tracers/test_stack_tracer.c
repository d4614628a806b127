/*
 * The stack tracer: what it takes for a maximum, on which stack, and what its files say of it. The
 * stack is the test's: words in an array, with the registers of a call site among them.
 */
#include "unit.h"
#include "tracefs.h"
#include "tracers/stack_tracer_private.h"

#define WORDS	    512u
#define STACK_BYTES (WORDS * sizeof(uintptr_t))

#define HEAD(nr)                                                                                   \
	"        Depth    Size   Location    (" nr " entries)\n"                                   \
	"        -----    ----   --------\n"
#define DISABLED                                                                                   \
	"#\n#  Stack tracer disabled\n#\n"                                                         \
	"# To enable the stack tracer, either add 'stacktrace' to the\n"                           \
	"# kernel command line\n"                                                                  \
	"# or 'echo 1 > /proc/sys/kernel/stack_tracer_enabled'\n#\n"

static uintptr_t stack[WORDS], nmi_stack[WORDS];

static void is(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

/* The words from `depth` bytes below the end: a call of function `index`, then its callers. */
static void call_at(uintptr_t *words, size_t depth, size_t index, const uintptr_t *callers,
		    size_t nr)
{
	uintptr_t *slot = words + (STACK_BYTES - depth) / sizeof(*words);
	struct ftrace_regs *fregs = (void *)((char *)slot - offsetof(struct ftrace_regs, rip));

	memset(words, 0, STACK_BYTES);
	for (size_t i = 0; i < nr; i++) {
		slot[1 + i * 3] = callers[i];
		fake_stack[1 + i] = (uint32_t)callers[i];
	}
	fake_stack[0] = (uint32_t)fake_func(index);
	fake_stack_nr = nr + 1;
	fregs->rip = fake_func(index) + TRACE_INSN_SIZE;
	stack_tracer_ops.func(fake_func(index), callers[0], &stack_tracer_ops, fregs);
}

static void call_thread(size_t depth, size_t index)
{
	const uintptr_t callers[] = { fake_func(YIELD) + 4, fake_func(DO_WORK) + 8 };

	call_at(stack, depth, index, callers, 2);
}

static int setup(void **state)
{
	(void)state;
	fake_stacks[0] =
		(struct trace_stack){ TRACE_STACK_THREAD, (uintptr_t)stack,
				      (uintptr_t)(stack + WORDS), (uintptr_t)(stack + WORDS) };
	fake_this->stack_top = (uintptr_t)(stack + WORDS);
	assert_int_equal(echo("0", "stack_max_size"), 0);
	assert_int_equal(stack_tracer_enable(1), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(stack_tracer_enable(0), 0);
	assert_int_equal(echo("", "stack_trace_filter"), 0);
	memset(fake_stacks, 0, sizeof(fake_stacks));
	atomic_store(&fake_this->preempt_count, 0);
	return 0;
}

/* Runs first. */
static void before_first_use(void **state)
{
	(void)state;
	is("stack_trace", HEAD("0") DISABLED);
	is("stack_max_size", "0\n");
	is("stack_trace_filter", "#### all functions enabled ####\n");
	assert_int_equal(echo("64", "stack_max_size"), 0);
	is("stack_max_size", "64\n");
	is("stack_trace", HEAD("0"));
	fake_alloc_budget = 0;
	assert_int_equal(stack_tracer_enable(1), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(stack_tracer_enabled(), 0);
	assert_int_equal(stack_tracer_enable(1), 0);
	is("stack_max_size", "64\n");
	assert_int_equal(stack_tracer_enable(0), 0);
}

static void deepest_wins(void **state)
{
	(void)state;
	is("stack_trace", HEAD("0"));
	call_thread(200, SCHEDULE);
	call_thread(160, KFREE);
	is("stack_max_size", "200\n");
	is("stack_trace", HEAD("3") "  0)      200       8   schedule+0x5/0x10\n"
				    "  1)      192      24   yield+0x4/0x10\n"
				    "  2)      168     168   do_work+0x8/0x10\n");
	call_thread(1208, KFREE);
	is("stack_max_size", "1208\n");
	is("stack_trace", HEAD("3") "  0)     1208       8   kfree+0x5/0x10\n"
				    "  1)     1200      24   yield+0x4/0x10\n"
				    "  2)     1176    1176   do_work+0x8/0x10\n");
	assert_int_equal(stack_tracer_enable(0), 0);
	assert_int_equal(echo("0", "stack_max_size"), 0);
	assert_non_null(strstr(cat("stack_trace"), HEAD("3") DISABLED "  0)     1208"));
	assert_int_equal(stack_tracer_enable(1), 0);
}

static void a_maximum_that_was_set(void **state)
{
	(void)state;
	assert_int_equal(echo("500", "stack_max_size"), 0);
	call_thread(496, KFREE);
	is("stack_max_size", "500\n");
	call_thread(504, KFREE);
	is("stack_max_size", "504\n");
	/* No stack is that deep; the file says what was written, cut to what is kept. */
	assert_int_equal(echo("99999999999", "stack_max_size"), 0);
	call_thread(1000, KFREE);
	is("stack_max_size", "4294967295\n");
}

static void mistakes(void **state)
{
	(void)state;
	assert_int_equal(echo("4000", "stack_max_size"), 0);
	assert_int_equal(echo("garbage", "stack_max_size"), -EINVAL);
	assert_int_equal(echo("-1", "stack_max_size"), -EINVAL);
	assert_int_equal(echo("99999999999999999999", "stack_max_size"), -ERANGE);
	assert_int_equal(echo("", "stack_max_size"), -EINVAL);
	assert_int_equal(echo("0x1000", "stack_max_size"), -EINVAL);
	is("stack_max_size", "4000\n");
	assert_int_equal(echo("1", "stack_trace"), -EINVAL);
	assert_int_equal(echo("no_such_function", "stack_trace_filter"), -EINVAL);
	assert_int_equal(echo("kfree:traceoff", "stack_trace_filter"), -ENODEV);
	assert_int_equal(echo("kfree:nonsense", "stack_trace_filter"), -EINVAL);
	is("stack_trace_filter", "#### all functions enabled ####\n");
}

/* Frames that are not found on the stack are left out, as are unknown callers. */
static void callers_that_are_not_there(void **state)
{
	const uintptr_t callers[] = { fake_func(YIELD) + 4, fake_func(DO_WORK) + 8 };

	(void)state;
	call_at(stack, 200, SCHEDULE, callers, 1);
	assert_int_equal(echo("0", "stack_max_size"), 0);
	fake_stack[2] = (uint32_t)fake_func(KFREE) + 3;
	fake_stack_nr = 3;
	stack_tracer_ops.func(
		fake_func(SCHEDULE), callers[0], &stack_tracer_ops,
		(void *)((char *)(stack + WORDS) - 200 - offsetof(struct ftrace_regs, rip)));
	is("stack_trace", HEAD("2") "  0)      200       8   schedule+0x5/0x10\n"
				    "  1)      192     192   yield+0x4/0x10\n");
}

static void only_the_filter(void **state)
{
	(void)state;
	assert_int_equal(echo("k*", "stack_trace_filter"), 0);
	is("stack_trace_filter", "kfree\n");
	is("set_ftrace_filter", "#### all functions enabled ####\n");
	assert_non_null(strstr(cat("enabled_functions"), "kfree (1)"));
	assert_null(strstr(cat("enabled_functions"), "schedule"));
	assert_int_equal(stack_tracer_enable(0), 0);
	is("enabled_functions", "");
}

/* An interrupt on the thread's stack counts for both; an NMI has a stack of its own. */
static void interrupts_apart(void **state)
{
	const uintptr_t callers[] = { fake_func(YIELD) + 4 };

	(void)state;
	call_thread(200, SCHEDULE);
	fake_stacks[1] = fake_stacks[0];
	fake_stacks[0] =
		(struct trace_stack){ TRACE_STACK_IRQ, (uintptr_t)stack, (uintptr_t)(stack + WORDS),
				      (uintptr_t)(stack + WORDS) - 104 };
	atomic_store(&fake_this->preempt_count, 1u << 16);
	call_at(stack, 176, KFREE, callers, 1); /* not the thread's deepest */
	fake_stacks[2] = (struct trace_stack){ TRACE_STACK_NMI, (uintptr_t)nmi_stack,
					       (uintptr_t)(nmi_stack + WORDS),
					       (uintptr_t)(nmi_stack + WORDS) };
	atomic_store(&fake_this->preempt_count, 1u << 20);
	call_at(nmi_stack, 48, KFREE, callers, 1);
	atomic_store(&fake_this->preempt_count, 0);
	is("stack_trace",
	   HEAD("3") "  0)      200       8   schedule+0x5/0x10\n"
		     "  1)      192      24   yield+0x4/0x10\n"
		     "  2)      168     168   do_work+0x8/0x10\n"
		     "\ninterrupt stack, CPU 0:\n" HEAD(
			     "2") "  0)       72       8   kfree+0x5/0x10\n"
				  "  1)       64      64   yield+0x4/0x10\n"
				  "\nNMI stack, CPU 0:\n" HEAD(
					  "2") "  0)       48       8   kfree+0x5/0x10\n"
					       "  1)       40      40   yield+0x4/0x10\n");
	is("stack_max_size", "200\n");
	atomic_store(&fake_this->preempt_count, 1u << 16);
	call_at(stack, 304, KFREE, callers, 1);
	atomic_store(&fake_this->preempt_count, 0);
	is("stack_max_size", "304\n");
	assert_non_null(strstr(cat("stack_trace"), "  0)      200       8   kfree"));
	assert_int_equal(echo("0", "stack_max_size"), 0);
	assert_null(strstr(cat("stack_trace"), "stack, CPU"));
}

static void says_once_that_a_stack_is_nearly_full(void **state)
{
	(void)state;
	call_thread(STACK_BYTES - 1600, KFREE);
	assert_null(strstr(fake_log(), "stack tracer:"));
	fake_this->pid = 42;
	call_thread(STACK_BYTES - 800, KFREE);
	call_thread(STACK_BYTES - 792, KFREE);
	fake_run_deferred();
	assert_non_null(strstr(fake_log(), "stack tracer: 800 of 4096 bytes of a stack left, "
					   "pid 42 in kfree+0x0/0x10\n"));
	assert_null(strstr(fake_log(), "792"));
	assert_int_equal(echo("0", "stack_max_size"), 0);
	call_thread(STACK_BYTES - 792, KFREE);
	fake_run_deferred();
	assert_non_null(strstr(fake_log(), "stack tracer: 792 of"));
	fake_this->pid = 0;
}

/* Some other stack: nothing is known, nothing is recorded. */
static void unknown_stack(void **state)
{
	(void)state;
	memset(fake_stacks, 0, sizeof(fake_stacks));
	call_thread(2000, KFREE);
	is("stack_max_size", "0\n");
}

static void switched_twice(void **state)
{
	(void)state;
	assert_int_equal(stack_tracer_enable(2), 0);
	assert_int_equal(stack_tracer_enabled(), 2);
	assert_int_equal(stack_tracer_enable(-1), 0);
	assert_int_equal(stack_tracer_enabled(), -1);
	assert_int_equal(stack_tracer_enable(0), 0);
	assert_int_equal(stack_tracer_enable(0), 0);
	assert_int_equal(stack_tracer_enabled(), 0);
}

/* Runs last: function tracing stops for good. */
static void off_when_tracing_is_dead(void **state)
{
	(void)state;
	assert_int_equal(stack_tracer_enable(1), 0);
	ftrace_kill();
	assert_int_equal(stack_tracer_enable(0), 0);
	assert_int_equal(stack_tracer_enabled(), 0);
	assert_int_equal(stack_tracer_enable(1), -ENODEV);
	assert_int_equal(stack_tracer_enabled(), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_first_use),
		TEST(deepest_wins),
		TEST(a_maximum_that_was_set),
		TEST(mistakes),
		TEST(callers_that_are_not_there),
		TEST(only_the_filter),
		TEST(interrupts_apart),
		TEST(says_once_that_a_stack_is_nearly_full),
		TEST(unknown_stack),
		TEST(switched_twice),
		cmocka_unit_test(off_when_tracing_is_dead),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
