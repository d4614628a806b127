/*
 * The limit of real-time threads: which periods and runtimes are taken.
 *
 * links: kernel/sched/sched_rt_limit.c
 */
#include "unit.h"
#include <errno.h>
#include <stdint.h>
#include "sched/sched.h"

void mutex_lock(struct mutex *mutex)
{
	(void)mutex;
}

void mutex_unlock(struct mutex *mutex)
{
	(void)mutex;
}

void printk(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
}

/* The runtime is at most the period; -1 stands for no limit, and nothing else below 0 for anything. */
static void test_runtimes(void **state)
{
	(void)state;
	assert_int_equal(sched_rt_set_period_us(1000), -EINVAL); /* the runtime is longer */
	assert_int_equal(sched_rt_set_runtime_us(500), 0);
	assert_int_equal(sched_rt_set_period_us(1000), 0);
	assert_int_equal(sched_rt_set_runtime_us(1001), -EINVAL);
	assert_int_equal(sched_rt_set_runtime_us(-2), -EINVAL);
	assert_int_equal(sched_rt_set_runtime_us(INT32_MIN), -EINVAL);
	assert_int_equal(sched_rt_runtime_us(), 500);
	assert_true(sched_rt_has_limit());
	assert_int_equal(sched_rt_set_runtime_us(1000), 0); /* all of it is no limit */
	assert_false(sched_rt_has_limit());
	assert_int_equal(sched_rt_set_runtime_us(-1), 0);
	assert_false(sched_rt_has_limit());
}

static void test_periods(void **state)
{
	(void)state;
	for (int runtime = -1; runtime <= 0; runtime++) {
		assert_int_equal(sched_rt_set_runtime_us(runtime), 0);
		assert_int_equal(sched_rt_set_period_us(0), -EINVAL);
		assert_int_equal(sched_rt_set_period_us(-1), -EINVAL);
		assert_int_equal(sched_rt_set_period_us(1), 0);
	}
	assert_int_equal(sched_rt_period_us(), 1);
	assert_int_equal(sched_rt_set_runtime_us(1), 0);
	assert_int_equal(sched_rt_set_period_us(0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes),
		cmocka_unit_test(test_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
