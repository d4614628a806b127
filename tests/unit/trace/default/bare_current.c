/*
 * Defaults of what filters of events ask for, on a host that writes neither: the name of the
 * running thread, and reading where no memory may be.
 *
 * links: trace/default/ops.c trace/default/events.c trace/default/ring.c trace/default/one_cpu.c
 * links: trace/default/symbols.c trace/text/str.c trace/text/fmt.c trace/text/fmt_spec.c
 */
#include "unit.h"
#include <string.h>
#include <trace/platform.h>

static bool has_name;

/* Takes the place of the default, which knows no names. */
bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	assert_int_equal(pid, trace_plat_current_pid());
	assert_false(may_wait);
	if (has_name)
		strcpy(out_comm, "main");
	return has_name;
}

static void test_name(void **state)
{
	char comm[TRACE_COMM_LEN];

	(void)state;
	trace_plat_current_comm(comm);
	assert_string_equal(comm, "<...>");
	has_name = true;
	trace_plat_current_comm(comm);
	assert_string_equal(comm, "main");
}

static void test_read(void **state)
{
	char text[8] = "";

	(void)state;
	assert_true(trace_plat_read(text, "abcdefg", 8));
	assert_string_equal(text, "abcdefg");
	assert_false(trace_plat_read(text, NULL, 1));
	assert_false(trace_plat_read(text, (const void *)4095ul, 1));
	assert_false(trace_plat_read(text, (const void *)(UINTPTR_MAX - 2), 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
