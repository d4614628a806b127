/* Numbers from text: what fits, what does not. links: kernel/number.c */
#include <unit.h>
#include <kernel/base.h>
#include <kernel/string.h>

#define SECOND 1000000000ull

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "2", 2 * SECOND },
		{ "2s", 2 * SECOND },
		{ "0.5", SECOND / 2 },
		{ ".5", SECOND / 2 },
		{ "1.", SECOND },
		{ "1.5m", 90 * SECOND },
		{ "1h", 3600 * SECOND },
		{ "0.0000000019", 1 },
		{ "10000000", 10000000 * SECOND },
		{ "18446744073.709551615", UINT64_MAX },
		{ "18446744073.709551614", UINT64_MAX - 1 },
		/* A time that would not fit is for ever, and not a moment. */
		{ "18446744073.709551616", UINT64_MAX },
		{ "18446744074", UINT64_MAX },
		{ "307445734.561825861m", UINT64_MAX },
		{ "5124095.6h", UINT64_MAX },
		{ "9999999h", UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX },
		{ "99999999999999999999999999999h", UINT64_MAX },
	};
	static const char *const bad[] = { "",	 ".",	 "s",	"-1",  "+1",	  "1x",	  "1ss",
					   "1 ", " 1",	 "1e3", "0x1", "1.5.",	  "1..5", "1sm",
					   ".s", "1.m5", "1,5", "\n",  "infinity" };
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(str_to_duration(good[i].text, &ns), 0);
		if (ns != good[i].ns)
			fail_msg("`%s` is %lu ns", good[i].text, ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ns = 77;
		if (str_to_duration(bad[i], &ns) != -EINVAL || ns != 77)
			fail_msg("`%s` is taken", bad[i]);
	}
}

static void numbers(void **state)
{
	unsigned long value = 5;
	long number = 5;

	(void)state;
	assert_int_equal(str_to_u64("18446744073709551615", 10, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(str_to_u64("18446744073709551616", 10, &value), -ERANGE);
	assert_int_equal(str_to_u64("0x10000000000000000", 0, &value), -ERANGE);
	assert_int_equal(str_to_i64("-9223372036854775808", 10, &number), 0);
	assert_true(number == INT64_MIN);
	assert_int_equal(str_to_i64("-9223372036854775809", 10, &number), -ERANGE);
	assert_int_equal(str_to_i64("9223372036854775808", 10, &number), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
