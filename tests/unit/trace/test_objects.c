/*
 * Objects of each kind that come, are replaced and go while they are hit, and each failure on the
 * way, under ASan; see objects.h.
 */
#include "unit.h"
#include "threads_help.h"
#include "objects.h"
#include "objects_failing.h"
#include "objects_replaced.h"

static int setup(void **state)
{
	(void)state;
	return objects_setup(REPLACED_ALL);
}

/* On one CPU, where no time passes: files that show it stay the same. */
static int alone(void **state)
{
	(void)state;
	fake_bind(REPLACED_ALL);
	fake_clock_step = 0;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_while_hit),
		cmocka_unit_test_setup(refused_changes_nothing, alone),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
