/*
 * The ring profile on a host that has just its part: trace_printk() and its events as text, with
 * the defaults for everything else.
 */
#include "unit.h"
#include <trace/defaults.h>
#include <trace/log.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <string.h>
#include "bare/host.h"

static char line[TRACE_LOG_LINE];

static int setup(void **state)
{
	(void)state;
	bare_clock_ns = 12345678000;
	return trace_log_init(16384);
}

static int teardown(void **state)
{
	(void)state;
	ring_buffer_free(trace_log_buffer());
	return bare_nr_alloc;
}

static void test_lines(void **state)
{
	size_t len;

	(void)state;
	trace_bprintk(0x1000, "took %d us of %s\n", 7, "nine");
	trace_bprintk_integer(0x1000, "%u left\n", 42, 4);
	trace_bputs(0x1000, "a literal\n");
	trace_puts_at(0x1000, "a copy");
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_string_equal(
		line, "          <idle>-0       [000]    12.345678: 0x1000: took 7 us of nine\n");
	len = trace_log_read(line, sizeof(line));
	assert_int_equal(len, strlen(line));
	assert_string_equal(line, "          <idle>-0       [000]    12.345678: 0x1000: 42 left\n");
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_string_equal(line,
			    "          <idle>-0       [000]    12.345678: 0x1000: a literal\n");
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_string_equal(line, "          <idle>-0       [000]    12.345678: 0x1000: a copy\n");
	assert_int_equal(trace_log_read(line, sizeof(line)), 0);
}

static void test_lost(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++)
		trace_printk("number %d\n", i);
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_memory_equal(line, "CPU:0 [LOST ", 12);
	assert_non_null(strstr(line, " EVENTS]\n"));
	while (trace_log_read(line, sizeof(line)))
		continue;
	assert_non_null(strstr(line, ": number 1999\n"));
}

static void test_cut(void **state)
{
	(void)state;
	trace_puts_at(0x1000, "more than there is room for\n");
	assert_int_equal(trace_log_read(line, 60), 59);
	assert_string_equal(line + 49, "00: more \n");
}

static void test_symbols(void **state)
{
	static const struct trace_symbol table[] = { { 0x1000, "first" }, { 0x1010, "second" } };
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	(void)state;
	trace_symbols_set(table, 2, 0x1020);
	trace_bputs(0x1004, "here\n");
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_non_null(strstr(line, ": first: here\n"));
	assert_true(trace_plat_symbol(0x1010, name, &start, &size));
	assert_string_equal(name, "second");
	assert_int_equal(start, 0x1010);
	assert_int_equal(size, 0x10);
	assert_false(trace_plat_symbol(0xfff, name, &start, &size));
	assert_false(trace_plat_symbol(0x1020, name, &start, &size));
	trace_symbols_set(NULL, 0, 0);
}

/* Messages have one way out; what stops tracing is not there, and not missed. */
static void test_messages(void **state)
{
	(void)state;
	trace_plat_alert("look at %s", "this");
	assert_string_equal(bare_log, "look at this");
	trace_plat_bug("that is %d", 1);
	assert_string_equal(bare_log, "that is 1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(lines), TEST(lost), TEST(cut), TEST(symbols),
					    TEST(messages) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
