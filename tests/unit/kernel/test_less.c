/*
 * The text of the pager: lines as they look, and how they wrap.
 * links: kernel/shell/less/less_text.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/mm.h>
#include "kernel/host.h"
#include "shell/less/less_text.h"

void *vmalloc(size_t bytes)
{
	return kmalloc(bytes);
}

void vfree(void *memory)
{
	kfree(memory);
}

static struct less_text text;

static int setup(void **state)
{
	(void)state;
	memset(&text, 0, sizeof(text));
	text.max_bytes = 1 << 20;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	less_text_free(&text);
	assert_int_equal(host_live, 0);
	return 0;
}

static void test_lines(void **state)
{
	static const char input[] = "plain\n\n\ta\tb\nx\x01y\x7fz\n\xc3\xa4\tend";
	static const char *const wanted[] = { "plain", "", "        a       b", "x^Ay^?z",
					      "\xc3\xa4       end" };

	for (size_t part = 1; part < sizeof(input); part++) {
		setup(state);
		for (size_t at = 0; at < sizeof(input) - 1; at += part)
			less_text_add(&text, input + at,
				      sizeof(input) - 1 - at < part ? sizeof(input) - 1 - at
								    : part);
		less_text_end(&text);
		assert_int_equal(text.nr_lines, ARRAY_SIZE(wanted));
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			assert_string_equal(text.lines[i], wanted[i]);
		if (part + 1 < sizeof(input))
			less_text_free(&text);
	}
}

/* On through all rows and back through the same, on screens of all widths. */
static void test_rows(void **state)
{
	char line[400];

	(void)state;
	srand(3);
	for (int i = 0; i < 40; i++) {
		size_t len = (size_t)rand() % 300;

		for (size_t k = 0; k < len; k++)
			line[k] = (char)('a' + rand() % 26);
		line[len] = '\n';
		less_text_add(&text, line, len + 1);
	}
	for (size_t columns = 1; columns < 320; columns += 7) {
		struct less_place place = { 0, 0 }, places[12000];
		size_t nr = 0, len;

		do {
			const char *row = less_row(&text, place, columns, &len);

			assert_true(len <= columns);
			assert_ptr_equal(row, text.lines[place.line] + place.row * columns);
			places[nr++] = place;
		} while (less_forward(&text, columns, &place));
		assert_int_equal(place.line, text.nr_lines - 1);
		while (less_back(&text, columns, &place)) {
			nr--;
			assert_memory_equal(&place, &places[nr - 1], sizeof(place));
		}
		assert_int_equal(nr, 1);
	}
}

/* Neither the limit nor a lack of memory is ever passed; what was taken stays. */
static void test_full(void **state)
{
	for (long fail_at = -1; fail_at < 12; fail_at++) {
		uint32_t nr = 0;

		setup(state);
		host_fail_at = fail_at;
		while (less_text_add(&text, "0123456789\n", 11))
			nr++;
		host_fail_at = -1;
		assert_true(text.is_full && text.bytes <= text.max_bytes);
		assert_int_equal(text.nr_lines, nr);
		assert_true(nr == 0 || strcmp(text.lines[nr - 1], "0123456789") == 0);
		assert_false(less_text_add(&text, "\n", 1));
		if (fail_at < 11)
			less_text_free(&text);
	}
}

/* A line without end goes on as the next. */
static void test_long_line(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++)
		less_text_add(&text, "\x01", 1);
	less_text_end(&text);
	assert_int_equal(text.nr_lines, 5);
	assert_int_equal(strlen(text.lines[0]), LESS_LINE_MAX);
	assert_int_equal(strlen(text.lines[4]), 20000 - 4 * LESS_LINE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_line, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
