/*
 * Writers on two CPUs, readers and settings on others, instances that come and go, all at once: the
 * thread sanitiser watches, and at the end every event is accounted for.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include "tracefs.h"

#define NR_EVENTS 60000
#define NR_CPUS	  7u

/*
 * Readers copy sub-buffers while they may be written, and throw the copy away when they were: the
 * races between the payload of an event and that copy are meant.
 */
const char *__tsan_default_suppressions(void); // NOLINT: the sanitiser's name
const char *__tsan_default_suppressions(void)
{
	return "race:copy_words\nrace:^trace_ring\nrace:^ring_buffer_\nrace:^trace_bprintk$\n"
	       "race:^trace_write_text$\n";
}

static _Atomic int writers_left;
static uint64_t nr_instances, nr_walks; /* one thread counts, main looks when it has ended */

static void *write_events(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	fake_bind(cpu);
	fake_cpus[cpu].pid = (int32_t)cpu;
	for (int i = 0; i < NR_EVENTS; i++)
		trace_bprintk(FAKE_TEXT, "%d %s\n", i, "text");
	trace_thread_exited((int32_t)cpu, "writer");
	atomic_fetch_sub(&writers_left, 1);
	return NULL;
}

static void read_all(const char *path, unsigned int flags, uint64_t max)
{
	struct trace_handle *handle;
	static _Thread_local char text[3000];
	uint64_t pos = 0;

	if (trace_fs_open(node_of(path), flags, &handle))
		return;
	while (pos < max && trace_fs_read(handle, text, sizeof(text), &pos) > 0)
		;
	trace_fs_close(handle);
}

static void *consume(void *arg)
{
	fake_bind((uint32_t)(uintptr_t)arg);
	while (atomic_load(&writers_left)) {
		read_all("trace_pipe", TRACE_FS_READ | TRACE_FS_NONBLOCK, 200000);
		read_all("per_cpu/cpu1/trace_pipe_raw", TRACE_FS_READ | TRACE_FS_NONBLOCK, 8192);
	}
	return NULL;
}

static void *look(void *arg)
{
	fake_bind((uint32_t)(uintptr_t)arg);
	while (atomic_load(&writers_left)) {
		read_all("trace", TRACE_FS_READ, 100000);
		read_all("per_cpu/cpu0/stats", TRACE_FS_READ, 1000);
		read_all("saved_cmdlines", TRACE_FS_READ, 1000);
		read_all("trace_options", TRACE_FS_READ, 1000);
		read_all("buffer_size_kb", TRACE_FS_READ, 1000);
	}
	return NULL;
}

static void *change(void *arg)
{
	static const struct {
		const char *text, *path;
	} steps[] = {
		{ "function", "current_tracer" },
		{ "sym-offset", "trace_options" },
		{ "64", "buffer_size_kb" },
		{ "nooverwrite", "trace_options" },
		{ "1 2 3", "set_ftrace_pid" },
		{ "nop", "current_tracer" },
		{ "overwrite", "trace_options" },
		{ "32", "per_cpu/cpu0/buffer_size_kb" },
		{ "latency-format", "trace_options" },
		{ "hello", "trace_marker" },
		{ "5", "saved_cmdlines_size" },
		{ "1", "tracing_cpumask" },
		{ "1f", "tracing_cpumask" },
		{ "nolatency-format", "trace_options" },
		{ "x", "set_ftrace_filter" },
		{ "", "set_ftrace_pid" },
		{ "7", "tracing_thresh" },
		{ "nosym-offset", "trace_options" },
		{ "1", "snapshot" },
		{ "2", "snapshot" },
		{ "1", "per_cpu/cpu4/snapshot" },
		{ "0", "snapshot" },
		{ "0", "tracing_on" },
		{ "1", "tracing_on" },
	};

	fake_bind((uint32_t)(uintptr_t)arg);
	for (size_t i = 0; atomic_load(&writers_left); i++)
		echo(steps[i % 24].text, steps[i % 24].path);
	return NULL;
}

