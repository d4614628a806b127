/*
 * CPUs that come after trace_init(), on the fake machine: their buffers are made then, and until
 * then their files show a CPU on which nothing happens. Each test has a CPU that has not come yet.
 */
#include "unit.h"
#include "tracefs.h"

#define NR_CPUS 12u
#define ONLINE	2u

static struct trace_handle *open_cpu(uint32_t cpu, const char *name, unsigned int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/%s", cpu, name);
	return open_file(path, TRACE_FS_READ | flags);
}

static const char *cat_cpu(uint32_t cpu, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/%s", cpu, name);
	return cat(path);
}

static int echo_cpu(const char *text, uint32_t cpu, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "per_cpu/cpu%u/%s", cpu, name);
	return echo(text, path);
}

static void mark(uint32_t cpu, const char *text)
{
	fake_clock += 1000;
	fake_bind(cpu);
	assert_int_equal(echo(text, "trace_marker"), 0);
	fake_bind(0);
}

static uint64_t stat_of(uint32_t cpu, const char *name)
{
	const char *at = strstr(cat_cpu(cpu, "stats"), name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 10);
}

/* An event on a CPU that has no ring: not recorded, and counted. */
static void drops(uint32_t cpu)
{
	uint64_t dropped = stat_of(cpu, "dropped events: ");

	fake_bind(cpu);
	assert_int_equal(echo("nobody sees this", "trace_marker"), -EBADF);
	fake_bind(0);
	assert_int_equal(stat_of(cpu, "dropped events: "), dropped + 1);
	assert_null(strstr(cat("trace"), "nobody sees this"));
}

static int setup(void **state)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	fake_bind(0);
	for (uint32_t cpu = ONLINE; cpu < NR_CPUS; cpu++)
		fake_cpus[cpu].is_offline = true;
	fake_clock_step = 0;
	fake_text_build(names, NR_FUNCS);
	assert_int_equal(trace_cpu_prepare(1), 0); /* too early, and harmless */
	ftrace_init();
	assert_int_equal(trace_init(), 0);
	look_at_all(trace_fs_root());
	assert_int_equal(echo("64", "buffer_size_kb"), 0);
	return 0;
}

static int empty(void **state)
{
	(void)state;
	fake_alloc_max_bytes = 0;
	return echo("", "trace");
}

/* As on Linux its files are those of a CPU on which nothing happens, with the size it will have. */
static void absent(void **state)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	char byte;

	(void)state;
	assert_string_equal(cat_cpu(2, "buffer_size_kb"), "64\n");
	assert_string_equal(cat("buffer_size_kb"), "64\n");
	assert_string_equal(cat("buffer_total_size_kb"), "768\n");
	assert_int_equal(stat_of(2, "entries: "), 0);
	assert_int_equal(stat_of(2, "now ts: "), fake_clock / 1000000000);
	assert_string_equal(cat_body("per_cpu/cpu2/trace"), "");
	drops(2);
	assert_int_equal(echo_cpu("", 2, "trace"), 0);
	assert_int_equal(stat_of(2, "dropped events: "), 0);
	handle = open_cpu(2, "trace_pipe", TRACE_FS_NONBLOCK);
	assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), -EAGAIN);
	assert_false(trace_fs_poll(handle));
	trace_fs_close(handle);
	handle = open_cpu(2, "trace_pipe_raw", TRACE_FS_NONBLOCK);
	assert_int_equal(trace_fs_read(handle, &byte, 1, &pos), -EAGAIN);
	trace_fs_close(handle);
	assert_int_equal(echo_cpu("1", 2, "snapshot"), -ENODEV);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(trace_cpu_prepare(NR_CPUS), -EINVAL);
}

static void comes(void **state)
{
	struct trace_handle *handle;
	char text[1000];
	uint64_t pos = 0;
	int64_t got;
	long out;

	(void)state;
	drops(3);
	out = fake_alloc_out;
	assert_int_equal(trace_cpu_prepare(3), 0);
	assert_int_equal(fake_alloc_out, out + 2); /* a ring, and the reader's copies */
	assert_int_equal(trace_cpu_prepare(3), 0);
	assert_int_equal(fake_alloc_out, out + 2);
	mark(3, "here");
	assert_string_equal(cat_cpu(3, "buffer_size_kb"), "64\n");
	assert_non_null(strstr(cat("trace"), "here"));
	assert_int_equal(stat_of(3, "entries: "), 1);
	assert_int_equal(stat_of(3, "dropped events: "), 1);
	handle = open_cpu(3, "trace_pipe", TRACE_FS_NONBLOCK);
	assert_true((got = trace_fs_read(handle, text, sizeof(text) - 1, &pos)) > 0);
	trace_fs_close(handle);
	text[got] = '\0';
	assert_non_null(strstr(text, "[LOST 1 EVENTS]"));
}

