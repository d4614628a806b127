/* Scripts that were typed to bpftrace 0.17 on Linux (tests/golden/bpftrace-0.17) print the same here. */
#include "unit.h"
#include "golden.h"
#include "script_help.h"

/* A script's output, two line ends, and its tables, as `bt` prints them. */
static const char *printed(const char *text)
{
	struct trace_script *script;

	if (trace_script_create(text, NULL, &script, &script_error))
		return script_error.why;
	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	script_gather(script);
	trace_script_stop(script);
	script_gather(script);
	strcat(script_text, "\n\n");
	return script_end(script);
}

static void begins(void **state)
{
	static struct golden golden;
	unsigned int nr_wrong = 0;

	(void)state;
	golden_load(&golden, "../bpftrace-0.17/begin", NULL);
	while (golden_next(&golden)) {
		const char *ours = printed(golden.command);

		if (strcmp(ours, golden.answer) == 0)
			continue;
		print_error("%s\n-- bpftrace:\n%s-- here:\n%s\n--\n", golden.command, golden.answer,
			    ours);
		nr_wrong++;
	}
	assert_true(golden.nr >= 60);
	assert_int_equal(nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(begins, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
