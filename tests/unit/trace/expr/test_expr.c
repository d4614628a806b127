/*
 * Parts of expr/ that front ends use: words and numbers of a text, loading a value, comparing one that
 * was computed, names of an event.
 */
#include "unit.h"
#include <string.h>
#include "expr/expr_build.h"
#include "fake/fake.h"

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static void words(void **state)
{
	const char *text = "  a_1-0x1f+ b";
	struct expr_error error = { 0 };
	struct expr_cursor cursor = { .text = text, .at = text, .error = &error, .base = 1 };
	struct expr_word word;

	(void)state;
	trace_expr_skip_spaces(&cursor);
	word = trace_expr_take_name(&cursor);
	assert_true(trace_expr_is(&word, "a_1"));
	assert_false(trace_expr_is(&word, "a_"));
	assert_false(trace_expr_is(&word, "a_12"));
	word = trace_expr_take_digits(&cursor);
	assert_true(trace_expr_is(&word, "-0x1f"));
	assert_false(trace_expr_take(&cursor, "++"));
	assert_true(trace_expr_take(&cursor, "+ "));
	assert_int_equal(trace_expr_refuse(&cursor, -22, "bad", cursor.at), -22);
	assert_int_equal(error.pos, 13);
	assert_string_equal(error.why, "bad");
	assert_int_equal(trace_expr_take_digits(&cursor).len, 1);
	assert_int_equal(trace_expr_take_name(&cursor).len, 0);
}

static void parts_of_words(void **state)
{
	struct expr_word word = trace_expr_whole("a_1:u8[3]"), head = expr_take_until(&word, "[:");
	const char *line = "\t one  two;three";
	char copy[4] = "...";

	(void)state;
	assert_true(trace_expr_is(&head, "a_1"));
	assert_true(trace_expr_is(&word, ":u8[3]"));
	assert_true(trace_expr_starts(&word, ":u8"));
	assert_false(trace_expr_starts(&word, ":u8[3]]"));
	assert_true(trace_expr_ends(&word, "[3]"));
	assert_false(trace_expr_ends(&word, "::u8[3]"));
	word = expr_behind(&word, 4);
	assert_int_equal(expr_first(&word), '3');
	head = expr_take_until(&word, ":");
	assert_true(trace_expr_is(&head, "3]"));
	assert_int_equal(expr_first(&word), '\0');
	word = trace_expr_next_word(&line, ';');
	assert_true(trace_expr_is(&word, "one"));
	word = trace_expr_next_word(&line, ';');
	head = trace_expr_whole("two");
	assert_true(trace_expr_same(&word, &head));
	assert_string_equal(line, ";three");
	assert_int_equal(trace_expr_next_word(&line, ';').len, 0);
	assert_true(trace_expr_copy(copy, sizeof(copy), &word));
	assert_string_equal(copy, "two");
	head = trace_expr_whole("four");
	assert_false(trace_expr_same(&word, &head));
	assert_false(trace_expr_copy(copy, sizeof(copy), &head));
	assert_string_equal(copy, "two");
	head = trace_expr_strip(trace_expr_whole(" \t two\n"));
	assert_true(trace_expr_same(&word, &head));
	assert_int_equal(trace_expr_strip(trace_expr_whole(" \t")).len, 0);
}

static void names_in_c(void **state)
{
	static const char *const good[] = { "a", "_", "Z9", "a_b" }, *const bad[] = { "", "9a",
										      "a-", "." };
	struct expr_word word;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		word = trace_expr_whole(good[i]);
		assert_true(trace_expr_is_name(&word));
		word = trace_expr_whole(bad[i]);
		assert_false(trace_expr_is_name(&word));
	}
}

static int number(const char *text, bool is_signed, uint64_t *out_number)
{
	const struct expr_word word = { text, strlen(text) };

	return trace_expr_number(&word, 0, is_signed, out_number);
}

static void numbers(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(number("0x10", false, &value), 0);
	assert_int_equal(value, 16);
	assert_int_equal(number("-010", true, &value), 0);
	assert_int_equal(value, -8);
	assert_int_equal(number("-1", false, &value), -EINVAL);
	assert_int_equal(number("", true, &value), -EINVAL);
	assert_int_equal(number("-", true, &value), -EINVAL);
	assert_int_equal(number("-+1", true, &value), -EINVAL);
	assert_int_equal(number("9223372036854775808", true, &value), -ERANGE);
	assert_int_equal(number("-9223372036854775808", true, &value), 0);
	assert_int_equal(value, INT64_MIN);
	assert_int_equal(number("-9223372036854775809", true, &value), -ERANGE);
	assert_int_equal(number("0000000000000000000000007", false, &value), -ERANGE); /* 25 */
	assert_int_equal(number("x000000000000000000000007", false, &value), -EINVAL);
	assert_int_equal(number("000000000000000000000007", false, &value), 0);
}

/* The result of a program over 24 bytes, 0 to 23 with the highest bit. */
static uint64_t computed(void (*add)(struct expr_build *build))
{
	uint8_t data[24];
	struct expr_build build;
	struct expr_run run = { .data = data, .len = sizeof(data) };
	uint64_t value;

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0x80 | i);
	assert_int_equal(trace_expr_create(&build, 4, 0), 0);
	add(&build);
	(void)trace_expr_add(&build, EXPR_END);
	assert_int_equal(trace_expr_finish(&build), 0);
	assert_in_range(build.program->min_len, 8, 24);
	value = trace_expr_run(&run, build.program->insns);
	trace_expr_free(build.program);
	return value;
}

