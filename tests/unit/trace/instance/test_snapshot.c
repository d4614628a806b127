/*
 * The snapshot of an instance on the fake machine: commands, exchanges, sizes, who is refused.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/tracer.h>

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void is_freed(const char *path)
{
	static const char head[] = "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n# Snapshot "
				   "commands:\n# echo 0 > snapshot : ";

	assert_memory_equal(cat(path), head, sizeof(head) - 1);
}

static void is_allocated(const char *path)
{
	static const char head[] =
		"# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n# Snapshot commands:\n";

	assert_memory_equal(cat(path), head, sizeof(head) - 1);
}

static void mark(const char *text)
{
	assert_int_equal(echo(text, "trace_marker"), 0);
}

static void commands(void **state)
{
	static const char *const bad[] = { "garbage", "-1", "", "1 2", "0x", "0x1", "01x" };

	(void)state;
	is_freed("snapshot");
	is_freed("per_cpu/cpu1/snapshot");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(echo(bad[i], "snapshot"), -EINVAL);
	assert_int_equal(echo("2", "snapshot"), 0); /* clears, and makes nothing */
	is_freed("snapshot");
	assert_int_equal(echo("0", "snapshot"), 0);
	mark("first");
	assert_int_equal(echo("01", "snapshot"), 0);
	assert_int_equal(count_in("snapshot", ": first"), 1);
	assert_int_equal(count_in("trace", ": first"), 0);
	mark("second");
	/* An exchange empties nothing. */
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(count_in("snapshot", ": second"), 1);
	assert_int_equal(count_in("trace", ": first"), 1);
	assert_int_equal(echo("5", "snapshot"), 0);
	is_allocated("snapshot");
	assert_int_equal(count_in("trace", ": first"), 1);
	assert_int_equal(echo("0", "snapshot"), 0);
	is_freed("snapshot");
	assert_int_equal(count_in("trace", ": first"), 1);
}

/* Its text while there is none: of all CPUs and of one. */
static void help(void **state)
{
	(void)state;
	says("snapshot",
	     "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n# Snapshot commands:\n"
	     "# echo 0 > snapshot : gives the snapshot's memory back\n"
	     "# echo 1 > snapshot : makes room if there is none, and keeps what the trace has\n"
	     "#                     recorded so far\n"
	     "# echo 2 > snapshot : forgets what is kept; as does any other number\n");
	says("per_cpu/cpu1/snapshot",
	     "# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n# Snapshot commands:\n"
	     "# echo 0 > snapshot : is refused for one CPU\n"
	     "# echo 1 > snapshot : makes room if there is none, and keeps what this CPU has\n"
	     "#                     recorded so far\n"
	     "# echo 2 > snapshot : forgets what is kept of this CPU; as does any other number\n");
}

static void never_taken(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "fresh"), 0);
	is_freed("instances/fresh/snapshot");
	is_freed("instances/fresh/per_cpu/cpu1/snapshot");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "fresh"), 0);
}

static void one_cpu(void **state)
{
	(void)state;
	mark("zero");
	fake_bind(1);
	mark("one");
	assert_int_equal(echo("1", "per_cpu/cpu1/snapshot"), 0);
	fake_bind(0);
	assert_int_equal(count_in("snapshot", ": zero"), 0);
	assert_int_equal(count_in("per_cpu/cpu1/snapshot", ": one"), 1);
	is_allocated("per_cpu/cpu0/snapshot");
	assert_int_equal(count_in("trace", ": zero"), 1);
	assert_int_equal(count_in("trace", ": one"), 0);
	assert_int_equal(echo("0", "per_cpu/cpu1/snapshot"), -EINVAL);
	assert_int_equal(echo("2", "per_cpu/cpu0/snapshot"), 0);
	assert_int_equal(count_in("snapshot", ": one"), 1);
	assert_int_equal(echo("2", "per_cpu/cpu1/snapshot"), 0);
	is_allocated("per_cpu/cpu1/snapshot");
	fake_cpus[1].is_offline = true;
	assert_int_equal(echo("1", "per_cpu/cpu1/snapshot"), -ENODEV);
	fake_cpus[1].is_offline = false;
}

