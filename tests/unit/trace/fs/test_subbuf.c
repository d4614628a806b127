/*
 * buffer_subbuf_size_kb, and what longer events need: markers, the files that print them, raw
 * pages, snapshots, the dump.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/ring_buffer.h>

#define LONGEST_KB	512u
#define HEAD		51u /* of a line */
#define MARKER_ROOM(kb) ((kb)*1024 - 32 - 12 - 2)

static char text[LONGEST_KB * 1024];

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void set_size(const char *kb, const char *want)
{
	assert_int_equal(echo(kb, "buffer_subbuf_size_kb"), 0);
	says("buffer_subbuf_size_kb", want);
}

/* Write a marker of `len` letters. */
static void mark(char letter, size_t len)
{
	memset(text, letter, len);
	assert_int_equal(put(text, len, "trace_marker", TRACE_FS_TRUNC), 0);
}

static size_t count(const char *where, char c)
{
	size_t nr = 0;

	for (; *where; where++)
		nr += *where == c;
	return nr;
}

/* Every power of two from 4 to 512, and what is rounded up to it. */
static void sizes(void **state)
{
	static const struct {
		const char *kb, *want;
	} good[] = { { "1", "4\n" },	 { "5", "8\n" },     { "8", "8\n" },	{ "9", "16\n" },
		     { "17", "32\n" },	 { "64", "64\n" },   { "65", "128\n" }, { "256", "256\n" },
		     { "257", "512\n" }, { "512", "512\n" }, { " 4", "4\n" } };
	static const char *const bad[] = { "0", "513", "1000000", "-1", "4k", "0x10", "", "4 4" };

	(void)state;
	says("buffer_subbuf_size_kb", "4\n");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]) - 1; i++)
		set_size(good[i].kb, good[i].want);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(echo(bad[i], "buffer_subbuf_size_kb"), -EINVAL);
	assert_int_equal(echo("99999999999999999999", "buffer_subbuf_size_kb"), -ERANGE);
	says("buffer_subbuf_size_kb", "512\n");
	/* Whole sub-buffers; what was asked for comes back. */
	says("buffer_size_kb", "1536\n");
	says("per_cpu/cpu1/buffer_size_kb", "1536\n");
	says("buffer_total_size_kb", "3072\n");
	set_size("4", "4\n");
	says("buffer_size_kb", "1408\n");
	set_size("64", "64\n");
	assert_int_equal(echo("100", "buffer_size_kb"), 0);
	says("buffer_size_kb", "128\n");
	set_size("4", "4\n");
	says("buffer_size_kb", "100\n");
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

