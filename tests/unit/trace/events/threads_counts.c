/*
 * Counts of triggers while eight CPUs count them down together: each is used up exactly, and what
 * it lets be done is done as often.
 */
#include "unit.h"
#include "threads_help.h"
#include "host/yard.h"

#define NR_CPUS	 8u
#define NR_HITS	 10000
#define NR_FIRST unit_rounds(1000) /* where only the first of them is acted on */
#define FULL	 "events/yard/yard_full/"
#define WATCH	 "events/yard/yard_watch/"

static pthread_barrier_t all;

static int nr_hits; /* of each CPU */

static void *hit_often(void *arg)
{
	(void)cpu_begin(arg);
	pthread_barrier_wait(&all);
	for (int i = 0; i < nr_hits; i++)
		trace_yard_full(2, 1);
	return NULL;
}

static void hit_on_all(int nr)
{
	nr_hits = nr;
	pthread_barrier_init(&all, NULL, NR_CPUS);
	cpus_start(NR_CPUS, hit_often);
	cpus_join(NR_CPUS);
}

static int setup(void **state)
{
	(void)state;
	return cpus_setup(NR_CPUS, NULL);
}

/* The event is off: what is recorded are stacks. */
static uint64_t nr_recorded(void)
{
	char name[32];
	uint64_t nr = 0;

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		nr += strtoull(strstr(cat(name), "entries: ") + 9, NULL, 10);
		nr += strtoull(strstr(cat(name), "overrun: ") + 9, NULL, 10);
	}
	return nr;
}

/* As many stacks as the count says: half of all events. */
static void stacks(void **state)
{
	(void)state;
	fake_bind(NR_CPUS);
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	assert_int_equal(echo("stacktrace:40000", FULL "trigger"), 0);
	hit_on_all(NR_HITS);
	assert_int_equal(nr_recorded(), 40000);
	assert_string_equal(cat(FULL "trigger"), "stacktrace:count=0\n");
	assert_int_equal(echo("!stacktrace", FULL "trigger"), 0);
	assert_int_equal(echo("", "trace"), 0);
}

/* A switch that is set already takes none: of all CPUs one has switched, and one is taken. */
static void switched_once(void **state)
{
	(void)state;
	fake_bind(NR_CPUS);
	assert_int_equal(echo("enable_event:yard:yard_watch:50", FULL "trigger"), 0);
	for (int left = 49; left >= 40; left--) {
		char want[80];

		hit_on_all(NR_FIRST);
		assert_string_equal(cat(WATCH "enable"), "1*\n");
		snprintf(want, sizeof(want), "enable_event:yard:yard_watch:count=%d\n", left);
		assert_string_equal(cat(FULL "trigger"), want);
		assert_int_equal(echo("0", WATCH "enable"), 0);
	}
	assert_int_equal(echo("!enable_event:yard:yard_watch", FULL "trigger"), 0);
	assert_int_equal(echo("traceoff:7", FULL "trigger"), 0);
	for (int left = 6; left >= 0; left--) {
		char want[40];

		hit_on_all(NR_FIRST);
		assert_string_equal(cat("tracing_on"), "0\n");
		snprintf(want, sizeof(want), "traceoff:count=%d\n", left);
		assert_string_equal(cat(FULL "trigger"), want);
		assert_int_equal(echo("1", "tracing_on"), 0);
	}
	hit_on_all(NR_FIRST);
	assert_string_equal(cat("tracing_on"), "1\n");
	assert_int_equal(echo("!traceoff", FULL "trigger"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks),
		cmocka_unit_test(switched_once),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