/* A setting holds for both buffers. */
static void settings(void **state)
{
	(void)state;
	assert_int_equal(echo("2", "tracing_cpumask"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("x", "trace_marker"), -EBADF);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("x", "trace_marker"), -EBADF);
	assert_int_equal(echo("3", "tracing_cpumask"), 0);
	mark("both");
	assert_int_equal(echo("1", "snapshot"), 0);
	mark("both");
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("x", "trace_marker"), -EBADF);
	says("tracing_on", "0\n");
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	mark("both");
	assert_int_equal(echo("0", "options/overwrite"), 0);
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 900; k++)
			echo("a marker of some length", "trace_marker");
		assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "overrun: 0\n"));
		assert_int_equal(echo("1", "snapshot"), 0);
		says("buffer_size_kb", "8\n");
	}
	assert_int_equal(echo("1", "options/overwrite"), 0);
	assert_int_equal(echo("counter", "trace_clock"), 0);
	mark("one");
	assert_int_equal(echo("1", "snapshot"), 0);
	mark("two");
	assert_int_equal(echo("1", "options/raw"), 0);
	/* One clock in both. */
	assert_true(strtoul(strchr(cat_body("trace") + 3, ' '), NULL, 10) < 100);
	assert_true(strtoul(strchr(cat_body("snapshot") + 3, ' '), NULL, 10) < 100);
	assert_int_equal(echo("0", "options/raw"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

static void memory(void **state)
{
	(void)state;
	for (long budget = 0;; budget++) {
		int err;

		fake_alloc_budget = budget + 1; /* of the file itself, of the text */
		err = echo("1", "snapshot");
		fake_alloc_budget = -1;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_memory_equal(strstr(cat("snapshot"), "is freed"), "is freed", 8);
	}
	/* A new size for both or for none. */
	fake_alloc_budget = 6;
	assert_int_equal(echo("2000", "buffer_size_kb"), -ENOMEM);
	fake_alloc_budget = -1;
	says("buffer_size_kb", "1408\n");
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("64", "per_cpu/cpu0/buffer_size_kb"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	says("per_cpu/cpu0/buffer_size_kb", "64\n");
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

static void readers(void **state)
{
	struct trace_handle *handle, *raw;
	uint64_t pos = 0, raw_pos = 0;
	static char text[3000];

	(void)state;
	raw = open_file("per_cpu/cpu0/snapshot_raw", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &raw_pos), 0);
	mark("kept");
	assert_int_equal(echo("1", "snapshot"), 0);
	handle = open_file("snapshot", TRACE_FS_READ);
	assert_true(trace_fs_read(handle, text, sizeof(text), &pos) > 0);
	assert_non_null(strstr(text, ": kept"));
	assert_int_equal(echo("0", "snapshot"), -EBUSY); /* it is being read */
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	trace_fs_close(handle);
	assert_true(trace_fs_read(raw, text, sizeof(text), &raw_pos) > 0);
	assert_int_equal(memcmp(text + 16 + 4 + 12, "kept", 4), 0);
	trace_fs_close(raw);
	is_allocated("snapshot");
	/* With pause-on-trace nothing is exchanged under the reader. */
	assert_int_equal(echo("1", "options/pause-on-trace"), 0);
	handle = open_file("trace", TRACE_FS_READ);
	assert_int_equal(echo("1", "snapshot"), -EBUSY);
	trace_fs_close(handle);
	assert_int_equal(echo("0", "options/pause-on-trace"), 0);
	mark("on");
	assert_int_equal(echo("1", "snapshot"), 0);
	mark("on");
}

static void from_code(void **state)
{
	(void)state;
	tracing_snapshot();
	assert_int_equal(count_in("trace", "*** SNAPSHOT NOT ALLOCATED ***"), 1);
	assert_int_equal(count_in("trace", "*** stopping trace here!   ***"), 1);
	says("tracing_on", "0\n");
	tracing_on();
	assert_int_equal(echo("", "trace"), 0);
	fake_alloc_budget = 1;
	assert_int_equal(tracing_alloc_snapshot(), -ENOMEM);
	fake_alloc_budget = -1;
	mark("before");
	tracing_snapshot_alloc();
	mark("after");
	assert_int_equal(count_in("snapshot", ": before"), 1);
	assert_int_equal(count_in("trace", ": after"), 1);
	fake_cpus[0].preempt_count += 1u << 20;
	tracing_snapshot();
	fake_cpus[0].preempt_count -= 1u << 20;
	assert_int_equal(count_in("trace", "*** SNAPSHOT CALLED FROM NMI CONTEXT ***"), 1);
	assert_int_equal(count_in("trace", ": after"), 1);
	assert_int_equal(tracing_alloc_snapshot(), 0);
}

/* Whoever asks for a snapshot while it is being freed, which is refused, gets none: that is all. */
static void from_code_while_freed(void **state)
{
	struct trace_handle *readers[2];
	static char text[3000];

	(void)state;
	mark("before");
	for (size_t i = 0; i < 2; i++) { /* of the one buffer and of the other */
		uint64_t pos = 0;

		assert_int_equal(echo("1", "snapshot"), 0);
		mark("before");
		readers[i] = open_file("snapshot", TRACE_FS_READ);
		assert_true(trace_fs_read(readers[i], text, sizeof(text), &pos) > 0);
	}
	fake_on_alloc = tracing_snapshot;
	assert_int_equal(echo("0", "snapshot"), -EBUSY);
	fake_on_alloc = NULL;
	says("tracing_on", "1\n");
	assert_int_equal(count_in("trace", "SNAPSHOT"), 0);
	for (size_t i = 0; i < 2; i++)
		trace_fs_close(readers[i]);
	fake_on_alloc = tracing_snapshot;
	assert_int_equal(echo("0", "snapshot"), 0);
	fake_on_alloc = NULL;
	says("tracing_on", "1\n");
	is_freed("snapshot");
	assert_int_equal(echo("1", "snapshot"), 0); /* exchanges are no longer paused */
}

static int keeper_init(struct trace_array *tr)
{
	(void)tr;
	return 0;
}

/* A tracer that keeps its worst case there. */
static void taken(void **state)
{
	static struct tracer keeper = { .name = "keeper",
					.init = keeper_init,
					.uses_snapshot = true };

	struct trace_handle *handle, *raw = open_file("per_cpu/cpu0/snapshot_raw", TRACE_FS_READ);
	uint64_t pos = 0, pipe_pos = 0;
	char text[10], piped[1000];
	int64_t got;

	(void)state;
	register_tracer(&keeper);
	mark("kept");
	assert_int_equal(echo("keeper", "current_tracer"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(echo((const char *[]){ "0", "1", "2" }[i], "snapshot"), -EBUSY);
	handle = open_file("snapshot", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(handle, text, sizeof(text), &pos), -EBUSY);
	trace_fs_close(handle);
	assert_int_equal(
		trace_fs_open(node_of("per_cpu/cpu0/snapshot_raw"), TRACE_FS_READ, &handle),
		-EBUSY);
	assert_int_equal(trace_fs_read(raw, text, sizeof(text), &pos), -EBUSY); /* opened before */
	trace_fs_close(raw);
	assert_int_equal(count_in("trace", ":"), 0);
	tracing_snapshot(); /* complains in what is recorded into, which is not shown */
	says("tracing_on", "1\n");
	assert_int_equal(count_in("trace", ":"), 0);
	handle = open_file("trace_pipe", TRACE_FS_READ);
	fake_interrupted = true; /* it does not wait for more */
	while ((got = trace_fs_read(handle, piped + pipe_pos, sizeof(piped) - pipe_pos,
				    &pipe_pos)) > 0)
		;
	fake_interrupted = false;
	piped[pipe_pos] = '\0';
	assert_non_null(strstr(piped, ": *** LATENCY TRACER ACTIVE ***\n"));
	assert_non_null(strstr(piped, ": *** Can not use snapshot (sorry) ***\n"));
	trace_fs_close(handle);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	is_freed("snapshot");
}

static void own_ones(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	mark("root");
	assert_int_equal(echo("mine", "instances/one/trace_marker"), 0);
	assert_int_equal(echo("1", "instances/one/snapshot"), 0);
	assert_int_equal(count_in("instances/one/snapshot", ": mine"), 1);
	is_freed("snapshot");
	assert_int_equal(count_in("trace", ": root"), 1);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
}

static void polling(void **state)
{
	struct trace_handle *raw = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ);
	struct trace_handle *all = open_file("trace_pipe", TRACE_FS_READ);

	(void)state;
	assert_false(trace_fs_poll(raw));
	assert_false(trace_fs_poll(all));
	assert_int_equal(echo("1", "options/block"), 0); /* readers find out by waiting */
	assert_true(trace_fs_poll(raw));
	assert_true(trace_fs_poll(all));
	assert_int_equal(echo("0", "options/block"), 0);
	mark("one");
	assert_false(trace_fs_poll(raw)); /* 50 percent */
	assert_true(trace_fs_poll(all));  /* it knows no percentage */
	assert_int_equal(echo("0", "buffer_percent"), 0);
	assert_true(trace_fs_poll(raw));
	assert_int_equal(echo("100", "buffer_percent"), 0);
	assert_false(trace_fs_poll(raw));
	trace_fs_close(all);
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	for (int i = 0; i < 400; i++)
		mark("a marker of some length");
	assert_true(trace_fs_poll(raw));
	trace_fs_close(raw);
	assert_int_equal(echo("50", "buffer_percent"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

static void free_buffer(void **state)
{
	(void)state;
	assert_int_equal(echo("x", "free_buffer"), 0);
	says("buffer_size_kb", "8\n");
	says("tracing_on", "1\n");
	assert_int_equal(echo("1", "options/disable_on_free"), 0);
	assert_int_equal(echo("", "free_buffer"), 0);
	says("tracing_on", "0\n");
	assert_int_equal(echo("0", "options/disable_on_free"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
	assert_int_equal(echo("101", "buffer_percent"), -EINVAL);
	assert_int_equal(echo("x", "buffer_percent"), -EINVAL);
	says("buffer_percent", "50\n");
	assert_int_equal(echo("100", "buffer_percent"), 0);
	says("buffer_percent", "100\n");
	assert_int_equal(echo("50", "buffer_percent"), 0);
}

static int reset(void **state)
{
	/* The first snapshot of all leaves a slim buffer behind: not a leak. */
	tracefs_reset(state);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	return tracefs_reset(state);
}

static int check(void **state)
{
	assert_int_equal(echo("0", "snapshot"), 0);
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(commands), TEST(help),	 TEST(never_taken),
		TEST(one_cpu),	TEST(settings),	 TEST(memory),
		TEST(readers),	TEST(from_code), TEST(from_code_while_freed),
		TEST(taken),	TEST(own_ones),	 TEST(free_buffer),
		TEST(polling),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
