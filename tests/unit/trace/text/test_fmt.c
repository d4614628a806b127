/*
 * The formatter against the C library's, direct and packed; symbols; cutting.
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include "page_end.h"
#include <trace/fmt.h>

/* Odd formats are the point. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"

/* Both ways of formatting must give what the C library gives, at every buffer size. */
__attribute__((format(printf, 1, 2))) static void check(const char *fmt, ...)
{
	char want[300], got[300];
	uint8_t packed[512];
	size_t bytes;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	for (size_t size = 0; size < 300; size += size < 20 ? 1 : 93) {
		memset(got, 'x', sizeof(got));
		va_start(ap, fmt);
		assert_int_equal(trace_vsnprintf(got, size, fmt, ap), len);
		va_end(ap);
		assert_int_equal(got[size], 'x');
		if (size) {
			assert_int_equal(strlen(got), (size_t)len < size ? (size_t)len : size - 1);
			assert_memory_equal(got, want, strlen(got));
		}
	}
	va_start(ap, fmt);
	bytes = trace_bin_pack(packed, sizeof(packed), fmt, ap);
	va_end(ap);
	assert_true(bytes <= sizeof(packed));
	assert_int_equal(trace_bin_format(got, sizeof(got), fmt, packed, bytes), len);
	assert_string_equal(got, want);
	/* A cut packing prints something and reads nothing outside: the sanitiser watches. */
	for (size_t cut = 0; cut < bytes; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);

		memcpy(exact, packed, cut);
		trace_bin_format(got, sizeof(got), fmt, exact, cut);
		free(exact);
	}
}

static void integers(void **state)
{
	(void)state;
	check("%d %i %u", 0, -1, 0xffffffffu);
	check("%d %d", INT32_MAX, INT32_MIN);
	check("%ld %lu %lx", INT64_MIN, UINT64_MAX, UINT64_MAX);
	check("%lld %llu", (long long)INT64_MAX, 12345678901234ull);
	check("%zu %zd %jd %td", (size_t)7, (ssize_t)-7, (intmax_t)-9, (ptrdiff_t)11);
	check("%hhd %hhu %hd %hu", -1, 255, -32768, 65535);
	check("%x %X %o %#x %#X %#o %#x", 0xabcdu, 0xabcdu, 0777u, 0x1fu, 0x1fu, 8u, 0u);
	check("%#o %#.0o %.0d|%.0x|", 0u, 0u, 0, 0u);
	check("[%5d] [%-5d] [%05d] [%+d] [% d] [%+5d]", 42, 42, 42, 42, 42, -42);
	check("[%5.3d] [%-7.3d] [%07.3d] [%.5x] [%#8x] [%#08x]", 4, 4, 4, 0x12u, 0x12u, 0x12u);
	check("[%*d] [%-*d] [%.*d] [%*d]", 6, 1, 6, 2, 3, 3, -6, 4);
	check("[%-05d] [%+05d] [% 05d] [%05d]", 3, 3, 3, -3);
}

static void strings(void **state)
{
	(void)state;
	check("%s|%10s|%-10s|%.2s|%10.2s|%-10.2s|", "abc", "abc", "abc", "abc", "abc", "abc");
	check("%.*s|%*s", 2, "abcdef", 8, "abc");
	check("%c%c|%3c|%-3c|", 'a', 'b', 'c', 'd');
	check("100%% %s", "");
	check("plain");
	check("%s and %d and %s and %lx", "one", 2, "three", 4ul);
}

/* Literal text is copied eight characters at a time: each length, and bytes that look like an end. */
static void literals(void **state)
{
	static const char bytes[] = { 'a', '\x01', '$', '&', '\x7f', '\x80', '\xa5', '\xff' };
	char fmt[80];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		for (size_t len = 0; len < 20; len++) {
			memset(fmt, bytes[i], len);
			strcpy(fmt + len, "%d%%%s");
			check(fmt, 7, "");
			memset(fmt + strlen(fmt), bytes[i], len);
			fmt[2 * len + 6] = '\0';
			check(fmt, -7, "text");
		}
	}
}

/* Numbers are written two digits at a time. */
static void digits(void **state)
{
	uint64_t value = 1;

	(void)state;
	for (int nr = 0; nr < 20; nr++, value *= 10) {
		check("%lu %lu %lu %lx", value - 1, value, value + 1, value);
		check("%ld|%ld|%3ld|%-9ld|%012ld", value, -value, value, value, -value);
		check("%u %d %i %x", (uint32_t)value, (int)value, -(int)value, (uint32_t)value);
	}
	check("%lu %lu", UINT64_MAX, (1ul << 32) - 1);
	check("%lu %ld", 1ul << 32, INT64_MIN);
}

/* Neither a format nor a text is read behind its NUL if that is in another page. */
static void at_end_of_page(void **state)
{
	static const char text[] = "of thirty characters with %d..";

	(void)state;
	for (size_t from = 0; from < sizeof(text); from++) {
		check(at_page_end(text + from, sizeof(text) - from), 1234567);
		check("<%s>", at_page_end(text + from, sizeof(text) - from));
		check("%.*s", (int)(sizeof(text) - 1 - from),
		      at_page_end(text + from, sizeof(text) - 1 - from));
	}
}

