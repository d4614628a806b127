/*
 * Reading that consumes: trace_pipe, trace_pipe_raw, the numbers in stats.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/ring_buffer.h>

static int64_t read_some(struct trace_handle *handle, char *buf, size_t len, uint64_t *pos)
{
	int64_t got = trace_fs_read(handle, buf, len, pos);

	buf[got > 0 ? got : 0] = '\0';
	return got;
}

static uint64_t stat_of(uint32_t cpu, const char *name)
{
	char path[40];
	const char *at;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	at = strstr(cat(path), name);
	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 10);
}

static void stats(void **state)
{
	(void)state;
	assert_string_equal(cat("per_cpu/cpu0/stats"),
			    "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\n"
			    "oldest event ts:     0.000000\nnow ts:    12.345679\n"
			    "dropped events: 0\nread events: 0\n");
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	call(0, 1, KFREE);
	assert_string_equal(cat("per_cpu/cpu0/stats"),
			    "entries: 2\noverrun: 0\ncommit overrun: 0\nbytes: 40\n"
			    "oldest event ts:    12.345680\nnow ts:    12.345681\n"
			    "dropped events: 0\nread events: 0\n");
}

static bool switch_off_soon;
static int nr_waits;

static void on_wait(void)
{
	if (++nr_waits == 3 && switch_off_soon)
		assert_int_equal(echo("0", "tracing_on"), 0);
	else if (nr_waits == 3)
		call(1, 15, DO_WORK);
}

static void pipe_waits_and_ends(void **state)
{
	struct trace_handle *handle = open_file("trace_pipe", TRACE_FS_READ);
	uint64_t pos = 0;
	char text[400];

	(void)state;
	fake_thread_add(15, "worker");
	assert_int_equal(echo("function", "current_tracer"), -EBUSY);
	trace_fs_close(handle);
	assert_int_equal(echo("function", "current_tracer"), 0);
	handle = open_file("trace_pipe", TRACE_FS_READ);
	call(0, 15, KFREE);
	call(1, 15, SCHEDULE);
	/* Without header; what there is, at once; consumed. */
	assert_true(read_some(handle, text, sizeof(text) - 1, &pos) > 0);
	assert_string_equal(
		text, "          worker-15      [000] .....    12.345680: kfree <-yield\n"
		      "          worker-15      [001] .....    12.345681: schedule <-yield\n");
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(stat_of(0, "read events: "), 1);
	/* Nothing left: waits. */
	nr_waits = 0;
	fake_on_wait = on_wait;
	assert_true(read_some(handle, text, sizeof(text) - 1, &pos) > 0);
	assert_string_equal(text,
			    "          worker-15      [001] .....    12.345682: do_work <-yield\n");
	assert_int_equal(nr_waits, 3);
	/* The user interrupts. */
	fake_on_wait = NULL;
	fake_interrupted = true;
	assert_int_equal(read_some(handle, text, sizeof(text) - 1, &pos), -EINTR);
	fake_interrupted = false;
	/* Ends when tracing is off and something was read. */
	nr_waits = 0;
	switch_off_soon = true;
	fake_on_wait = on_wait;
	assert_int_equal(read_some(handle, text, sizeof(text) - 1, &pos), 0);
	assert_int_equal(nr_waits, 3);
	switch_off_soon = false;
	fake_on_wait = NULL;
	trace_fs_close(handle);
	/* One who has read nothing waits even then. */
	handle = open_file("trace_pipe", TRACE_FS_READ);
	pos = 0;
	fake_interrupted = true;
	assert_int_equal(read_some(handle, text, 10, &pos), -EINTR);
	fake_interrupted = false;
	trace_fs_close(handle);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

