/*
 * saved_cmdlines: names of threads that live, and of those that have ended.
 */
#include <trace/thread.h>
#include "unit.h"
#include "tracefs.h"

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void ended(void **state)
{
	(void)state;
	says("saved_cmdlines_size", "128\n");
	assert_int_equal(echo("0", "saved_cmdlines_size"), -EINVAL);
	assert_int_equal(echo("40000", "saved_cmdlines_size"), -EINVAL);
	assert_int_equal(echo("3", "saved_cmdlines_size"), 0);
	says("saved_cmdlines_size", "3\n");
	trace_thread_exited(900, "too-early");
	assert_int_equal(echo("mark", "trace_marker"), 0);
	for (int32_t pid = 901; pid <= 904; pid++)
		trace_thread_exited(pid, pid == 901 ? "first" : "other");
	trace_thread_exited(904, "again");
	says("saved_cmdlines", "904 again\n902 other\n903 other\n");
	assert_int_equal(echo("0", "options/record-cmd"), 0);
	trace_thread_exited(905, "unrecorded");
	says("saved_cmdlines", "904 again\n902 other\n903 other\n");
	assert_int_equal(echo("1", "options/record-cmd"), 0);
	assert_int_equal(echo("128", "saved_cmdlines_size"), 0);
}

/*
 * All threads that live, each once, and behind them those that have ended, however few names are
 * kept of these.
 */
static void all_living(void **state)
{
	const int32_t nr = 240; /* more than the first list of them has room for */
	char want[10000];
	size_t len = 0;

	(void)state;
	assert_int_equal(echo("2", "saved_cmdlines_size"), 0);
	assert_int_equal(echo("mark", "trace_marker"), 0);
	for (int32_t pid = 901; pid <= 903; pid++)
		trace_thread_exited(pid, "ended");
	for (int32_t pid = 1; pid <= nr; pid++) {
		fake_thread_add(pid, "lives");
		len += (size_t)snprintf(want + len, sizeof(want) - len, "%d lives\n", pid);
	}
	snprintf(want + len, sizeof(want) - len, "903 ended\n902 ended\n");
	says("saved_cmdlines", want);
	says("saved_cmdlines", want); /* reading has pushed no name out */
	for (int32_t pid = nr; pid > 1; pid--)
		fake_thread_exit(pid);
	trace_thread_exited(1, "lives"); /* as it is while a thread ends */
	says("saved_cmdlines", "1 lives\n903 ended\n");
	assert_int_equal(echo("0", "options/record-cmd"), 0);
	says("saved_cmdlines", "903 ended\n1 lives\n");
	assert_int_equal(echo("1", "options/record-cmd"), 0);
	fake_thread_exit(1);
	assert_int_equal(echo("128", "saved_cmdlines_size"), 0);
}

/* From the beginning again: as it is now. Who ends between two reads is told, and once. */
static void anew(void **state)
{
	char buf[100] = "";
	struct trace_handle *handle = open_file("saved_cmdlines", TRACE_FS_READ);
	uint64_t pos = 0;

	(void)state;
	assert_int_equal(echo("mark", "trace_marker"), 0);
	fake_thread_add(7, "seven");
	fake_thread_add(8, "eight");
	assert_int_equal(trace_fs_read(handle, buf, 8, &pos), 8);
	trace_thread_exited(8, "eight");
	fake_thread_exit(8);
	assert_int_equal(trace_fs_read(handle, buf + 8, sizeof(buf) - 9, &pos), 8);
	assert_string_equal(buf, "7 seven\n8 eight\n");
	assert_int_equal(trace_fs_read(handle, buf, sizeof(buf), &pos), 0);
	fake_thread_add(9, "nine");
	pos = 0;
	memset(buf, 0, sizeof(buf));
	while (trace_fs_read(handle, buf + strlen(buf), sizeof(buf) - strlen(buf) - 1, &pos) > 0)
		;
	assert_string_equal(buf, "7 seven\n9 nine\n8 eight\n");
	pos = 0;
	fake_alloc_budget = 0;
	assert_int_equal(trace_fs_read(handle, buf, sizeof(buf), &pos), -ENOMEM);
	fake_alloc_budget = -1;
	trace_fs_close(handle);
	fake_thread_exit(7);
	fake_thread_exit(9);
	assert_int_equal(echo("128", "saved_cmdlines_size"), 0);
}

static bool trace_says(const char *text)
{
	return strstr(cat("trace"), text);
}

/* The processes of threads, with record-tgid, in a column of their own and in saved_tgids. */
static void processes(void **state)
{
	(void)state;
	fake_thread_add(7, "first");
	fake_thread_add(8, "second");
	fake_thread_of_process(8, 7);
	fake_thread_add(9, "main");
	fake_run(9);
	assert_int_equal(echo("mark", "trace_marker"), 0);
	fake_run(0);
	fake_thread_exit(9);
	says("saved_tgids", "");
	assert_true(trace_says("#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"));
	assert_false(trace_says("("));
	assert_int_equal(echo("1", "options/record-tgid"), 0);
	says("saved_tgids", "7 7\n8 7\n");
	assert_true(
		trace_says("#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"
			   "#              | |           |       |   |||||     |         |\n"));
	assert_true(trace_says(
		"\n#                                          _-----=> irqs-off/BH-disabled\n"));
	assert_true(trace_says(" <...>-9       (-------) [000] "));
	assert_int_equal(echo("0", "options/irq-info"), 0);
	assert_true(trace_says("#           TASK-PID       TGID    CPU#     TIMESTAMP  FUNCTION\n"
			       "#              | |           |       |         |         |\n"));
	assert_int_equal(echo("1", "options/irq-info"), 0);
	fake_thread_add(9, "main");
	fake_thread_of_process(9, 7);
	assert_true(trace_says("  main-9       (      7) [000] "));
	assert_int_equal(echo("0", "options/record-cmd"), 0);
	trace_thread_exited(8, "second");
	fake_thread_exit(8);
	says("saved_tgids", "7 7\n9 7\n8 7\n");
	says("saved_cmdlines", "");
	assert_int_equal(echo("1", "options/record-cmd"), 0);
	assert_int_equal(echo("0", "options/record-tgid"), 0);
	says("saved_tgids", "8 7\n");
	says("saved_cmdlines", "7 first\n9 main\n");
	fake_thread_exit(7);
	fake_thread_exit(9);
	assert_int_equal(echo("128", "saved_cmdlines_size"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(ended), TEST(all_living), TEST(anew),
					    TEST(processes) };

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
