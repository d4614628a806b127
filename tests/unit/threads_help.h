/*
 * Tests in which each CPU is a thread, under the thread sanitiser; the last CPU is that of the test
 * itself. To be included by one test file, after tracefs.h.
 */
#ifndef THREADS_HELP_H
#define THREADS_HELP_H

#include <pthread.h>
#include "tracefs.h"

#define CPUS_MAX 16u

/* The ring is written and copied at once on purpose, see threads_tracefs.c. */
const char *__tsan_default_suppressions(void); // NOLINT: the sanitiser's name
const char *__tsan_default_suppressions(void)
{
	return "race:copy_words\nrace:^trace_ring\nrace:^ring_buffer_\nrace:^record\n"
	       "race:^trace_event_record$\nrace:^write_event$\n";
}

/* The CPU whose thread has `arg` becomes the one that runs. Returns its number. */
HELPER uint32_t cpu_begin(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	fake_bind(cpu);
	fake_cpus[cpu].pid = (int32_t)cpu;
	return cpu;
}

static pthread_t cpus[CPUS_MAX];

/* The first `nr` CPUs run `body`, which gets the number of its CPU. */
HELPER void cpus_start(uint32_t nr, void *(*body)(void *arg))
{
	for (uintptr_t cpu = 0; cpu < nr; cpu++)
		assert_int_equal(pthread_create(&cpus[cpu], NULL, body, (void *)cpu), 0);
}

HELPER void cpus_join(uint32_t nr)
{
	for (uint32_t cpu = 0; cpu < nr; cpu++)
		assert_int_equal(pthread_join(cpus[cpu], NULL), 0);
}

/* tracefs with `nr` CPUs and that of the test; `buffer_size` as at boot, or NULL. */
HELPER int cpus_setup(uint32_t nr, const char *buffer_size)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	fake_reset();
	fake_set_nr_cpus(nr + 1);
	fake_clock_step = 100;
	fake_text_build(names, NR_FUNCS);
	for (int32_t pid = 0; pid < (int32_t)nr; pid++)
		fake_thread_add(pid, "writer");
	ftrace_init();
	if (buffer_size)
		trace_boot_param("trace_buf_size", buffer_size);
	return trace_init();
}

#endif