/* The longest marker of every size is one event, and is printed whole. */
static void long_markers(void **state)
{
	(void)state;
	fake_cpus[0].pid = 1;
	for (uint32_t kb = 4; kb <= LONGEST_KB; kb *= 2) {
		char number[8];
		const char *line;

		snprintf(number, sizeof(number), "%u", kb);
		assert_int_equal(echo(number, "buffer_subbuf_size_kb"), 0);
		mark('A', MARKER_ROOM(kb));
		line = cat_body("trace");
		assert_int_equal(count(line, 'A'), MARKER_ROOM(kb));
		assert_int_equal(count(line, '\n'), 1);
		assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "entries: 1\n"));
		/* One byte more makes two of it. */
		mark('B', MARKER_ROOM(kb) - 1);
		memset(text, 'C', MARKER_ROOM(kb) + 1 < sizeof(text) ? MARKER_ROOM(kb) + 1 : 0);
		if (kb < LONGEST_KB) {
			assert_int_equal(put(text, MARKER_ROOM(kb) + 1, "trace_marker", 0), 0);
			assert_int_equal(count(cat_body("trace"), '\n'), 4);
		}
	}
	cat_chunk = 777;
	assert_int_equal(echo("", "trace"), 0);
	mark('D', 300000);
	assert_int_equal(count(cat_body("trace"), 'D'), 300000);
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(count(cat("trace_pipe"), 'D'), 300000);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* As hex, three characters a byte. */
static void long_raw_marker(void **state)
{
	const size_t len = 100000;

	(void)state;
	fake_cpus[0].pid = 1;
	memset(text, 7, len);
	assert_int_equal(put(text, len, "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(echo("128", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(put(text, len, "trace_marker_raw", 0), 0);
	assert_int_equal(strlen(strstr(cat_body("trace"), "buf:")), 4 + (len - 4) * 3 + 1);
	assert_int_equal(put(text, 128 * 1024 - 32 - 8 + 1, "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(put(text, 128 * 1024 - 32 - 8, "trace_marker_raw", 0), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* A memory that does not suffice cuts the line, and that is all. */
static void line_without_memory(void **state)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t got;

	(void)state;
	assert_int_equal(echo("64", "buffer_subbuf_size_kb"), 0);
	mark('E', 60000);
	handle = open_file("trace", TRACE_FS_READ);
	fake_alloc_budget = 0;
	while ((got = trace_fs_read(handle, text + pos, 4096, &pos)) > 0)
		;
	fake_alloc_budget = -1;
	assert_int_equal(got, 0);
	assert_in_range(pos, 10000, 13000);
	trace_fs_close(handle);
	assert_int_equal(count(cat_body("trace"), 'E'), 60000);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* A reader that was there before goes on with pages of the new size. */
static void raw_pages(void **state)
{
	struct trace_handle *raw = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ);
	const struct ring_page *page = (const struct ring_page *)(void *)text;
	uint64_t pos = 0;

	(void)state;
	mark('F', 10);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 4096);
	assert_int_equal(echo("16", "buffer_subbuf_size_kb"), 0);
	mark('G', 9000);
	assert_int_equal(trace_fs_read(raw, text, 100, &pos), 100);
	assert_int_equal(page->commit, 8 + ((12 + 9000 + 2 + 3) & ~3));
	/* The rest of a page that was taken is not lost. */
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 16384 - 100);
	mark('H', 10);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 4096);
	assert_int_equal(page->commit, 28);
	mark('I', 10);
	fake_alloc_budget = 0;
	trace_fs_close(raw);
	raw = NULL;
	fake_alloc_budget = 1;
	assert_int_equal(trace_fs_open(node_of("per_cpu/cpu0/trace_pipe_raw"), TRACE_FS_READ, &raw),
			 -ENOMEM);
	fake_alloc_budget = 2;
	assert_int_equal(trace_fs_open(node_of("per_cpu/cpu0/trace_pipe_raw"), TRACE_FS_READ, &raw),
			 0);
	pos = 0;
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 4096);
	trace_fs_close(raw);
}