static struct expr_value value_of = { .class = EXPR_CLASS_NUMBER };

static void add_load(struct expr_build *build)
{
	trace_expr_needs(build, 0, 8);
	trace_expr_add_load(build, &value_of);
}

static void loads(void **state)
{
	(void)state;
	value_of.offset = 18;
	value_of.size = 2;
	assert_int_equal(computed(add_load), 0x9392);
	value_of.is_signed = true;
	assert_int_equal(computed(add_load), (int16_t)0x9392);
	value_of.offset = 5; /* less than 8 bytes lie in front of its end */
	value_of.size = 1;
	value_of.is_signed = false;
	assert_int_equal(computed(add_load), 0x85);
	value_of.offset = 16;
	value_of.size = 4;
	value_of.class = EXPR_CLASS_ADDRESS;
	assert_int_equal(computed(add_load), trace_plat_ip_unpack(0x93929190));
	value_of.class = EXPR_CLASS_CPU;
	fake_set_nr_cpus(4);
	fake_bind(3);
	assert_int_equal(computed(add_load), 3);
	fake_bind(0);
}

/* Is `value` compared so with `number`? */
static bool is(uint64_t value, bool is_signed, enum expr_cmp cmp, uint64_t other)
{
	struct expr_run run = { .data = NULL };
	struct expr_build build;
	bool passes;

	assert_int_equal(trace_expr_create(&build, 2, 0), 0);
	trace_expr_needs(&build, 0, 8); /* a constant test reads 8 bytes */
	trace_expr_add(&build, EXPR_CONST)->number.operand = value;
	trace_expr_add_compare(&build, is_signed, cmp, other);
	assert_int_equal(trace_expr_finish(&build), 0);
	run.data = (const uint8_t *)"12345678";
	run.len = 8;
	passes = trace_expr_run(&run, build.program->insns);
	trace_expr_free(build.program);
	return passes;
}

static void compares(void **state)
{
	static const uint64_t ends[] = { 0, 1, 2, INT64_MAX, INT64_MIN, INT64_MIN + 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 49; i++) {
		uint64_t a = ends[i / 7], b = ends[i % 7];
		int64_t sa = (int64_t)a, sb = (int64_t)b;

		assert_int_equal(is(a, false, EXPR_CMP_LT, b), a < b);
		assert_int_equal(is(a, false, EXPR_CMP_LE, b), a <= b);
		assert_int_equal(is(a, false, EXPR_CMP_GT, b), a > b);
		assert_int_equal(is(a, false, EXPR_CMP_GE, b), a >= b);
		assert_int_equal(is(a, false, EXPR_CMP_EQ, b), a == b);
		assert_int_equal(is(a, false, EXPR_CMP_NE, b), a != b);
		assert_int_equal(is(a, false, EXPR_CMP_AND, b), (a & b) != 0);
		assert_int_equal(is(a, true, EXPR_CMP_LT, b), sa < sb);
		assert_int_equal(is(a, true, EXPR_CMP_LE, b), sa <= sb);
		assert_int_equal(is(a, true, EXPR_CMP_GT, b), sa > sb);
		assert_int_equal(is(a, true, EXPR_CMP_GE, b), sa >= sb);
	}
}

static bool find(const struct trace_event *event, const char *name, struct expr_value *out_value)
{
	static const struct expr_named more[] = {
		{ "a", { .class = EXPR_CLASS_OTHER } },
		{ "b", { .class = EXPR_CLASS_CPU } },
		{ "common_pid", { .class = EXPR_CLASS_CPU } },
	};
	const struct expr_names names = { .event = event, .words = more, .nr_words = 3 };
	const struct expr_word word = { name, strlen(name) };

	return trace_expr_find_in_event(&names, &word, out_value);
}

/* A field of the event, then a word of the front end, then the head. */
static void names(void **state)
{
	static const struct trace_event_field fields[] = {
		{ .name = "a", .type = "int", .offset = 16, .size = 4, .element_size = 4 },
	};
	const struct trace_event event = { .fields = fields, .nr_fields = 1 };
	struct expr_value value;

	(void)state;
	assert_true(find(&event, "a", &value));
	assert_int_equal(value.class, EXPR_CLASS_NUMBER);
	assert_ptr_equal(value.field, fields);
	assert_true(find(&event, "b", &value));
	assert_int_equal(value.class, EXPR_CLASS_CPU);
	assert_true(find(&event, "common_pid", &value));
	assert_int_equal(value.class, EXPR_CLASS_CPU);
	assert_true(find(&event, "common_flags", &value));
	assert_int_equal(value.offset, offsetof(struct trace_entry, flags));
	assert_false(find(&event, "common", &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words, set_up),
		cmocka_unit_test_setup(parts_of_words, set_up),
		cmocka_unit_test_setup(names_in_c, set_up),
		cmocka_unit_test_setup(numbers, set_up),
		cmocka_unit_test_setup(loads, set_up),
		cmocka_unit_test_setup(compares, set_up),
		cmocka_unit_test_setup(names, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
