/*
 * What the files of tracefs refuse, on the fake machine: numbers that are too large, and words that
 * nobody knows.
 */
#include "unit.h"
#include "tracefs.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* Numbers at the edges: what is refused changes nothing, what is taken is not a smaller one. */
static void numbers(void **state)
{
	static const struct {
		const char *path;
		const char *text;
		int err;
	} stores[] = {
		{ "tracing_thresh", "18446744073709551", 0 },
		{ "tracing_thresh", "18446744073709552", -ERANGE },
		{ "tracing_thresh", "18446744073709551615", -ERANGE },
		{ "tracing_thresh", "18446744073709551616", -ERANGE },
		{ "tracing_thresh", "-1", -EINVAL },
		{ "tracing_max_latency", "18446744073709551", 0 },
		{ "tracing_max_latency", "18446744073709552", -ERANGE },
		{ "tracing_max_latency", "18446744073709551615", -ERANGE },
		{ "buffer_size_kb", "18014398509481984", -ENOMEM }, /* 2^64 bytes */
		{ "buffer_size_kb", "18014398509481988", -ENOMEM },
		{ "buffer_size_kb", "4194304", -ENOMEM }, /* 2^32 bytes */
		{ "buffer_size_kb", "18446744073709551615", -ENOMEM },
		{ "buffer_size_kb", "18446744073709551616", -ERANGE },
		{ "per_cpu/cpu0/buffer_size_kb", "18014398509481988", -ENOMEM },
		{ "buffer_subbuf_size_kb", "513", -EINVAL },
		{ "buffer_subbuf_size_kb", "4294967300", -EINVAL },
		{ "buffer_subbuf_size_kb", "18014398509481988", -EINVAL },
		{ "buffer_percent", "100", 0 },
		{ "buffer_percent", "101", -EINVAL },
		{ "buffer_percent", "4294967296", -EINVAL },
		{ "max_graph_depth", "4294967296", -ERANGE },
		{ "max_graph_depth", "18446744073709551615", -ERANGE },
		{ "saved_cmdlines_size", "4294967296", -EINVAL },
		{ "saved_cmdlines_size", "18446744073709551615", -EINVAL },
		{ "snapshot", "18446744073709551616", -ERANGE },
		{ "set_ftrace_pid", "2147483648", -EINVAL },
		{ "set_ftrace_pid", "4294967297", -EINVAL },
		{ "set_ftrace_notrace_pid", "18446744073709551617", -EINVAL },
		{ "options/overwrite", "4294967297", -EINVAL },
		{ "set_ftrace_filter", "schedule:traceon:18446744073709551616", -ERANGE },
		{ "set_ftrace_filter", "schedule:traceon:9223372036854775808", -ERANGE },
		{ "stack_max_size", "18446744073709551616", -ERANGE },
	};
	char before[64];

	(void)state;
	for (size_t i = 0; i < NR(stores); i++) {
		const char *path = stores[i].path;
		int err;

		snprintf(before, sizeof(before), "%.60s", cat(path));
		/* Opening with truncation clears these. */
		if (strstr(path, "pid"))
			snprintf(before, sizeof(before), "no pid\n");
		err = echo(stores[i].text, path);
		if (err != stores[i].err)
			fail_msg("%s > %s: %d", stores[i].text, path, err);
		if (!err)
			snprintf(before, sizeof(before), "%s\n", stores[i].text);
		if (strncmp(cat(path), before, 60) != 0)
			fail_msg("%s > %s: %s", stores[i].text, path, cat(path));
	}
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("0", "tracing_max_latency"), 0);
	assert_int_equal(echo("50", "buffer_percent"), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(numbers),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
