/*
 * The defaults of what is put off, on a host that has nothing else: done by trace_run_later(), once
 * and not too early.
 *
 * links: trace/default/later.c trace/default/ring.c trace/text/fmt.c trace/text/fmt_spec.c
 * links: trace/text/str.c trace/default/symbols.c
 */
#include "unit.h"
#include <trace/defaults.h>
#include <trace/platform.h>

static uint32_t nr_calls, nr_deferred;

static void count(void)
{
	nr_calls++;
}

static void test_call_later(void **state)
{
	static struct trace_plat_later later;

	(void)state;
	trace_plat_call_later(&later, count, 1000000);
	trace_plat_call_later(&later, count, 0); /* asked for already */
	trace_run_later();
	assert_int_equal(nr_calls, 0);
	bare_clock_ns += 1000000;
	trace_run_later();
	trace_run_later();
	assert_int_equal(nr_calls, 1);
	trace_plat_call_later(&later, count, 0);
	trace_run_later();
	assert_int_equal(nr_calls, 2);
}

/* It may be given again from inside. */
static void again(struct trace_plat_deferred *deferred)
{
	if (++nr_deferred % 2)
		trace_plat_defer(deferred);
}

static void test_defer(void **state)
{
	static struct trace_plat_deferred one = { .fn = again }, two = { .fn = again };

	(void)state;
	trace_plat_defer(&one);
	trace_run_later();
	assert_int_equal(nr_deferred, 1);
	trace_plat_defer(&two);
	trace_run_later();
	assert_int_equal(nr_deferred, 3);
	trace_run_later();
	trace_run_later();
	assert_int_equal(nr_deferred, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_call_later),
					    cmocka_unit_test(test_defer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
