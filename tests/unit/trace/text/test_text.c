/*
 * Text of a fixed size, at every size; numbers and words that users write.
 */
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace/fmt.h>
#include "fake/fake.h"
#include "page_end.h"
#include <trace/trace_seq.h>
#include "text/str.h"

#define TEXT "12345678"

static void add_chars(struct trace_seq *seq)
{
	for (const char *c = TEXT; *c; c++)
		trace_seq_putc(seq, *c);
}

static void add_text(struct trace_seq *seq)
{
	trace_seq_puts(seq, TEXT);
}

static void add_format(struct trace_seq *seq)
{
	trace_seq_printf(seq, "1234%d", 5678);
}

static void add_packed(struct trace_seq *seq)
{
	uint32_t value = 5678;

	trace_seq_bprintf(seq, "1234%d", &value, sizeof(value));
}

/* The part that fits is there, the rest is cut and remembered; behind the buffer nothing is written. */
static void cut_at(size_t size, void (*add)(struct trace_seq *seq), bool ends_by_nul)
{
	size_t room = size > 2 ? size - 2 : 0, want = strlen(TEXT);
	char buf[16];
	struct trace_seq seq;

	memset(buf, '~', sizeof(buf));
	trace_seq_init(&seq, buf, size);
	trace_seq_write(&seq, "..", 2);
	assert_int_equal(seq.overflowed, size < 2);
	seq.overflowed = false;
	assert_int_equal(trace_seq_room(&seq), room);
	add(&seq);
	if (ends_by_nul && room)
		room--;
	assert_int_equal(seq.overflowed, room < want);
	assert_int_equal(seq.len, (size < 2 ? size : 2) + (room < want ? room : want));
	assert_memory_equal(buf, "..12345678", seq.len);
	for (size_t i = size; i < sizeof(buf); i++)
		assert_int_equal(buf[i], '~');
}

static void cut(void **state)
{
	(void)state;
	for (size_t size = 0; size < 16; size++) {
		cut_at(size, add_chars, false);
		cut_at(size, add_text, false);
		cut_at(size, add_format, true);
		cut_at(size, add_packed, true);
	}
}

/* Columns are filled up as far as there is room. */
static void cut_columns(void **state)
{
	struct trace_seq seq;
	char buf[16];

	(void)state;
	for (size_t size = 0; size < 12; size++) {
		memset(buf, '~', sizeof(buf));
		trace_seq_init(&seq, buf, size);
		trace_seq_right(&seq, "ab", 5);
		trace_seq_dec(&seq, 67, 5, '0');
		assert_int_equal(seq.overflowed, size < 10);
		assert_int_equal(seq.len, size < 10 ? size : 10);
		assert_memory_equal(buf, "   ab00067", seq.len);
		for (size_t i = seq.len; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '~');
	}
}

/* Lengths are found eight characters at a time, and nothing is read in the page behind a text. */
static void lengths(void **state)
{
	static const char text[] = "\x01\x80\xff of thirty-two bytes, \x80 here";

	(void)state;
	for (size_t from = 0; from < sizeof(text); from++) {
		size_t len = sizeof(text) - 1 - from;
		char *at = at_page_end(text + from, len + 1);

		assert_int_equal(trace_strlen(at), len);
		for (size_t max = 0; max < 50; max++)
			assert_int_equal(trace_strnlen(at, max), max < len ? max : len);
		assert_int_equal(trace_strnlen(at, SIZE_MAX), len);
		at = at_page_end(text + from, len); /* without its NUL */
		for (size_t max = 0; max <= len; max++)
			assert_int_equal(trace_strnlen(at, max), max);
	}
}

