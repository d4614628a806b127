/*
 * The default of grace periods: it returns when each CPU has counted, or is idle, and not before.
 *
 * links: trace/default/grace.c
 */
#include "unit.h"
#include <trace/defaults.h>
#include "fake/fake.h"

static uint32_t nr_pauses;
static void (*told)(void); /* what CPU 1 says at the third pause */

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(2);
	nr_pauses = 0;
	told = NULL;
	return 0;
}

static void pause_thrice(void)
{
	if (++nr_pauses != 3)
		return;
	fake_bind(1);
	told();
	fake_bind(0);
}

static void wait_until(void (*tells)(void))
{
	told = tells;
	fake_on_pause = pause_thrice;
	trace_grace_wait();
	fake_on_pause = NULL;
}

static void test_waits_for_count(void **state)
{
	(void)state;
	fake_bind(1);
	trace_quiescent(); /* before the call: it does not count */
	fake_bind(0);
	wait_until(trace_quiescent);
	assert_int_equal(nr_pauses, 3);
}

static void test_idle(void **state)
{
	(void)state;
	wait_until(trace_idle_enter);
	assert_int_equal(nr_pauses, 3);
	wait_until(NULL); /* it is idle */
	assert_int_equal(nr_pauses, 3);
	fake_bind(1);
	trace_idle_exit();
	fake_bind(0);
	nr_pauses = 0;
	wait_until(trace_quiescent);
	assert_int_equal(nr_pauses, 3);
}

static void test_one_cpu(void **state)
{
	(void)state;
	fake_set_nr_cpus(1);
	wait_until(NULL);
	assert_int_equal(nr_pauses, 0);
}

#define TEST(name) cmocka_unit_test_setup(test_##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(waits_for_count), TEST(idle), TEST(one_cpu) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