/* Conversions that the C library does otherwise or not at all. */
static void own(void **state)
{
	const char *volatile nothing = NULL;
	char got[64];

	(void)state;
	trace_snprintf(got, sizeof(got), "%p", (void *)0x1234);
	assert_string_equal(got, "0000000000001234");
	trace_snprintf(got, sizeof(got), "%s", nothing);
	assert_string_equal(got, "(null)");
	assert_int_equal(trace_scnprintf(got, 4, "%d", 123456), 3);
	assert_string_equal(got, "123");
	assert_int_equal(trace_scnprintf(got, 0, "%d", 123456), 0);
}

/* As in Linux: no number makes a text longer than this. */
static void widest(void **state)
{
	static const char *volatile const formats[] = { "%*d", "%.*d", "%99999999999d",
							"%.99999999999d" };
	const char *volatile negative = "%*d";
	char got[8];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(trace_snprintf(got, sizeof(got), formats[i], INT32_MAX, 1), 32767);
	for (size_t i = 2; i < 4; i++)
		assert_int_equal(trace_snprintf(got, sizeof(got), formats[i], 1), 32767);
	assert_int_equal(trace_snprintf(got, sizeof(got), negative, INT32_MIN, 1), 32767);
}

static void unknown(void **state)
{
	char got[64];

	(void)state;
	trace_snprintf(got, sizeof(got), "%k %5 end%", 1);
	assert_string_equal(got, "%k %5 end%");
}

static void symbols(void **state)
{
	static const char *const names[] = { "first", "second" };
	char got[100];
	void *in_second = (void *)(fake_func(1) + 5);

	(void)state;
	fake_reset();
	fake_text_build(names, 2);
	trace_snprintf(got, sizeof(got), "%ps %pS|%-8ps|%8ps|", in_second, in_second, in_second,
		       in_second);
	assert_string_equal(got, "second second+0x5/0x10|second  |  second|");
	trace_snprintf(got, sizeof(got), "%ps %pS %pB", (void *)0x77, (void *)0x77, (void *)0x77);
	assert_string_equal(got, "0x77 0x77 0x77");
}

/* The caller of a function that never returns may end with the call. */
static void return_addresses(void **state)
{
	static const char *const names[] = { "first", "second" };
	char got[100];
	void *end_of_first = (void *)fake_func(1), *end_of_second = (void *)(fake_func(1) + 16);

	(void)state;
	fake_reset();
	fake_text_build(names, 2);
	trace_snprintf(got, sizeof(got), "%pB %pS %pB", end_of_first, end_of_first, end_of_second);
	assert_string_equal(got, "first+0x10/0x10 second+0x0/0x10 second+0x10/0x10");
	/* In the middle there is no difference; a function that nothing is before is itself. */
	trace_snprintf(got, sizeof(got), "%pB %pB", (void *)(fake_func(1) + 5),
		       (void *)fake_func(0));
	assert_string_equal(got, "second+0x5/0x10 first+0x0/0x10");
}

static size_t pack(void *buf, size_t size, const char *fmt, ...)
{
	size_t bytes;
	va_list ap;

	va_start(ap, fmt);
	bytes = trace_bin_pack(buf, size, fmt, ap);
	va_end(ap);
	return bytes;
}

/* Strings are copied when they are packed. */
static void packed_strings_are_copies(void **state)
{
	char text[] = "before", got[64];
	uint8_t packed[64];
	size_t bytes;

	(void)state;
	bytes = pack(packed, sizeof(packed), "%s %d", text, 5);
	memcpy(text, "after!", 6);
	trace_bin_format(got, sizeof(got), "%s %d", packed, bytes);
	assert_string_equal(got, "before 5");
	assert_int_equal(pack(packed, 3, "%s", "too long"), 9);
	assert_int_equal(pack(packed, 3, "%.1s%.0s", "too long", "not read"), 3);
}

/* libtraceevent looks for integers at multiples of 4 bytes, behind strings of any length. */
static void packed_integers_are_aligned(void **state)
{
	uint8_t packed[64];
	uint32_t number = 0x11223344;
	uint64_t wide = 0x1122334455667788;

	(void)state;
	assert_int_equal(pack(packed, sizeof(packed), "%d%s%d%s%lx%s", number, "", number, "four",
			      wide, "end"),
			 4 + 4 + 4 + 8 + 8 + 4);
	assert_memory_equal(packed + 8, &number, sizeof(number));
	assert_memory_equal(packed + 20, &wide, sizeof(wide));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_integers_are_aligned),
		cmocka_unit_test(integers),
		cmocka_unit_test(strings),
		cmocka_unit_test(literals),
		cmocka_unit_test(digits),
		cmocka_unit_test(at_end_of_page),
		cmocka_unit_test(own),
		cmocka_unit_test(unknown),
		cmocka_unit_test(widest),
		cmocka_unit_test(symbols),
		cmocka_unit_test(return_addresses),
		cmocka_unit_test(packed_strings_are_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
