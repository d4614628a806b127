/*
 * Counts by key: an interrupt, or an NMI, before every single instruction of counting a new key. It
 * counts the same key, or another one, or leaves no room. Compiled as in the kernel.
 *
 * links: trace/events/hist_map.c
 */
#include "unit.h"
#include "fast.h"
#include "events/hist_map.h"

#define MAX_INSNS 512u

static struct hist_map map;
static uint64_t irq_key;

static TRACE_NOINLINE void count(uint64_t key)
{
	uint64_t hash = hist_hash(0, key);
	struct hist_entry *entry = hist_map_find(&map, &key, 1, hash);

	if (!entry && !hist_map_drops(&map))
		entry = hist_map_add(
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

	while (hist_map_next(&map, &at))
		nr++;
	return nr;
}

static void make(uint32_t nr_entries)
{
	const struct hist_map_shape shape = { nr_entries, 1, 0, 0 };

	assert_int_equal(hist_map_init(&map, &shape), 0);
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

		hist_map_clear(&map);
		if (fast_run_at(count_one, (void *)(uintptr_t)key, &point, 1))
			nr_came++;
		else
			count_in_irq();
		check();
	}
	assert_in_range(nr_came, nr - 10, nr);
	hist_map_destroy(&map);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_key),
		cmocka_unit_test(other_key),
		cmocka_unit_test(last_entry),
		cmocka_unit_test(last_entry_same_key),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
