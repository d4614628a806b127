/* Scripts: time() and strftime(). */
#include "unit.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

static size_t script_date(char *out, size_t size, const char *format, uint64_t clock_ns)
{
	int len = snprintf(out, size, "<%s %llu>", format, (unsigned long long)clock_ns);

	return (size_t)len < size ? (size_t)len : size - 1;
}

static const char *dated(const char *text)
{
	const struct trace_script_params params = { .date = script_date };
	struct trace_script *script;

	if (trace_script_create(text, &params, &script, &script_error))
		return script_error.why;
	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	return script_end(script);
}

/* A date keeps its format in variables, tuples and tables. */
static void dates(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "printf(\"%s %5s.\", strftime(\"%H\", 7), strftime(\"\", 3 + 4));",
		  "<%H 7>  < 7>." },
		{ "$d = strftime(\"a\", 1); if (pid) { $d = strftime(\"a\", 2) } print($d);",
		  "<a 2>\n" },
		{ "@[strftime(\"a\", 9), 1] = strftime(\"b\", 8);", "@[<a 9>, 1]: <b 8>\n" },
		{ "$d = strftime(\"a\", 1); $d = strftime(\"b\", 1);",
		  "$d holds a date elsewhere" },
		{ "@x = strftime(\"a\", 1) + 1;", "a number is expected, this is a date" },
		{ "@x = strftime(comm, 1);", "the format of a date is a text in quotes" },
		{ "@x = strftime(\"a\", comm);", "a number is expected, this is a text" },
		{ "printf(\"%d\", strftime(\"a\", 1));", "this conversion needs a number" },
		{ "@x = time();", "time() gives no value here" },
		{ "strftime(\"a\", 1);", "" },
	};
	char text[256], want[64];
	unsigned long long ns;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "BEGIN { %s }", rows[i].text);
		assert_string_equal(dated(text), rows[i].want);
	}
	assert_int_equal(sscanf(dated("BEGIN { printf(\"%d \", nsecs); time(\"T\"); time(); }"),
				"%llu", &ns),
			 1);
	snprintf(want, sizeof(want), "%llu <T %llu><%%H:%%M:%%S\n %llu>", ns, ns, ns);
	assert_string_equal(script_text, want);
	assert_int_equal(
		strlen(dated(
			"BEGIN { time(\"" /* 130 characters */
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\") }")),
		127);
	assert_int_equal(trace_script_create("BEGIN { time(); }", NULL,
					     &(struct trace_script *){ NULL }, &script_error),
			 -EINVAL);
	assert_string_equal(script_error.why, "this machine does not know the date");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dates, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
