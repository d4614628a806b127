/*
 * The values that entries of a histogram keep, replaced from many CPUs at once, under TSan, and read
 * meanwhile: in the end each keeps the greatest one, and each that is read comes from one event.
 *
 * links: trace/hist/hist_record.c
 */
#include "unit.h"
#include <pthread.h>
#include <string.h>
#include "fake/fake.h"
#include "hist/hist_record.h"

#define NR_CPUS	  8u
#define NR_PLACES 3u
#define WORDS	  5u
#define ROUNDS	  4000u

static struct hist_records *records;
static _Atomic uint64_t places[NR_PLACES];
static _Atomic uint32_t nr_running;
static uint64_t nr_replaced[NR_CPUS];
static pthread_barrier_t start;

static bool is_greater(uint64_t kept, uint64_t value)
{
	return value > kept;
}

static bool is_different(uint64_t kept, uint64_t value)
{
	return value != kept;
}

static bool (*replaces)(uint64_t kept, uint64_t value);

static void fill(void *context, _Atomic uint64_t *record)
{
	for (uint32_t i = 1; i < WORDS; i++)
		hist_record_set(record, i, *(uint64_t *)context * i);
}

static uint64_t value_of(uint32_t cpu, uint32_t round)
{
	return (uint64_t)round * NR_CPUS + cpu + 1;
}

/* Places get values in turn; those of a CPU grow. */
static void *replace_all(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	pthread_barrier_wait(&start);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t value = value_of(cpu, round);
		const struct hist_record_wish wish = { value, replaces, fill, &value };

		for (uint32_t i = 0; i < NR_PLACES; i++)
			nr_replaced[cpu] += trace_hist_record_replace(records, &places[i], &wish);
	}
	atomic_fetch_sub(&nr_running, 1);
	return NULL;
}

static uint64_t read_place(uint32_t i)
{
	uint64_t words[WORDS];

	trace_hist_record_read(records, &places[i], words);
	for (uint32_t at = 1; at < WORDS; at++)
		assert_int_equal(words[at], words[0] * at);
	return words[0];
}

static uint64_t race(void)
{
	pthread_t threads[NR_CPUS];
	uint64_t seen[NR_PLACES] = { 0 }, nr = 0;

	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	records = trace_hist_records_create(NR_PLACES, WORDS);
	assert_non_null(records);
	memset(places, 0, sizeof(places));
	memset(nr_replaced, 0, sizeof(nr_replaced));
	nr_running = NR_CPUS;
	pthread_barrier_init(&start, NULL, NR_CPUS);
	for (uint32_t i = 0; i < NR_CPUS; i++)
		pthread_create(&threads[i], NULL, replace_all, (void *)(uintptr_t)i);
	while (nr_running) {
		for (uint32_t i = 0; i < NR_PLACES; i++) {
			uint64_t value = read_place(i);

			if (replaces == is_greater)
				assert_true(value >= seen[i]);
			seen[i] = value;
		}
	}
	for (uint32_t i = 0; i < NR_CPUS; i++) {
		pthread_join(threads[i], NULL);
		nr += nr_replaced[i];
	}
	assert_true(records->nr_taken <= records->nr);
	pthread_barrier_destroy(&start);
	return nr;
}

static void greatest(void **state)
{
	(void)state;
	replaces = is_greater;
	assert_true(race() <= NR_PLACES * NR_CPUS * ROUNDS);
	for (uint32_t i = 0; i < NR_PLACES; i++)
		assert_int_equal(read_place(i), value_of(NR_CPUS - 1, ROUNDS - 1));
	trace_hist_records_destroy(records);
}

/* All values are different, so each event replaces. */
static void last(void **state)
{
	(void)state;
	replaces = is_different;
	assert_int_equal(race(), NR_PLACES * NR_CPUS * ROUNDS);
	for (uint32_t i = 0; i < NR_PLACES; i++)
		assert_true(read_place(i) > (uint64_t)(ROUNDS - 1) * NR_CPUS);
	trace_hist_records_destroy(records);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(greatest),
		cmocka_unit_test(last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
