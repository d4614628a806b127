/*
 * Times as text: what the C library makes of the same moments and formats.
 * links: kernel/shell/cmd/date.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "shell/cmd/date.h"

static const char *const formats[] = {
	"%a|%A|%b|%B|%h|%d|%e|%j", "%D|%F|%m|%y|%Y|%u|%w", "%H|%I|%k|%M|%p|%S|%R|%T",
	"%s|%n|%t|%%|%c",	   "plain text, 100%% %",  "%Y%m%d-%H%M%S",
};

static void expect(const char *format, time_t seconds)
{
	char wanted[200], got[200];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	wanted[strftime(wanted, sizeof(wanted), format, &tm)] = '\0';
	assert_int_equal(date_format(got, sizeof(got), format, (uint64_t)seconds * 1000000000),
			 strlen(wanted));
	assert_string_equal(got, wanted);
}

static void test_as_strftime(void **state)
{
	/* The first second, the days around the 29th of February, the ends of years. */
	static const time_t moments[] = { 0,	      951782399,  951782400,  951868800, 1709164799,
					  1709164800, 1709251200, 4107542400, 2147483648 };

	(void)state;
	setenv("TZ", "UTC", 1);
	srand(7);
	for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
			expect(formats[f], moments[i]);
		for (int i = 0; i < 2000; i++)
			expect(formats[f], (time_t)(((uint64_t)rand() << 2) % 8000000000u));
	}
}

static void test_fractions(void **state)
{
	static const struct {
		const char *format;
		const char *text;
	} examples[] = {
		{ "%s.%N", "1000.000123456" },
		{ "%3N %6N %9N %1N", "000 000123 000123456 0" },
		{ "%5x %N", "%5x 000123456" },
		{ "%Q%", "%Q%" },
		{ "", "" },
		{ "%z %Z", "+0000 UTC" },
		{ "%5", "%5" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		date_format(text, sizeof(text), examples[i].format, 1000000123456);
		assert_string_equal(text, examples[i].text);
	}
}

/* Cut to what there is room for, and ended by a NUL (the sanitisers see the byte behind). */
static void test_room(void **state)
{
	(void)state;
	for (size_t size = 1; size < 30; size++) {
		char *text = malloc(size);
		size_t len = date_format(text, size, DATE_DEFAULT_FORMAT, 0);

		assert_int_equal(len, size - 1 < 28 ? size - 1 : 28);
		assert_int_equal(strlen(text), len);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_strftime),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
