/*
 * Counts by key: against a list that is searched, full tables, keys of several words and of
 * different lengths, clearing, no memory.
 *
 * links: trace/hist/hist_map.c
 */
#include "unit.h"
#include <string.h>
#include "fake/fake.h"
#include "hist/hist_map.h"

static uint64_t hash_of(const uint64_t *key, uint32_t nr)
{
	uint64_t hash = 0;

	while (nr--)
		hash = hist_hash(hash, *key++);
	return hash;
}

static struct hist_entry *add(struct hist_map *map, const uint64_t *key, uint32_t nr)
{
	const struct hist_key wanted = { .words = key, .nr_words = nr, .hash = hash_of(key, nr) };
	struct hist_entry *entry = hist_map_find(map, key, nr, wanted.hash);

	if (!entry)
		entry = trace_hist_map_add(map, &wanted);
	if (entry)
		hist_entry_hit(entry);
	return entry;
}

static struct hist_entry *add_one(struct hist_map *map, uint64_t key)
{
	return add(map, &key, 1);
}

static uint64_t hits_in(const struct hist_map *map, size_t *out_nr)
{
	const struct hist_entry *entry;
	uint64_t hits = 0;
	size_t at = 0;

	*out_nr = 0;
	while ((entry = trace_hist_map_next(map, &at))) {
		hits += entry->hits;
		++*out_nr;
	}
	return hits;
}

static struct hist_map map;

static void make(uint32_t nr_entries, uint32_t key_words, uint32_t sum_words, uint32_t extra_words)
{
	const struct hist_map_shape shape = { nr_entries, key_words, sum_words, extra_words };

	assert_int_equal(trace_hist_map_init(&map, &shape), 0);
}

