/*
 * Counts by key, from many CPUs at once, under TSan: all add the same keys in the same order, so
 * that they race for each new entry. Each key has one entry, and no event is lost uncounted, also
 * when the table is too small.
 *
 * links: trace/hist/hist_map.c
 */
#include "unit.h"
#include <pthread.h>
#include "fake/fake.h"
#include "hist/hist_map.h"

#define NR_CPUS 8u
#define ROUNDS	3u

static struct hist_map map;
static uint64_t nr_keys;
static pthread_barrier_t start;

static void *add_all(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&start);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < nr_keys; i++) {
			const uint64_t key[] = { i, ~i };
			uint64_t hash = hist_hash(hist_hash(0, key[0]), key[1]);
			struct hist_entry *entry = hist_map_find(&map, key, 2, hash);

			if (!entry && !hist_map_drops(&map))
				entry = trace_hist_map_add(&map,
							   &(struct hist_key){ .words = key,
									       .nr_words = 2,
									       .hash = hash,
									       .extra = &i,
									       .nr_extra = 1 });
			if (!entry)
				continue;
			hist_entry_hit(entry);
			hist_entry_sum(entry, 2, 3);
		}
	}
	return NULL;
}

static void race(uint32_t nr_entries, uint64_t keys)
{
	const struct hist_map_shape shape = { nr_entries, 2, 1, 1 };
	pthread_t threads[NR_CPUS];
	uint64_t hits = 0, nr = 0;
	struct hist_entry *entry;
	size_t at = 0;

	fake_reset();
	nr_keys = keys;
	assert_int_equal(trace_hist_map_init(&map, &shape), 0);
	pthread_barrier_init(&start, NULL, NR_CPUS);
	for (uint32_t i = 0; i < NR_CPUS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_all, NULL), 0);
	for (uint32_t i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
	while ((entry = trace_hist_map_next(&map, &at))) {
		uint64_t key[] = { hist_entry_word(entry, 0), hist_entry_word(entry, 1) };
		uint64_t hash = hist_hash(hist_hash(0, key[0]), key[1]);

		assert_int_equal(key[1], ~key[0]);
		assert_int_equal(hist_entry_word(entry, 2), 3 * entry->hits);
		assert_int_equal(hist_entry_word(entry, 3), key[0]);
		/* Were it there twice, the second one would not be found. */
		assert_ptr_equal(hist_map_find(&map, key, 2, hash), entry);
		hits += entry->hits;
		nr++;
	}
	assert_int_equal(hits + map.drops, NR_CPUS * ROUNDS * keys);
	assert_true(nr <= nr_entries);
	if (keys < nr_entries) {
		assert_int_equal(nr, keys);
		assert_int_equal(map.drops, 0);
	}
	trace_hist_map_destroy(&map);
	pthread_barrier_destroy(&start);
}

static void enough_room(void **state)
{
	(void)state;
	race(4096, 3000);
}

static void too_little_room(void **state)
{
	(void)state;
	race(1024, 3000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(enough_room),
		cmocka_unit_test(too_little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