static void numbers_in_columns(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} durations[] = {
		{ 0, "0.000 us    " },
		{ 1, "0.001 us    " },
		{ 9999, "9.999 us    " },
		{ 10000, "10.000 us   " },
		{ 999999, "999.999 us  " },
		{ 1234567, "1234.567 us " },
		{ 12345678, "12345.67 us " },
		{ 123456789, "123456.7 us " },
		{ 1234567890, "1234567 us  " },
		{ 12345678901, "12345678 us " },
		{ 123456789012, "123456789 us " },
	};
	struct trace_seq seq;
	char buf[100];

	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		trace_seq_init(&seq, buf, sizeof(buf));
		trace_seq_duration(&seq, durations[i].ns);
		buf[seq.len] = '\0';
		assert_string_equal(buf, durations[i].want);
	}
	trace_seq_init(&seq, buf, sizeof(buf));
	trace_seq_dec(&seq, 0, 0, 'x');
	trace_seq_dec(&seq, UINT64_MAX, 22, '_');
	trace_seq_dec(&seq, 10, 3, '0');
	trace_seq_right(&seq, "ab", 2);
	trace_seq_right(&seq, "cd", 4);
	trace_seq_hex(&seq, 0x1f, 2);
	trace_seq_putc(&seq, '\0');
	assert_string_equal(buf, "0__18446744073709551615010ab  cd001f ");
}

static void numbers_of_users(void **state)
{
	static const struct {
		const char *text;
		unsigned int base;
		int err;
		uint64_t value;
	} cases[] = {
		{ "0", 10, 0, 0 },
		{ "+7\n", 10, 0, 7 },
		{ "18446744073709551615", 10, 0, UINT64_MAX },
		{ "18446744073709551616", 10, -ERANGE, 0 },
		{ "36893488147419103232", 10, -ERANGE, 0 },
		{ "0xffffffffffffffff", 16, 0, UINT64_MAX },
		{ "0x10000000000000000", 0, -ERANGE, 0 },
		{ "0x1F", 0, 0, 31 },
		{ "0X1f", 16, 0, 31 },
		{ "1f", 16, 0, 31 },
		{ "ag", 16, -EINVAL, 0 },
		{ "077", 0, 0, 63 },
		{ "08", 0, -EINVAL, 0 },
		{ "9", 0, 0, 9 },
		{ "a", 10, -EINVAL, 0 },
		{ ":", 10, -EINVAL, 0 },
		{ "/", 10, -EINVAL, 0 },
		{ "0x", 0, -EINVAL, 0 },
		{ "0xg", 16, -EINVAL, 0 },
		{ "0x5", 10, -EINVAL, 0 },
		{ "", 10, -EINVAL, 0 },
		{ "\n", 10, -EINVAL, 0 },
		{ "-1", 10, -EINVAL, 0 },
		{ "++1", 10, -EINVAL, 0 },
		{ "1\n\n", 10, -EINVAL, 0 },
		{ "1 ", 10, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;
		int err = trace_parse_u64(cases[i].text, cases[i].base, &value);

		if (err != cases[i].err || value != cases[i].value)
			fail_msg("`%s` in base %u: %d, %llu", cases[i].text, cases[i].base, err,
				 (unsigned long long)value);
	}
}

static void words(void **state)
{
	char text[] = " \t one two \r\n", blank[] = "\n \v\f", to[4] = "xxx";

	(void)state;
	assert_string_equal(trace_strip(text), "one two");
	assert_string_equal(trace_strip(blank), "");
	assert_false(trace_is_space('\b') || trace_is_space('\x0e') || trace_is_space('!'));
	assert_int_equal(trace_strnlen("abc", 2), 2);
	assert_int_equal(trace_strnlen("abc", 4), 3);
	assert_true(trace_streq("", "") && trace_streq("ab", "ab"));
	assert_false(trace_streq("ab", "a") || trace_streq("a", "ab") || trace_streq("ab", "ac"));
	assert_true(trace_strcmp("a", "b") < 0 && trace_strcmp("b\xff", "ba") > 0);
	assert_true(trace_str_starts("abc", "ab") && trace_str_starts("a", ""));
	assert_false(trace_str_starts("a", "ab") || trace_str_starts("xb", "ab"));
	trace_strcpy(to, "abcd", sizeof(to));
	assert_string_equal(to, "abc");
	trace_strcpy(to, "z", 1);
	assert_string_equal(to, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut),
		cmocka_unit_test(cut_columns),
		cmocka_unit_test(lengths),
		cmocka_unit_test(numbers_in_columns),
		cmocka_unit_test(numbers_of_users),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