/* Instances with everything in them; every removal that is refused is tried again. */
static void *make_instances(void *arg)
{
	struct trace_node *dir;
	struct trace_array *tr;

	fake_bind((uint32_t)(uintptr_t)arg);
	dir = trace_fs_lookup(trace_fs_root(), "instances", 9);
	while (atomic_load(&writers_left) || nr_instances < 3) {
		tr = trace_array_get_by_name("one");
		assert_non_null(tr);
		echo("function", "instances/one/current_tracer");
		echo("1 2", "instances/one/set_ftrace_pid");
		trace_array_printk(tr, "%d\n", 1);
		echo("1", "instances/one/options/trace_printk_dest");
		echo("1", "instances/one/options/copy_trace_marker");
		echo("1", "instances/one/snapshot");
		trace_array_put(tr);
		while (trace_fs_rmdir(dir, "one") == -EBUSY)
			;
		nr_instances++;
	}
	trace_fs_put(dir);
	return NULL;
}

/* Statistics of a CPU, whose directory others let go of meanwhile. */
static void walk_cpu(struct trace_node *dir)
{
	struct trace_node *per_cpu = trace_fs_lookup(dir, "per_cpu", 7), *cpu, *file = NULL;
	struct trace_handle *handle;
	char text[100];
	uint64_t pos = 0;

	cpu = per_cpu ? trace_fs_lookup(per_cpu, "cpu1", 4) : NULL;
	if (cpu) {
		trace_fs_entry(cpu, 1, text, sizeof(text));
		file = trace_fs_lookup(cpu, "stats", 5);
		trace_fs_put(cpu);
	}
	if (per_cpu)
		trace_fs_put(per_cpu);
	if (!file)
		return;
	if (!trace_fs_open(file, TRACE_FS_READ, &handle)) {
		trace_fs_put(file);
		if (trace_fs_read(handle, text, 9, &pos) != 9 || memcmp(text, "entries: ", 9) != 0)
			abort();
		trace_fs_close(handle);
		return;
	}
	trace_fs_put(file);
}

/* Walks into them, holding what it stands on. */
static void *walk_instances(void *arg)
{
	struct trace_node *dir, *one, *file;
	struct trace_handle *handle;
	char text[500];

	fake_bind((uint32_t)(uintptr_t)arg);
	dir = trace_fs_lookup(trace_fs_root(), "instances", 9);
	while (atomic_load(&writers_left)) {
		uint64_t pos = 0;

		one = trace_fs_lookup(dir, "one", 3);
		if (!one)
			continue;
		trace_fs_entry(one, 3, text, sizeof(text));
		walk_cpu(one);
		file = trace_fs_lookup(one, "trace", 5);
		trace_fs_put(one);
		if (!file)
			continue;
		if (!trace_fs_open(file, TRACE_FS_READ, &handle)) {
			while (trace_fs_read(handle, text, sizeof(text), &pos) > 0)
				nr_walks++;
			trace_fs_close(handle);
		}
		trace_fs_put(file);
	}
	trace_fs_put(dir);
	return NULL;
}

static int setup(void **state)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	fake_clock_step = 100;
	fake_text_build(names, NR_FUNCS);
	for (int32_t pid = 0; pid < 5; pid++)
		fake_thread_add(pid, "worker");
	ftrace_init();
	trace_boot_param("trace_buf_size", "32k"); /* instances are made often */
	return trace_init();
}

static void all_at_once(void **state)
{
	void *(*const jobs[NR_CPUS])(void *) = { write_events, write_events,   consume,	      look,
						 change,       make_instances, walk_instances };
	pthread_t threads[NR_CPUS];

	(void)state;
	writers_left = 2;
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, jobs[i], (void *)i), 0);
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
	fake_bind(0);
	print_message("%lu instances, %lu looks into one\n", nr_instances, nr_walks);
	assert_true(nr_walks > 0);
	assert_int_equal(fake_nr_bugs, 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("after", "trace_marker"), 0);
	assert_non_null(strstr(cat("trace"), ": after\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_at_once) };

	return cmocka_run_group_tests(tests, setup, NULL);
}
