/*
 * Probes that come and go while other CPUs call them, under TSan: no CPU is inside of a probe after
 * tracepoint_synchronize_unregister(), what it was given can be freed, and one that stays is called
 * each time.
 *
 * links: trace/ops/tracepoint.c
 */
#include "unit.h"
#include <pthread.h>
#include <stdlib.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "fake/fake.h"

#define NR_CALLERS 2u
#define ROUNDS	   unit_rounds(100)

DECLARE_TRACE(step, TP_PROTO(uint64_t *nr_calls), TP_ARGS(nr_calls));
DEFINE_TRACE(step, TP_PROTO(uint64_t *nr_calls), TP_ARGS(nr_calls));

struct guest {
	uint64_t nr_calls[NR_CALLERS];
};

static _Atomic bool stop;
static _Atomic uint64_t nr_done; /* calls of trace_step() by CPU 0 */
static uint64_t nr_stayed[NR_CALLERS], nr_made[NR_CALLERS];

static void stays(void *data, uint64_t *nr_calls)
{
	(void)data;
	++*nr_calls;
}

/* The memory that it writes is freed when it has gone. */
static void visits(void *data, uint64_t *nr_calls)
{
	struct guest *guest = data;

	(void)nr_calls;
	guest->nr_calls[trace_plat_cpu_id()]++;
}

static void *call(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	fake_bind(cpu);
	while (!atomic_load(&stop)) {
		trace_step(&nr_stayed[cpu]);
		nr_made[cpu]++;
		if (cpu == 0)
			atomic_fetch_add(&nr_done, 1);
	}
	return NULL;
}

static uint64_t one_guest(int prio)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	uint64_t before = atomic_load(&nr_done), nr_calls = 0;

	assert_int_equal(register_trace_prio_step(visits, guest, prio), 0);
	while (atomic_load(&nr_done) < before + 3)
		;
	assert_int_equal(unregister_trace_step(visits, guest), 0);
	tracepoint_synchronize_unregister();
	for (uint32_t cpu = 0; cpu < NR_CALLERS; cpu++)
		nr_calls += guest->nr_calls[cpu];
	free(guest);
	return nr_calls;
}

static void coming_and_going(void **state)
{
	pthread_t threads[NR_CALLERS];
	uint64_t nr_visits = 0;

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CALLERS + 1);
	fake_bind(NR_CALLERS);
	assert_int_equal(register_trace_step(stays, NULL), 0);
	for (uint32_t cpu = 0; cpu < NR_CALLERS; cpu++)
		assert_int_equal(pthread_create(&threads[cpu], NULL, call, (void *)(uintptr_t)cpu),
				 0);
	for (int i = 0; i < ROUNDS; i++)
		nr_visits += one_guest(i % 3 * TRACEPOINT_DEFAULT_PRIO);
	atomic_store(&stop, true);
	for (uint32_t cpu = 0; cpu < NR_CALLERS; cpu++) {
		pthread_join(threads[cpu], NULL);
		assert_int_equal(nr_stayed[cpu], nr_made[cpu]);
	}
	assert_true(nr_visits >= (uint64_t)ROUNDS);
	assert_int_equal(unregister_trace_step(stays, NULL), 0);
	assert_int_equal(fake_alloc_out, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(coming_and_going),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