static void pipe_nonblock(void **state)
{
	struct trace_handle *handle = open_file("trace_pipe", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	uint64_t pos = 0;
	char text[100];

	(void)state;
	assert_int_equal(read_some(handle, text, 99, &pos), -EAGAIN);
	assert_false(trace_fs_may_wait(handle));
	/* Told later to wait, and not to wait again. */
	trace_fs_set_nonblock(handle, false);
	assert_true(trace_fs_may_wait(handle));
	fake_interrupted = true;
	assert_int_equal(read_some(handle, text, 99, &pos), -EINTR);
	fake_interrupted = false;
	trace_fs_set_nonblock(handle, true);
	assert_int_equal(read_some(handle, text, 99, &pos), -EAGAIN);
	trace_fs_close(handle);
	/* Who writes a marker waits for nothing. */
	handle = open_file("trace_marker", TRACE_FS_WRITE);
	assert_false(trace_fs_may_wait(handle));
	trace_fs_close(handle);
	handle = open_file("set_ftrace_filter", TRACE_FS_WRITE);
	assert_true(trace_fs_may_wait(handle));
	trace_fs_close(handle);
}

static void one_pipe_for_each_cpu(void **state)
{
	struct trace_handle *all, *one, *other;

	(void)state;
	all = open_file("trace_pipe", TRACE_FS_READ);
	assert_int_equal(trace_fs_open(node_of("trace_pipe"), TRACE_FS_READ, &one), -EBUSY);
	assert_int_equal(trace_fs_open(node_of("per_cpu/cpu1/trace_pipe"), TRACE_FS_READ, &one),
			 -EBUSY);
	trace_fs_close(all);
	one = open_file("per_cpu/cpu1/trace_pipe", TRACE_FS_READ);
	other = open_file("per_cpu/cpu0/trace_pipe", TRACE_FS_READ);
	assert_int_equal(trace_fs_open(node_of("trace_pipe"), TRACE_FS_READ, &all), -EBUSY);
	trace_fs_close(one);
	trace_fs_close(other);
	all = open_file("trace_pipe", TRACE_FS_READ);
	trace_fs_close(all);
}

/* All of a full buffer through the pipe: order, counts, one line about what was lost. */
static void pipe_reports_loss(void **state)
{
	unsigned long lost = 0, part, nr = 0;
	struct trace_handle *handle;
	static char text[1 << 20];
	uint64_t pos = 0, entries;
	unsigned int cpu;

	(void)state;
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int i = 0; i < 3000; i++)
		call(0, 1, KFREE);
	for (int i = 0; i < 7; i++)
		call(1, 1, KFREE);
	entries = stat_of(0, "entries: ");
	assert_int_equal(entries + stat_of(0, "overrun: "), 3000);
	assert_int_equal(echo("0", "tracing_on"), 0);
	handle = open_file("trace_pipe", TRACE_FS_READ);
	for (size_t chunk = 1; read_some(handle, text + pos, chunk, &pos) > 0;)
		chunk = chunk % 4096 + 100;
	trace_fs_close(handle);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		if (sscanf(line, "CPU:%u [LOST %lu EVENTS]", &cpu, &part) == 2) {
			assert_int_equal(cpu, 0);
			lost += part;
		} else {
			nr++;
		}
	}
	assert_int_equal(nr, entries + 7);
	assert_int_equal(lost, 3000 - entries);
	assert_int_equal(stat_of(0, "read events: "), entries);
	assert_int_equal(stat_of(0, "entries: "), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

/* Whole sub-buffers, each with its head; a page that is not full is filled up with zeros. */
static void raw_pages(void **state)
{
	struct trace_handle *handle;
	static char page[5000];
	struct ring_page head;
	uint64_t pos = 0;
	size_t events = 0, len;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int i = 0; i < 1000; i++)
		call(0, 1, KFREE);
	assert_int_equal(echo("0", "tracing_on"), 0);
	handle = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ);
	while (trace_fs_read(handle, page, 96, &pos) > 0) {
		while (pos % 4096)
			assert_true(trace_fs_read(handle, page + pos % 4096, 1000, &pos) > 0);
		memcpy(&head, page, sizeof(head));
		len = head.commit & RING_PAGE_LEN_MASK;
		assert_int_equal(head.time_stamp % 1000, 900);
		assert_int_equal(len % 20, 0);
		assert_int_equal(page[16 + len], 0);
		events += len / 20;
	}
	assert_int_equal(events, 1000);
	trace_fs_close(handle);
	assert_int_equal(stat_of(0, "read events: "), 1000);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

static void pause_on_trace(void **state)
{
	struct trace_handle *handle;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	assert_int_equal(echo("1", "options/pause-on-trace"), 0);
	handle = open_file("trace", TRACE_FS_READ);
	assert_int_equal(echo("0", "options/pause-on-trace"), 0);
	call(0, 1, KFREE);
	assert_int_equal(stat_of(0, "entries: "), 1);
	trace_fs_close(handle);
	call(0, 1, KFREE);
	assert_int_equal(stat_of(0, "entries: "), 2);
}

/* A reader of `trace` sees what there was when it opened it, whatever comes. */
static void trace_is_a_snapshot(void **state)
{
	struct trace_handle *handle;
	char text[4096];
	uint64_t pos = 0;
	int64_t len;
	int lines = 0;

	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	call(0, 1, KFREE);
	handle = open_file("trace", TRACE_FS_READ);
	assert_int_equal(echo("4096", "buffer_size_kb"), -EBUSY);
	call(0, 1, KFREE);
	while ((len = read_some(handle, text, sizeof(text) - 1, &pos)) > 0)
		for (int64_t i = 0; i < len; i++)
			lines += text[i] == '\n';
	assert_int_equal(lines, 12 + 2);
	trace_fs_close(handle);
}

/* Tracing switched off and on: events only while on, and function begins with an empty buffer. */
static void on_and_off(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	assert_int_equal(echo("0", "tracing_on"), 0);
	call(0, 1, KFREE);
	assert_int_equal(stat_of(0, "entries: "), 1);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(stat_of(0, "entries: "), 0);
	tracing_off();
	assert_false(tracing_is_on());
	assert_string_equal(cat("tracing_on"), "0\n");
	tracing_on();
	assert_true(tracing_is_on());
	call(0, 1, KFREE);
	assert_int_equal(stat_of(0, "entries: "), 1);
	/* Truncation empties: all, or one CPU. */
	call(1, 1, KFREE);
	assert_int_equal(echo("x", "per_cpu/cpu1/trace"), 0);
	assert_int_equal(stat_of(0, "entries: "), 1);
	assert_int_equal(stat_of(1, "entries: "), 0);
	assert_int_equal(echo_append("x", "trace"), 0);
	assert_int_equal(stat_of(0, "entries: "), 1);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(stat_of(0, "entries: "), 0);
}

static void drop_mode(void **state)
{
	(void)state;
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	assert_int_equal(echo("0", "options/overwrite"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int i = 0; i < 3000; i++)
		call(0, 1, KFREE);
	assert_int_equal(stat_of(0, "entries: ") + stat_of(0, "dropped events: "), 3000);
	assert_true(stat_of(0, "dropped events: ") > 2000);
	assert_int_equal(stat_of(0, "\noverrun: "), 0);
	assert_int_equal(echo("1", "options/overwrite"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stats),
		TEST(pipe_waits_and_ends),
		TEST(pipe_nonblock),
		TEST(one_pipe_for_each_cpu),
		TEST(pipe_reports_loss),
		TEST(raw_pages),
		TEST(pause_on_trace),
		TEST(trace_is_a_snapshot),
		TEST(on_and_off),
		TEST(drop_mode),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
