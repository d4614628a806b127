/*
 * Writers on two CPUs, readers and settings on others, all at once: the thread sanitiser watches,
 * and at the end every event is accounted for.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include "tracefs.h"

#define NR_EVENTS 60000
#define NR_CPUS	  5u

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
	};

	fake_bind((uint32_t)(uintptr_t)arg);
	for (size_t i = 0; atomic_load(&writers_left); i++)
		echo(steps[i % 18].text, steps[i % 18].path);
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
	return trace_init();
}

static void all_at_once(void **state)
{
	void *(*const jobs[NR_CPUS])(void *) = { write_events, write_events, consume, look,
						 change };
	pthread_t threads[NR_CPUS];

	(void)state;
	writers_left = 2;
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, jobs[i], (void *)i), 0);
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
	fake_bind(0);
	assert_int_equal(fake_nr_bugs, 0);
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
