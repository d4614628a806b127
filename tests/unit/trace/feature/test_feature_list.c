/*
 * Lists that features add to: the order is that of adding, and adding again changes nothing.
 *
 * links: trace/text/str.c
 */
#include "unit.h"
#include "feature/list.h"

struct entry {
	int value;
	struct entry *next;
};

static struct entry *first;
static struct entry entries[] = { { .value = 1 }, { .value = 2 }, { .value = 3 } };

static int all(void)
{
	int digits = 0;

	for (const struct entry *at = first; at; at = at->next)
		digits = digits * 10 + at->value;
	return digits;
}

static void last_comes_last(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		TRACE_LIST_ADD(first, &entries[i]);
	assert_int_equal(all(), 123);
}

static void second_time_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		TRACE_LIST_ADD(first, &entries[2 - i]);
	assert_int_equal(all(), 123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_comes_last),
		cmocka_unit_test(second_time_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
