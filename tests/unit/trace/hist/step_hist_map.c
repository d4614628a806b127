/*
 * Counts by key: an interrupt, or an NMI, before every single instruction of counting a new key. It
 * counts the same key, or another one, or leaves no room. Compiled as in the kernel.
 *
 * links: trace/hist/hist_map.c
 */
#include "unit.h"
#include "fast.h"
#include "hist/hist_map.h"

#define MAX_INSNS 512u

static struct hist_map map;
static uint64_t irq_key;

static TRACE_NOINLINE void count(uint64_t key)
{
	uint64_t hash = hist_hash(0, key);
	struct hist_entry *entry = hist_map_find(&map, &key, 1, hash);

	if (!entry && !hist_map_drops(&map))
		entry = trace_hist_map_add(
			&map, &(struct hist_key){ .words = &key, .nr_words = 1, .hash = hash });
	if (entry)
		hist_entry_hit(entry);
}

static void count_one(void *arg)
{
	count((uint64_t)(uintptr_t)arg);
}

static void count_in_irq(void)
{
	count(irq_key);
}

static uint64_t hits_of(uint64_t key)
{
	struct hist_entry *entry = hist_map_find(&map, &key, 1, hist_hash(0, key));

	return entry ? entry->hits : 0;
}

static size_t nr_shown(void)
{
	size_t nr = 0, at = 0;

	while (trace_hist_map_next(&map, &at))
		nr++;
	return nr;
}

static void make(uint32_t nr_entries)
{
	const struct hist_map_shape shape = { nr_entries, 1, 0, 0 };

	assert_int_equal(trace_hist_map_init(&map, &shape), 0);
}

/* An interrupt at each instruction in turn; the table is empty each time. */
static void at_each(uint32_t nr_entries, uint64_t key, uint64_t other, void (*check)(void))
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	make(nr_entries);
	fast_trace(count_one, (void *)(uintptr_t)key, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 50, MAX_INSNS - 1);
	irq_key = other;
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = count_in_irq };

		trace_hist_map_clear(&map);
		if (fast_run_at(count_one, (void *)(uintptr_t)key, &point, 1))
			nr_came++;
		else
			count_in_irq();
		check();
	}
	assert_in_range(nr_came, nr - 10, nr);
	trace_hist_map_destroy(&map);
}

static void check_same(void)
{
	assert_int_equal(hits_of(7), 2);
	assert_int_equal(nr_shown(), 1);
	assert_int_equal(map.drops, 0);
	/* The entry that was taken for nothing is used again. */
	count(8);
	count(9);
	count(10);
	assert_int_equal(nr_shown(), 4);
	assert_int_equal(map.drops, 0);
}

static void same_key(void **state)
{
	(void)state;
	at_each(4, 7, 7, check_same);
}

static void check_other(void)
{
	assert_int_equal(hits_of(7), 1);
	assert_int_equal(hits_of(8), 1);
	assert_int_equal(nr_shown(), 2);
	assert_int_equal(map.drops, 0);
}

static void other_key(void **state)
{
	(void)state;
	at_each(2, 7, 8, check_other);
}

static void check_last(void)
{
	assert_int_equal(hits_of(7) + hits_of(8), 1);
	assert_int_equal(nr_shown(), 1);
	assert_int_equal(map.drops, 1);
}

static void last_entry(void **state)
{
	(void)state;
	at_each(1, 7, 8, check_last);
}

/* With the last entry in hand, an interrupt has the same key: its event is the one that is lost. */
static void check_last_same(void)
{
	assert_int_equal(hits_of(7) + map.drops, 2);
	assert_int_equal(nr_shown(), 1);
}

static void last_entry_same_key(void **state)
{
	(void)state;
	at_each(1, 7, 7, check_last_same);
}

/* Another CPU gives the only entry back, which it took for a key that was made meanwhile. */
static void give_back(void)
{
	hist_map_entry(&map, 1)->words[0] = 0;
	map.returned = (uint64_t)1 << 32 | 1;
	if (map.is_full)
		map.is_full = false;
}

/* At any moment: afterwards there is an entry, and the table does not stay marked full. */
static void given_back(void **state)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr;

	(void)state;
	make(1);
	map.nr_taken = 1;
	fast_trace(count_one, (void *)7, insns, MAX_INSNS, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = give_back };

		trace_hist_map_clear(&map);
		map.nr_taken = 1;
		if (!fast_run_at(count_one, (void *)7, &point, 1))
			give_back();
		count(8);
		assert_int_equal(hits_of(7) + hits_of(8), 1);
		assert_int_equal(map.drops, 1);
	}
	trace_hist_map_destroy(&map);
}

static TRACE_NOINLINE void count_two(void *arg)
{
	const uint64_t key[] = { 7, (uint64_t)(uintptr_t)arg };
	uint64_t hash = hist_hash(hist_hash(0, key[0]), key[1]);
	struct hist_entry *entry = hist_map_find(&map, key, 2, hash);

	if (!entry)
		entry = trace_hist_map_add(
			&map, &(struct hist_key){ .words = key, .nr_words = 2, .hash = hash });
	hist_entry_hit(entry);
}

static void count_two_in_irq(void)
{
	count_two((void *)9);
}

/* An entry that was given back with a longer key has nothing of that left in a shorter one. */
static void shorter_key(void **state)
{
	const struct hist_map_shape shape = { 4, 2, 0, 0 };
	uint8_t *insns[MAX_INSNS];
	struct hist_entry *entry;
	uint64_t key = 8;
	size_t nr;

	(void)state;
	assert_int_equal(trace_hist_map_init(&map, &shape), 0);
	fast_trace(count_two, (void *)9, insns, MAX_INSNS, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = count_two_in_irq };

		trace_hist_map_clear(&map);
		fast_run_at(count_two, (void *)9, &point, 1);
		count(key);
		entry = hist_map_find(&map, &key, 1, hist_hash(0, key));
		assert_non_null(entry);
		assert_int_equal(hist_entry_word(entry, 1), 0);
	}
	trace_hist_map_destroy(&map);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_key),   cmocka_unit_test(other_key),
		cmocka_unit_test(last_entry), cmocka_unit_test(last_entry_same_key),
		cmocka_unit_test(given_back), cmocka_unit_test(shorter_key),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
