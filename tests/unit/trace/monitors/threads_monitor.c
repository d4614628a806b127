/*
 * Monitors on four CPUs, some of their events in NMIs: the thread sanitiser watches, each occurrence
 * makes one step, and each violation is told of once, while another CPU reads and switches.
 */
#include "unit.h"
#include <stdatomic.h>
#include "threads_help.h"
#include "monitor_help.h"
#include "monitors/monitor.h"
#include "host/yard.h"

#define NR_WRITERS 4u
#define NR_HITS	   (uint32_t) unit_rounds(8000)
#define NR_ALL	   (NR_WRITERS * NR_HITS)
#define NMI	   (TRACE_NMI_MASK & -TRACE_NMI_MASK)
#define ONE	   "rv/monitors/one/"
/* Of four occurrences the first begins, two are steps, the last is a violation. */
#define LINE "-yard_full-> a -yard_full-> b -yard_full-> c"

static _Atomic uint32_t nr_over;

/* Every third occurrence is that of an NMI which comes in the middle of the others. */
static void *hit(void *arg)
{
	uint32_t cpu = cpu_begin(arg);

	for (uint32_t i = 0; i < NR_HITS; i++) {
		uint32_t before = fake_this->preempt_count;

		if (i % 3 == 0)
			fake_this->preempt_count += NMI;
		trace_yard_full((int)cpu, 0);
		fake_this->preempt_count = before;
	}
	atomic_fetch_add(&nr_over, 1);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	return cpus_setup(NR_WRITERS, "32k");
}

static unsigned long hist_of(const char *path)
{
	const char *at = strstr(cat(path), "Hits: ");

	assert_non_null(at);
	return strtoul(at + 6, NULL, 10);
}

static void run(void)
{
	nr_over = 0;
	cpus_start(NR_WRITERS, hit);
	while (nr_over < NR_WRITERS) {
		(void)cat(ONE "hits");
		(void)cat(ONE "state");
		assert_int_equal(echo("traceoff", ONE "reactors"), 0);
		assert_int_equal(echo("nop", ONE "reactors"), 0);
	}
	cpus_join(NR_WRITERS);
}

static void all_counted(const char *monitor)
{
	assert_int_equal(monitor_hits(monitor, "begun"), NR_ALL / 4);
	assert_int_equal(monitor_hits(monitor, "steps"), NR_ALL / 2);
	assert_int_equal(monitor_hits(monitor, "violations"), NR_ALL / 4);
	assert_int_equal(monitor_hits(monitor, "before that"), 0);
}

static void begin(void)
{
	fake_bind(NR_WRITERS);
	assert_int_equal(echo("hist:keys=event", "events/rv/event_one/trigger"), 0);
	assert_int_equal(echo("hist:keys=event", "events/rv/error_one/trigger"), 0);
}

static void told_once(void)
{
	assert_int_equal(hist_of("events/rv/event_one/hist"), NR_ALL / 2);
	assert_int_equal(hist_of("events/rv/error_one/hist"), NR_ALL / 4);
	assert_int_equal(echo("!hist:keys=event", "events/rv/event_one/trigger"), 0);
	assert_int_equal(echo("!hist:keys=event", "events/rv/error_one/trigger"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("", "monitors"), 0);
}

/* All CPUs step through one state. */
static void one_state(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " LINE);
	begin();
	run();
	all_counted("one");
	told_once();
}

/* The same with clocks that all of them reset and ask: none has run for a second. */
static void clocks(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 -yard_full(x < 1s, reset(x), reset(y))-> a "
		     "-yard_full(x < 1s, reset(x), reset(y))-> b "
		     "-yard_full(x < 1s, reset(x), reset(y))-> c");
	begin();
	run();
	all_counted("one");
	assert_int_equal((trace_monitor_find("one", 3)->place[0] & UINT32_MAX) >> 8 & 0x3ffff, 0);
	told_once();
}

/* Each has its own: as many of each kind. A second monitor sees the same. */
static void state_of_each(void **state)
{
	(void)state;
	monitor_make("m:one per=cpu enable=1 " LINE);
	monitor_make("m:two per=used enable=1 " LINE);
	begin();
	run();
	all_counted("one");
	all_counted("two");
	told_once();
}

/* While they occur monitors come and go; in the end each is where its events have left it. */
static void come_and_go(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " LINE);
	begin();
	nr_over = 0;
	cpus_start(NR_WRITERS, hit);
	while (nr_over < NR_WRITERS) {
		monitor_make("m:two per=used size=2 enable=1 " LINE);
		monitor_make("m:three per=thread enable=1 " LINE);
		monitor_make("-:two");
		monitor_make("!three");
	}
	cpus_join(NR_WRITERS);
	all_counted("one");
	told_once();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_state),
		cmocka_unit_test(clocks),
		cmocka_unit_test(state_of_each),
		cmocka_unit_test(come_and_go),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