static int reset(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static int destroy(void **state)
{
	(void)state;
	trace_hist_map_destroy(&map);
	trace_hist_map_destroy(&map);
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

static void small_entries(void **state)
{
	struct hist_map_shape shape = { 128, 1, 0, 0 };

	(void)state;
	assert_int_equal(trace_hist_map_entry_bytes(&shape), 16);
	shape.sum_words = 2;
	assert_int_equal(trace_hist_map_entry_bytes(&shape), 32);
	shape.extra_words = 4;
	assert_int_equal(trace_hist_map_entry_bytes(&shape), 64);
	shape.extra_words = 5;
	assert_int_equal(trace_hist_map_entry_bytes(&shape), 72);
}

static void wrong_shapes(void **state)
{
	const struct hist_map_shape shapes[] = {
		{ 0, 1, 0, 0 }, { 128, 0, 0, 0 }, { 0xffffffff, 1, 0, 0 }, { 128, 0xffff, 0, 0 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		assert_int_equal(trace_hist_map_init(&map, &shapes[i]), -EINVAL);
	assert_int_equal(fake_alloc_out, 0);
}

static void no_memory(void **state)
{
	const struct hist_map_shape shape = { 128, 1, 0, 0 };

	(void)state;
	for (long budget = 0; budget < 2; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(trace_hist_map_init(&map, &shape), -ENOMEM);
		assert_int_equal(fake_alloc_out, 0);
	}
	fake_alloc_budget = -1;
}

/* Keys that are near each other, far apart, and alike but for one bit. */
static uint64_t key_of(uint32_t i)
{
	switch (i % 3) {
	case 0:
		return i;
	case 1:
		return (uint64_t)i << 40;
	default:
		return (uint64_t)1 << i % 64;
	}
}

static void each_key_once(void **state)
{
	static uint64_t keys[3000], counts[3000];
	size_t nr_keys = 0, nr;

	(void)state;
	make(4096, 1, 1, 0);
	for (uint32_t i = 0; i < 10000; i++) {
		uint64_t key = key_of(i % 3000);
		struct hist_entry *entry = add_one(&map, key);
		size_t at = 0;

		assert_non_null(entry);
		hist_entry_sum(entry, 1, i);
		while (at < nr_keys && keys[at] != key)
			at++;
		nr_keys += at == nr_keys;
		keys[at] = key;
		counts[at]++;
	}
	assert_int_equal(hits_in(&map, &nr), 10000);
	assert_int_equal(nr, nr_keys);
	for (size_t i = 0; i < nr_keys; i++) {
		struct hist_entry *entry = hist_map_find(&map, &keys[i], 1, hash_of(&keys[i], 1));

		assert_non_null(entry);
		assert_int_equal(entry->hits, counts[i]);
	}
	assert_int_equal(map.drops, 0);
}

static void keys_of_several_words(void **state)
{
	size_t nr;

	(void)state;
	make(1024, 3, 0, 0);
	for (uint64_t a = 0; a < 8; a++) {
		for (uint64_t b = 0; b < 8; b++) {
			for (uint64_t c = 0; c < 8; c++) {
				const uint64_t key[] = { a, b, c };

				assert_non_null(add(&map, key, 3));
				assert_non_null(add(&map, key, 3));
			}
		}
	}
	assert_int_equal(hits_in(&map, &nr), 1024);
	assert_int_equal(nr, 512);
}

/* Texts: words with a zero byte in the last one. */
static void keys_of_different_lengths(void **state)
{
	static const char *const texts[] = { "", "a", "longer than", "longer than a word",
					     "longer" };
	uint64_t key[3];
	size_t nr;

	(void)state;
	make(128, 3, 0, 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			memset(key, 0, sizeof(key));
			strcpy((char *)key, texts[i]);
			assert_non_null(add(&map, key, (uint32_t)strlen(texts[i]) / 8 + 1));
		}
	}
	assert_int_equal(hits_in(&map, &nr), 10);
	assert_int_equal(nr, 5);
}

static void full(void **state)
{
	size_t nr;

	(void)state;
	make(128, 1, 0, 0);
	for (uint64_t key = 0; key < 200; key++)
		assert_int_equal(add_one(&map, key) != NULL, key < 128);
	for (uint64_t key = 0; key < 200; key++)
		assert_int_equal(add_one(&map, key) != NULL, key < 128);
	assert_int_equal(hits_in(&map, &nr), 256);
	assert_int_equal(nr, 128);
	assert_int_equal(map.drops, 144);
	trace_hist_map_clear(&map);
	assert_int_equal(hits_in(&map, &nr), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(map.drops, 0);
	for (uint64_t key = 1000; key < 1200; key++)
		assert_int_equal(add_one(&map, key) != NULL, key < 1128);
	assert_int_equal(hits_in(&map, &nr), 128);
	assert_int_equal(map.drops, 72);
}

/* The first ones have a line each, as many as there are lines; all of them fit in the memory. */
static void entries_in_different_lines(void **state)
{
	static const uint32_t sums[] = { 0, 1, 3, 6, 8 };
	uintptr_t lines[256];
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		make(256, 1, sums[i], 0);
		nr = map.stride < 64 ? 256 * map.stride / 64 : 256;
		for (size_t key = 0; key < 256; key++) {
			const struct hist_entry *entry = add_one(&map, key);

			assert_in_range((uintptr_t)entry, (uintptr_t)map.memory + map.stride,
					(uintptr_t)map.memory + 256ul * map.stride);
			lines[key] = (uintptr_t)entry / 64;
			for (size_t other = 0; key < nr && other < key; other++)
				assert_true(lines[key] != lines[other]);
		}
		assert_int_equal(hits_in(&map, &nr), 256);
		assert_int_equal(nr, 256);
		trace_hist_map_destroy(&map);
	}
}

static void extra_words(void **state)
{
	const uint64_t key = 5, extra[] = { 7, 8 }, other[] = { 9, 9 };
	struct hist_key wanted = {
		.words = &key, .nr_words = 1, .hash = hash_of(&key, 1), .nr_extra = 2
	};
	struct hist_entry *entry;

	(void)state;
	make(128, 1, 1, 3);
	wanted.extra = extra;
	entry = trace_hist_map_add(&map, &wanted);
	wanted.extra = other;
	assert_ptr_equal(trace_hist_map_add(&map, &wanted), entry);
	assert_int_equal(hist_entry_word(entry, 0), 5);
	assert_int_equal(hist_entry_word(entry, 1), 0);
	assert_int_equal(hist_entry_word(entry, 2), 7);
	assert_int_equal(hist_entry_word(entry, 3), 8);
	assert_int_equal(hist_entry_word(entry, 4), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(small_entries, reset, destroy),
		cmocka_unit_test_setup_teardown(wrong_shapes, reset, destroy),
		cmocka_unit_test_setup_teardown(no_memory, reset, destroy),
		cmocka_unit_test_setup_teardown(each_key_once, reset, destroy),
		cmocka_unit_test_setup_teardown(keys_of_several_words, reset, destroy),
		cmocka_unit_test_setup_teardown(keys_of_different_lengths, reset, destroy),
		cmocka_unit_test_setup_teardown(full, reset, destroy),
		cmocka_unit_test_setup_teardown(entries_in_different_lines, reset, destroy),
		cmocka_unit_test_setup_teardown(extra_words, reset, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
