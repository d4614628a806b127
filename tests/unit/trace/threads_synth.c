/*
 * Synthetic events written on four CPUs while they are switched, filtered, counted, defined and
 * removed on another: the thread sanitiser watches, counts are exact.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include "tracefs.h"
#include "events/synth_event.h"
#include "instance/array.h"

#define NR_WRITERS 4u
#define NR_ROUNDS  60
#define NR_WRITES  1500
#define X	   "events/synthetic/x/"

/* The ring is written and copied at once on purpose, see threads_tracefs.c. */
const char *__tsan_default_suppressions(void); // NOLINT: the sanitiser's name
const char *__tsan_default_suppressions(void)
{
	return "race:copy_words\nrace:^trace_ring\nrace:^ring_buffer_\nrace:^record\n"
	       "race:^trace_event_record$\nrace:^write_event$\n";
}

static _Atomic bool is_over;
static _Atomic uint32_t nr_writing;

static struct synth_event *get(const char *name)
{
	struct synth_event *event;

	trace_plat_lock(&trace_config_lock);
	event = synth_event_get(name);
	trace_plat_unlock(&trace_config_lock);
	return event;
}

static void let_go(struct synth_event *event)
{
	trace_plat_lock(&trace_config_lock);
	synth_event_put(event);
	trace_plat_unlock(&trace_config_lock);
}

static void write_one(struct synth_event *event, uint32_t cpu)
{
	const uint64_t values[] = { cpu, (uintptr_t) "a text" };

	trace_plat_preempt_disable();
	synth_event_write(event, values);
	trace_plat_preempt_enable();
}

static void *write_often(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	struct synth_event *event;

	fake_bind(cpu);
	event = get("x");
	for (int i = 0; i < NR_WRITES; i++)
		write_one(event, cpu);
	let_go(event);
	nr_writing--;
	return NULL;
}

/* The event that there is at the moment, whatever fields it has. */
static void *write_what_there_is(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	fake_bind(cpu);
	while (!atomic_load(&is_over)) {
		struct synth_event *event = get("x");

		for (int i = 0; event && i < 5; i++)
			write_one(event, cpu);
		if (event)
			let_go(event);
		sched_yield();
	}
	return NULL;
}

static void start(pthread_t *threads, void *(*body)(void *arg))
{
	nr_writing = NR_WRITERS;
	for (uintptr_t cpu = 0; cpu < NR_WRITERS; cpu++)
		assert_int_equal(pthread_create(&threads[cpu], NULL, body, (void *)cpu), 0);
}

static void join(pthread_t *threads)
{
	for (uint32_t cpu = 0; cpu < NR_WRITERS; cpu++)
		assert_int_equal(pthread_join(threads[cpu], NULL), 0);
}

static int setup(void **state)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_WRITERS + 1);
	fake_clock_step = 100;
	fake_text_build(names, NR_FUNCS);
	ftrace_init();
	trace_boot_param("trace_buf_size", "32k");
	return trace_init();
}

/* A histogram of it has each one, whatever happens to the recording. */
static void counted(void **state)
{
	struct synth_event *event;
	pthread_t threads[NR_WRITERS];
	char want[40];

	(void)state;
	fake_bind(NR_WRITERS);
	assert_int_equal(echo("x u64 cpu; char[] text", "synthetic_events"), 0);
	assert_int_equal(echo("hist:keys=cpu,text", X "trigger"), 0);
	event = get("x");
	start(threads, write_often);
	while (atomic_load(&nr_writing)) {
		assert_int_equal(echo("1", X "enable"), 0);
		assert_int_equal(echo("cpu == 1 && text == \"a text\"", X "filter"), 0);
		assert_int_equal(echo_append("!x", "synthetic_events"), -EBUSY);
		assert_int_equal(echo("0", X "filter"), 0);
		assert_int_equal(echo("0", X "enable"), 0);
		(void)cat(X "hist");
	}
	join(threads);
	let_go(event);
	snprintf(want, sizeof(want), "    Hits: %u\n    Entries: %u\n", NR_WRITERS * NR_WRITES,
		 NR_WRITERS);
	assert_non_null(strstr(cat(X "hist"), want));
	assert_int_equal(put("", 0, X "trigger", TRACE_FS_TRUNC), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

/* An event goes only when nobody writes it, and none of another type is written then. */
static void defined_and_removed(void **state)
{
	static const char *const lines[] = { "x int a; char[] b", "x u64 b; char c[16]" };
	pthread_t threads[NR_WRITERS];
	int err;

	(void)state;
	fake_bind(NR_WRITERS);
	atomic_store(&is_over, false);
	start(threads, write_what_there_is);
	for (int i = 0; i < NR_ROUNDS; i++) {
		assert_int_equal(echo_append(lines[i % 2], "synthetic_events"), 0);
		assert_int_equal(echo_append("synthetic:x", "set_event"), 0);
		(void)cat("trace");
		assert_int_equal(echo_append("!synthetic:x", "set_event"), 0);
		while ((err = put("", 0, "dynamic_events", TRACE_FS_TRUNC)) == -EBUSY)
			sched_yield();
		assert_int_equal(err, 0);
	}
	atomic_store(&is_over, true);
	join(threads);
	assert_string_equal(cat("synthetic_events"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(defined_and_removed),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
