/*
 * Objects of each kind that come, are replaced and go while they are hit, under the thread sanitiser;
 * see objects.h.
 */
#include "unit.h"
#include "threads_help.h"
#include "objects.h"
#include "objects_replaced.h"

static int setup(void **state)
{
	(void)state;
	return objects_setup(REPLACED_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_while_hit),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
