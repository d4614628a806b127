/*
 * Synthetic events written on four CPUs while they are switched, filtered, counted, defined and
 * removed on another: the thread sanitiser watches, counts are exact.
 */
#include "unit.h"
#include <stdatomic.h>
#include "threads_help.h"
#include "events/synth_event.h"
#include "instance/array.h"

#define NR_WRITERS 4u
#define NR_ROUNDS  unit_rounds(30)
#define NR_WRITES  1500
#define X	   "events/synthetic/x/"

static _Atomic bool is_over;
static _Atomic uint32_t nr_writing;

static struct synth_event *get(const char *name)
{
	struct synth_event *event;

	trace_plat_lock(&trace_config_lock);
	event = trace_synth_event_get(name);
	trace_plat_unlock(&trace_config_lock);
	return event;
}

static void let_go(struct synth_event *event)
{
	trace_plat_lock(&trace_config_lock);
	trace_synth_event_put(event);
	trace_plat_unlock(&trace_config_lock);
}

static void write_one(struct synth_event *event, uint32_t cpu)
{
	const uint64_t values[] = { cpu, (uintptr_t) "a text" };

	trace_plat_preempt_disable();
	trace_synth_event_write(event, values);
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

static int setup(void **state)
{
	(void)state;
	return cpus_setup(NR_WRITERS, "32k");
}

/* A histogram of it has each one, whatever happens to the recording. */
static void counted(void **state)
{
	struct synth_event *event;
	char want[40];

	(void)state;
	fake_bind(NR_WRITERS);
	assert_int_equal(echo("x u64 cpu; char[] text", "synthetic_events"), 0);
	assert_int_equal(echo("hist:keys=cpu,text", X "trigger"), 0);
	event = get("x");
	nr_writing = NR_WRITERS;
	cpus_start(NR_WRITERS, write_often);
	while (atomic_load(&nr_writing)) {
		assert_int_equal(echo("1", X "enable"), 0);
		assert_int_equal(echo("cpu == 1 && text == \"a text\"", X "filter"), 0);
		assert_int_equal(echo_append("!x", "synthetic_events"), -EBUSY);
		assert_int_equal(echo("0", X "filter"), 0);
		assert_int_equal(echo("0", X "enable"), 0);
		(void)cat(X "hist");
	}
	cpus_join(NR_WRITERS);
	let_go(event);
	snprintf(want, sizeof(want), "    Hits: %u\n    Entries: %u\n", NR_WRITERS * NR_WRITES,
		 NR_WRITERS);
	assert_non_null(strstr(cat(X "hist"), want));
	assert_int_equal(put("", 0, X "trigger", TRACE_FS_TRUNC), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

/* An event goes only when no thread writes it, and none of another type is written then. */
static void defined_and_removed(void **state)
{
	static const char *const lines[] = { "x int a; char[] b", "x u64 b; char c[16]" };
	int err;

	(void)state;
	fake_bind(NR_WRITERS);
	atomic_store(&is_over, false);
	cpus_start(NR_WRITERS, write_what_there_is);
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
	cpus_join(NR_WRITERS);
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