/* In every instance, and in snapshots; also in an instance that is made before the CPU is online. */
static void comes_everywhere(void **state)
{
	long out;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("1", "instances/one/snapshot"), 0);
	assert_int_equal(echo("0", "instances/one/snapshot"), 0);
	out = fake_alloc_out;
	assert_int_equal(trace_cpu_prepare(4), 0);
	assert_int_equal(fake_alloc_out, out + 4 * 2);
	mark(4, "kept");
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_non_null(strstr(cat("snapshot"), "kept"));
	fake_cpus[4].is_offline = false;
	assert_int_equal(echo_cpu("1", 4, "snapshot"), 0); /* that ring alone: both have one size */
	assert_non_null(strstr(cat_cpu(4, "trace"), "kept"));
	assert_int_equal(echo("0", "snapshot"), 0);
	fake_bind(4);
	assert_int_equal(echo("there", "instances/one/trace_marker"), 0);
	fake_bind(0);
	assert_non_null(strstr(cat("instances/one/trace"), "there"));
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_int_equal(trace_cpu_prepare(5), 0);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	fake_bind(5);
	assert_int_equal(echo("there", "instances/two/trace_marker"), 0);
	fake_bind(0);
	assert_non_null(strstr(cat("instances/two/trace"), "there"));
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

/* A setting of the time while it was away. */
static void settings(void **state)
{
	static char line[5000];
	uint64_t now;

	(void)state;
	memset(line, 'x', sizeof(line) - 2);
	assert_int_equal(echo_cpu("100", 6, "buffer_size_kb"), 0);
	assert_string_equal(cat_cpu(6, "buffer_size_kb"), "100\n");
	assert_string_equal(cat("buffer_size_kb"), "X\n");
	assert_int_equal(echo("8", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(echo("counter", "trace_clock"), 0);
	assert_int_equal(echo("fffbf", "tracing_cpumask"), -EOVERFLOW);
	assert_int_equal(echo("fbf", "tracing_cpumask"), 0);
	assert_int_equal(trace_cpu_prepare(6), 0);
	assert_string_equal(cat_cpu(6, "buffer_size_kb"), "104\n");
	fake_bind(6);
	assert_int_equal(echo("masked", "trace_marker"), -EBADF);
	fake_bind(0);
	assert_int_equal(stat_of(6, "dropped events: "), 0);
	assert_int_equal(echo("fff", "tracing_cpumask"), 0);
	mark(6, line);
	assert_int_equal(stat_of(6, "entries: "), 1);
	now = stat_of(6, "now ts: "); /* each look at the stats takes a count of this clock */
	assert_int_equal(stat_of(6, "oldest event ts: "), now - 2);
	assert_int_equal(echo("local", "trace_clock"), 0);
	assert_int_equal(echo("4", "buffer_subbuf_size_kb"), 0);
	assert_int_equal(echo("64", "buffer_size_kb"), 0);
}

/* Whoever reads `trace` meanwhile goes on with what comes. */
static void comes_under_a_reader(void **state)
{
	struct trace_handle *handle = open_cpu(7, "trace", 0);
	uint64_t pos = 0;
	char text[4096];
	int64_t len, got;

	(void)state;
	len = trace_fs_read(handle, text, 20, &pos);
	assert_int_equal(len, 20);
	assert_int_equal(echo_cpu("128", 1, "buffer_size_kb"), 0);
	assert_int_equal(trace_cpu_prepare(7), 0);
	assert_int_equal(echo_cpu("128", 7, "buffer_size_kb"), -EBUSY);
	mark(7, "under the reader");
	while ((got = trace_fs_read(handle, text + len, sizeof(text) - 1 - (size_t)len, &pos)) > 0)
		len += got;
	text[len] = '\0';
	assert_int_equal(got, 0);
	assert_non_null(strstr(text, "under the reader"));
	trace_fs_close(handle);
	assert_int_equal(echo("64", "buffer_size_kb"), 0);
}

/* It comes without memory: its events are counted until there is some. */
static void without_memory(void **state)
{
	long out;

	(void)state;
	assert_int_equal(echo("1", "snapshot"), 0);
	out = fake_alloc_out;
	for (long budget = 0; budget < 4; budget++) { /* the fourth is the snapshot's last */
		fake_alloc_budget = budget;
		assert_int_equal(trace_cpu_prepare(8), -ENOMEM);
		fake_alloc_budget = -1;
		assert_int_equal(fake_alloc_out, out);
		assert_non_null(strstr(fake_log(), "no memory for the buffers of CPU 8"));
	}
	drops(8);
	fake_cpus[8].is_offline = false;
	assert_int_equal(echo_cpu("1", 8, "snapshot"), 0);
	assert_int_equal(echo("16", "buffer_size_kb"), 0);
	assert_int_equal(fake_alloc_out, out + 4);
	mark(8, "late");
	assert_non_null(strstr(cat_cpu(8, "trace"), "late"));
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("64", "buffer_size_kb"), 0);
}

/* Tracers that use all rings: of absent CPUs too they exchange and empty what there is. */
static void tracers(void **state)
{
	(void)state;
	assert_int_equal(echo("wakeup", "current_tracer"), 0);
	drops(9);
	assert_int_equal(trace_cpu_prepare(9), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(9, 1, KFREE);
	call(10, 1, KFREE);
	assert_int_equal(stat_of(9, "entries: "), 1);
	assert_int_equal(stat_of(10, "dropped events: "), 1);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("nooverwrite", "trace_options"), 0);
	assert_int_equal(trace_cpu_prepare(10), 0);
	mark(10, "drop mode");
	assert_int_equal(echo("overwrite", "trace_options"), 0);
	assert_int_equal(stat_of(10, "entries: "), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(comes, empty),
		cmocka_unit_test_setup(absent, empty),
		cmocka_unit_test_setup(comes_everywhere, empty),
		cmocka_unit_test_setup(settings, empty),
		cmocka_unit_test_setup(comes_under_a_reader, empty),
		cmocka_unit_test_setup(without_memory, empty),
		cmocka_unit_test_setup(tracers, empty),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