/* A pipe that is open goes on, too; `trace` forbids the change. */
static void open_readers(void **state)
{
	struct trace_handle *pipe = open_file("trace_pipe", TRACE_FS_READ), *handle;
	uint64_t pos = 0;
	int64_t got;

	(void)state;
	mark('J', 10);
	handle = open_file("per_cpu/cpu1/trace", TRACE_FS_READ);
	assert_int_equal(echo("8", "buffer_subbuf_size_kb"), -EBUSY);
	says("buffer_subbuf_size_kb", "4\n");
	assert_int_equal(count(cat_body("trace"), 'J'), 10);
	assert_int_equal(echo("3", "buffer_subbuf_size_kb"), 0); /* it has that size */
	assert_int_equal(count(cat_body("trace"), 'J'), 10);
	trace_fs_close(handle);
	assert_int_equal(echo("8", "buffer_subbuf_size_kb"), 0);
	mark('K', 7000);
	got = trace_fs_read(pipe, text, sizeof(text) - 1, &pos);
	assert_true(got > 0);
	text[got] = '\0';
	assert_int_equal(count(text, 'J'), 0);
	assert_int_equal(count(text, 'K'), 7000);
	trace_fs_close(pipe);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* A change that is begun without the memory for it changes nothing. */
static void without_memory(void **state)
{
	int err;

	(void)state;
	mark('L', 100);
	for (long budget = 2;; budget++) { /* the handle, the text */
		fake_alloc_budget = budget;
		err = echo("32", "buffer_subbuf_size_kb");
		fake_alloc_budget = -1;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		says("buffer_subbuf_size_kb", "4\n");
		says("buffer_size_kb", "1408\n");
		assert_int_equal(count(cat_body("trace"), 'L'), 100);
	}
	says("buffer_subbuf_size_kb", "32\n");
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

static void snapshots(void **state)
{
	struct trace_handle *raw = open_file("per_cpu/cpu0/snapshot_raw", TRACE_FS_READ);
	uint64_t pos = 0;

	(void)state;
	assert_int_equal(echo("16", "buffer_subbuf_size_kb"), 0);
	mark('M', 12000);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(count(cat_body("snapshot"), 'M'), 12000);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 16384);
	mark('N', 12000);
	/* Both change, and both are empty. */
	assert_int_equal(echo("32", "buffer_subbuf_size_kb"), 0);
	assert_string_equal(cat_body("trace"), "");
	assert_non_null(strstr(cat("snapshot"), "Snapshot is allocated"));
	mark('O', 30000);
	assert_int_equal(echo("1", "snapshot"), 0);
	mark('P', 31000);
	assert_int_equal(echo("1", "per_cpu/cpu0/snapshot"), 0);
	assert_int_equal(count(cat_body("trace"), 'O'), 30000);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), 32768);
	trace_fs_close(raw);
	/* Freed, it does not follow; made again, it does. */
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("8", "buffer_subbuf_size_kb"), 0);
	mark('Q', 8000);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(count(cat_body("snapshot"), 'Q'), 8000);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

static void instances(void **state)
{
	(void)state;
	assert_int_equal(echo("64", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	says("instances/one/buffer_subbuf_size_kb", "4\n");
	assert_int_equal(echo("16", "instances/one/buffer_subbuf_size_kb"), 0);
	says("instances/one/buffer_subbuf_size_kb", "16\n");
	says("buffer_subbuf_size_kb", "64\n");
	memset(text, 'R', 10000);
	assert_int_equal(put(text, 10000, "instances/one/trace_marker", 0), 0);
	assert_int_equal(count(cat_body("instances/one/trace"), 'R'), 10000);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* A tracer goes on; what counts time from the emptying of the buffer does so from the change. */
static void under_tracers(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 1, KFREE);
	fake_clock += 1000000;
	assert_int_equal(echo("8", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(echo("1", "options/latency-format"), 0);
	call(0, 1, DO_WORK);
	assert_non_null(strstr(cat_body("trace"), "    1us : do_work <-yield\n"));
	assert_null(strstr(cat_body("trace"), "kfree"));
	assert_int_equal(echo("0", "options/latency-format"), 0);
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	assert_int_equal(echo("16", "buffer_subbuf_size_kb"), 0);
	says("trace", "# tracer: irqsoff\n#\n");
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

/* A dump shows as much of an event as a line of the log takes, and the events behind it. */
static void dump(void **state)
{
	const char *log;

	(void)state;
	assert_int_equal(echo("64", "buffer_subbuf_size_kb"), 0);
	mark('s', 100);
	mark('T', 60000);
	mark('u', 100);
	trace_dump(TRACE_ALL_CPUS);
	log = strstr(fake_log(), "Dumping ftrace buffer");
	assert_non_null(log);
	assert_in_range(count(log, 'T'), 400, 512);
	assert_non_null(strstr(log, ": uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"));
	tracing_on();
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes),	 TEST(long_markers),   TEST(long_raw_marker),
		TEST(raw_pages), TEST(open_readers),   TEST(line_without_memory),
		TEST(instances), TEST(without_memory), TEST(under_tracers),
		TEST(snapshots), TEST(dump),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
