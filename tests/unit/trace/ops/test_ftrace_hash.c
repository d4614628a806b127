/*
 * Sets of sites against a plain array.
 * links: trace/ops/ftrace_hash.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"

#define NR_IPS 3000u

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

static uint32_t ip_of(uint32_t i)
{
	return 0x81000000u + i * 16;
}

static void check_same(const struct ftrace_hash *hash, const bool *model)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < NR_IPS; i++) {
		assert_int_equal(ftrace_hash_has(hash, ip_of(i)), model[i]);
		nr += model[i];
	}
	assert_int_equal(hash->nr, nr);
	assert_true(hash->nr * 2 <= hash->mask + 1);
}

static void test_random_against_model(void **state)
{
	struct ftrace_hash *hash = ftrace_hash_create(), *copy;
	static bool model[NR_IPS];

	(void)state;
	srand(2);
	memset(model, 0, sizeof(model));
	for (uint32_t round = 0; round < 60000; round++) {
		/* The share of additions swings, so that the set fills and empties. */
		bool add = (uint32_t)rand() % 100 < (round / 6000 % 2 ? 30 : 70);
		uint32_t i = (uint32_t)rand() % NR_IPS;

		if (add)
			assert_int_equal(ftrace_hash_add(&hash, ip_of(i)), 0);
		else
			ftrace_hash_remove(hash, ip_of(i));
		model[i] = add;
		if (round % 1000 == 0)
			check_same(hash, model);
	}
	check_same(hash, model);
	copy = ftrace_hash_copy(hash);
	check_same(copy, model);
	ftrace_hash_free(hash);
	ftrace_hash_free(copy);
}

/* When the bigger table cannot be had, the set is as it was. */
static void test_failed_growth_changes_nothing(void **state)
{
	struct ftrace_hash *hash = ftrace_hash_create();
	static bool model[NR_IPS];
	uint32_t i;

	(void)state;
	memset(model, 0, sizeof(model));
	fake_alloc_budget = 0;
	for (i = 0; i < NR_IPS && !ftrace_hash_add(&hash, ip_of(i)); i++)
		model[i] = true;
	assert_in_range(i, 1, NR_IPS - 1);
	check_same(hash, model);
	assert_int_equal(ftrace_hash_add(&hash, ip_of(0)), 0); /* is there already */
	fake_alloc_budget = -1;
	assert_int_equal(ftrace_hash_add(&hash, ip_of(i)), 0);
	model[i] = true;
	check_same(hash, model);
	ftrace_hash_free(hash);
}

static void test_empty(void **state)
{
	struct ftrace_hash *hash = ftrace_hash_copy(NULL);

	(void)state;
	assert_true(ftrace_hash_empty(NULL));
	assert_true(ftrace_hash_empty(hash));
	assert_false(ftrace_hash_has(hash, ip_of(0)));
	ftrace_hash_remove(hash, ip_of(0));
	ftrace_hash_free(hash);
	ftrace_hash_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random_against_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_growth_changes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
