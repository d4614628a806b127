/*
 * Ring buffer: resize, reset, exchange, several CPUs, failing memory.
 *
 * links: trace/ring/ring_*.c
 */
#include "ring_help.h"
#include "ring/ring_private.h"

static struct ring_buffer *ring;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(3);
	ring = ring_buffer_alloc(4 * SIZE, RING_BUFFER_OVERWRITE);
	return ring ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ring_buffer_free(ring);
	assert_int_equal(fake_nr_bugs, 0);
	return fake_alloc_out ? -1 : 0;
}

static int swap_here(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu)
{
	uint64_t flags = trace_plat_irq_save();
	int err = ring_buffer_swap_cpu(a, b, cpu);

	trace_plat_irq_restore(flags);
	return err;
}

static void test_cpus_are_apart(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		fake_bind(i % 3);
		assert_true(put(ring, i / 3, 8 + 4 * (i % 3)));
	}
	assert_int_equal(ring_buffer_entries(ring), 300);
	assert_int_equal(ring_buffer_entries_cpu(ring, 1), 100);
	assert_int_equal(ring_buffer_bytes_cpu(ring, 1), 100 * 16);
	ring_buffer_record_disable_cpu(ring, 2);
	assert_false(put(ring, 0, 4));
	assert_false(ring_buffer_record_is_on(ring, 2));
	assert_false(ring_buffer_record_is_on(ring, RING_BUFFER_ALL_CPUS));
	assert_true(ring_buffer_record_is_on(ring, 0));
	ring_buffer_record_enable_cpu(ring, 2);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		expect_ids(ring, cpu, 0, 100);
	assert_false(ring_buffer_peek(ring, 3, &(struct ring_event){ 0 }));
	fake_bind(0);
}

static void test_reset(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		put(ring, i, 16);
	fake_bind(1);
	put(ring, 0, 16);
	ring_buffer_reset_cpu(ring, 0);
	assert_true(ring_buffer_empty_cpu(ring, 0));
	assert_int_equal(stats_of(ring, 0).overrun, 0);
	assert_int_equal(stats_of(ring, 1).entries, 1);
	fake_bind(0);
	for (uint32_t i = 0; i < 100; i++)
		put(ring, i, 16);
	expect_ids(ring, 0, 0, 100);
	ring_buffer_reset(ring);
	assert_true(ring_buffer_empty(ring));
	assert_int_equal(stats_of(ring, 0).read, 0);
}

static void reset_all(void)
{
	ring_buffer_reset(ring);
}

static void reset_cpu(void)
{
	ring_buffer_reset_cpu(ring, 0);
}

static uint64_t other_clock(void)
{
	static uint64_t now;

	return ++now;
}

static void change_clock(void)
{
	ring_buffer_set_clock(ring, other_clock);
}

static void reset_twice(void)
{
	reset_cpu();
	put(ring, 77, 16);
	reset_cpu();
}

static void (*const ways_to_empty[])(void) = { reset_all, reset_cpu, change_clock, reset_twice };

/* Write `nr` events from `first` on. */
static void put_many(uint32_t first, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		assert_true(put(ring, first + i, 16));
}

#define OLD	100000u
#define NEW	200000u
#define IN_RING (4 * (ROOM / 20)) /* events of 16 bytes that a ring holds */

/* The rest of what `iter` shows: the newest `nr` of those that were written, without a loss. */
static void expect_new(struct ring_iter *iter, uint32_t nr)
{
	uint32_t first = nr <= IN_RING ? NEW : 0, seen = 0;
	struct ring_event event;

	for (; ring_buffer_iter_peek(iter, &event); ring_buffer_iter_advance(iter)) {
		if (!first)
			first = id_of(
				&event); /* the older ones were overwritten before it looked */
		assert_int_equal(id_of(&event), first + seen++);
		assert_int_equal(event.lost, 0);
	}
	assert_int_equal(first + seen, NEW + nr);
	assert_in_range(seen, nr < IN_RING ? nr : IN_RING - ROOM / 20, nr);
}

static void empty_under_iterator(void (*empty)(void), uint32_t nr_old, uint32_t nr_shown,
				 uint32_t nr_new)
{
	struct ring_iter *iter;
	struct ring_event event;

	ring_buffer_set_clock(ring, NULL);
	put_many(OLD, nr_old);
	iter = ring_buffer_read_start(ring, 0);
	for (uint32_t i = 0; i < nr_shown; i++)
		ring_buffer_iter_advance(iter);
	ring_buffer_iter_peek(iter, &event);
	assert_false(ring_buffer_iter_was_emptied(iter));
	empty();
	/* The event that was shown last is passed over, and not the first event of the next epoch. */
	put_many(NEW, nr_new);
	ring_buffer_iter_advance(iter);
	expect_new(iter, nr_new);
	assert_true(ring_buffer_iter_was_emptied(iter));
	assert_false(ring_buffer_iter_was_emptied(iter));
	/* Its end was set when it began again. */
	put_many(NEW + nr_new, 1);
	assert_false(ring_buffer_iter_peek(iter, &event));
	ring_buffer_iter_reset(iter);
	assert_true(ring_buffer_iter_peek(iter, &event));
	assert_false(ring_buffer_iter_was_emptied(iter));
	/* Started again by hand, it need not be told. */
	empty();
	assert_false(ring_buffer_iter_peek(iter, &event));
	ring_buffer_iter_reset(iter);
	assert_false(ring_buffer_iter_was_emptied(iter));
	ring_buffer_read_finish(iter);
	ring_buffer_reset(ring);
}

/*
 * An iterator under which the ring is emptied goes on with what comes then, and has lost nothing.
 */
static void test_empty_under_iterator(void **state)
{
	static const uint32_t numbers[] = { 1, 10, 203, 204, 205, 500, 2000 };

	(void)state;
	for (size_t way = 0; way < 4; way++)
		for (size_t old = 0; old < 7; old++)
			for (size_t shown = 0; shown < old; shown++)
				for (size_t new = 0; new < 7; new ++)
					empty_under_iterator(ways_to_empty[way], numbers[old],
							     numbers[shown] - 1, numbers[new]);
}

/* A twin has the clock, the mode and the switch that there are when it is made, on every CPU. */
static void test_twin_takes_over(void **state)
{
	struct ring_buffer *snap;
	struct ring_event event;

	(void)state;
	ring_buffer_set_clock(ring, other_clock);
	ring_buffer_change_overwrite(ring, false);
	ring_buffer_record_off(ring);
	snap = ring_buffer_alloc_twin(ring);
	assert_int_equal(ring_buffer_fit(snap), 0);
	assert_int_equal(ring_buffer_fit(snap), 0); /* it is not slim any more */
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		fake_bind(cpu);
		assert_false(put(snap, 0, 16));
	}
	ring_buffer_record_on(ring);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		uint32_t nr = 0;

		fake_bind(cpu);
		while (put(snap, nr, 16))
			nr++;
		assert_int_equal(nr, IN_RING);
		assert_true(ring_buffer_consume(snap, cpu, &event));
		assert_int_equal(id_of(&event), 0);
		assert_true(event.ts < fake_clock / 2); /* other_clock() counts from 1 */
	}
	fake_bind(0);
}

/* The iterator's ring may be the twin's when it is emptied. */
static void test_empty_twin_under_iterator(void **state)
{
	struct ring_buffer *snap = ring_buffer_alloc_twin(ring);
	struct ring_iter *iter;

	(void)state;
	assert_int_equal(ring_buffer_fit(snap), 0);
	put_many(OLD, 600);
	iter = ring_buffer_read_start(ring, 0);
	for (uint32_t i = 0; i < 100; i++)
		ring_buffer_iter_advance(iter);
	assert_int_equal(swap_here(ring, snap, 0), 0);
	ring_buffer_reset(snap);
	assert_int_equal(swap_here(ring, snap, 0), 0);
	put_many(NEW, 300);
	expect_new(iter, 300);
	ring_buffer_read_finish(iter);
}

/* ---- Exchanges while a ring is emptied ---- */

static struct ring_buffer *swapped;
static uint32_t nr_locks, swap_at;
static int swap_result;

static void swap_now(void)
{
	swap_result = swap_here(ring, swapped, 0);
}

static void swap_at_lock(void)
{
	if (nr_locks++ == swap_at)
		swap_now();
}

/* Only `ring` is emptied, whichever of the two it is then. */
static void expect_only_ring_empty(void)
{
	assert_true(ring_buffer_empty_cpu(ring, 0));
	expect_ids(swapped, 0, swap_result ? 2000 : 1000, swap_result ? 2001 : 1001);
}

/*
 * A reset sleeps until it has its locks. The rings may be exchanged meanwhile, or not: what it
 * empties is what is then written into, and the snapshot that was just taken stays.
 */
static void test_swap_while_reset_waits(void **state)
{
	(void)state;
	swapped = ring_buffer_alloc_twin(ring);
	assert_int_equal(ring_buffer_fit(swapped), 0);
	for (swap_at = 0; swap_at < 3; swap_at++) {
		put(ring, 1000, 16);
		put(swapped, 2000, 16);
		nr_locks = 0;
		swap_result = -EBUSY;
		fake_on_lock = swap_at_lock;
		ring_buffer_reset_cpu(ring, 0);
		fake_on_lock = NULL;
		expect_only_ring_empty();
	}
	assert_int_equal(nr_locks, 2);
}

static void dump_now(void)
{
	assert_null(ring_buffer_dump_start(ring, 0));
	assert_non_null(ring_buffer_dump_start(ring, 1));
}

/* A crash in the middle of it: what there is, is no ring. */
static void test_no_dump_of_a_ring_that_moves(void **state)
{
	(void)state;
	put(ring, 1, 16);
	fake_on_sync = dump_now;
	ring_buffer_reset_cpu(ring, 0);
	put(ring, 1, 16);
	assert_int_equal(ring_buffer_resize(ring, 9 * SIZE, 0), 0);
	fake_on_sync = NULL;
	assert_non_null(ring_buffer_dump_start(ring, 0));
}

/* Its writers have not left yet: it is between two states. */
static void test_no_swap_during_reset(void **state)
{
	(void)state;
	swapped = ring_buffer_alloc_twin(ring);
	assert_int_equal(ring_buffer_fit(swapped), 0);
	put(ring, 1000, 16);
	put(swapped, 2000, 16);
	fake_on_sync = swap_now;
	ring_buffer_reset_cpu(ring, 0);
	assert_int_equal(swap_result, -EBUSY);
	expect_only_ring_empty();
	swap_result = 0;
	ring_buffer_reset_cpu(swapped, 0);
	assert_int_equal(swap_result, -EBUSY);
	fake_on_sync = NULL;
	swap_now();
	assert_int_equal(swap_result, 0);
}

/* All combinations of sizes and fillings; the newest events stay, the sums hold. */
static void test_resize_keeps_newest(void **state)
{
	static const uint32_t pages[] = { 2, 3, 4, 5, 9, 40 };
	uint32_t id = 0, first;
	struct ring_event event;

	(void)state;
	srand(3);
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t from = pages[rand() % 6], to = pages[rand() % 6];
		struct ring_stats before, after;

		assert_int_equal(ring_buffer_resize(ring, from * SIZE, 0), 0);
		for (int n = rand() % 3000; n > 0; n--)
			assert_true(put(ring, id++, 4 + (uint32_t)rand() % 50));
		for (int n = rand() % 4 * 50; n > 0; n--)
			ring_buffer_consume(ring, 0, &event);
		before = stats_of(ring, 0);
		assert_int_equal(ring_buffer_resize(ring, to * SIZE, 0), 0);
		after = stats_of(ring, 0);
		assert_int_equal(ring_buffer_size(ring, 0), to * SIZE);
		assert_int_equal(after.entries + after.overrun + after.read, id);
		assert_int_equal(after.read, before.read);
		if (to >= from)
			assert_int_equal(after.entries, before.entries);
		if (before.entries > 1000)
			assert_in_range(after.entries, 70, before.entries);
		for (int n = rand() % 100; n > 0; n--)
			assert_true(put(ring, id++, 16));
		if (rand() % 2)
			continue;
		first = 0;
		while (ring_buffer_consume(ring, 0, &event)) {
			assert_true(!first || id_of(&event) == first + event.lost);
			first = id_of(&event) + 1;
		}
		assert_int_equal(first, id);
	}
}

static void test_resize_in_drop_mode(void **state)
{
	uint32_t id = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (put(ring, id, 16))
		id++;
	assert_int_equal(ring_buffer_resize(ring, 6 * SIZE, RING_BUFFER_ALL_CPUS), 0);
	while (put(ring, id, 16))
		id++;
	assert_int_equal(id, 6 * (ROOM / 20));
	assert_int_equal(stats_of(ring, 0).dropped, 2);
	expect_ids(ring, 0, 0, id);
}

static uint32_t nr_refused;

static void write_meanwhile(void)
{
	nr_refused += !put(ring, 5000, 16);
}

/* The size that the ring of this CPU does not have now. */
static void resize_meanwhile(void)
{
	uint32_t nr = ring_buffer_size(ring, 0) == 4 * SIZE ? 8 : 4;

	fake_on_sync = write_meanwhile;
	assert_int_equal(ring_buffer_resize(ring, nr * SIZE, 0), 0);
	fake_on_sync = NULL;
}

/* Events that a resize keeps out are dropped, those that would have been kept out anyway are not. */
static void test_resize_counts_what_it_keeps_out(void **state)
{
	struct ring_event event;
	uint64_t nr_lost = 0;

	(void)state;
	nr_refused = 0;
	for (uint32_t i = 0; i < 10; i++)
		put(ring, i, 16);
	resize_meanwhile();
	resize_meanwhile();
	assert_int_equal(nr_refused, 2);
	assert_int_equal(stats_of(ring, 0).dropped, 2);
	assert_int_equal(stats_of(ring, 0).entries, 10);
	ring_buffer_record_off(ring);
	resize_meanwhile();
	ring_buffer_record_on(ring);
	ring_buffer_record_disable(ring);
	resize_meanwhile();
	ring_buffer_record_enable(ring);
	assert_int_equal(nr_refused, 4);
	assert_int_equal(stats_of(ring, 0).dropped, 2);
	/* Readers are told with the next sub-buffer. */
	for (uint32_t i = 10; i < 300; i++)
		assert_true(put(ring, i, 16));
	while (ring_buffer_consume(ring, 0, &event))
		nr_lost += event.lost;
	assert_int_equal(nr_lost, 2);
	fake_on_sync = write_meanwhile;
	ring_buffer_reset_cpu(ring, 0);
	fake_on_sync = NULL;
	assert_int_equal(nr_refused, 5);
	assert_int_equal(stats_of(ring, 0).dropped, 0);
}

static void test_resize_refused(void **state)
{
	struct ring_iter *iter = ring_buffer_read_start(ring, 1);
	long out = fake_alloc_out;

	(void)state;
	assert_int_equal(ring_buffer_resize(ring, 0, 0), -EINVAL);
	assert_int_equal(ring_buffer_resize(ring, 1ul << 33, 0), -EINVAL);
	assert_int_equal(ring_buffer_resize(ring, RING_MAX_BYTES + 1, 0), -EINVAL);
	fake_alloc_max_bytes = 1 << 20;
	assert_int_equal(ring_buffer_resize(ring, RING_MAX_BYTES, 0), -ENOMEM);
	fake_alloc_max_bytes = 0;
	assert_int_equal(ring_buffer_resize(ring, SIZE, 3), -EINVAL);
	assert_int_equal(ring_buffer_resize(ring, 9 * SIZE, RING_BUFFER_ALL_CPUS), -EBUSY);
	assert_int_equal(ring_buffer_resize(ring, 9 * SIZE, 1), -EBUSY);
	assert_int_equal(ring_buffer_size(ring, 0), 4 * SIZE);
	assert_int_equal(ring_buffer_resize(ring, 9 * SIZE, 0), 0);
	ring_buffer_read_finish(iter);
	out = fake_alloc_out - 0;
	for (long budget = 0; budget < 3; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(ring_buffer_resize(ring, 5 * SIZE, RING_BUFFER_ALL_CPUS), -ENOMEM);
		assert_int_equal(fake_alloc_out, out);
		assert_int_equal(ring_buffer_size(ring, 0), 9 * SIZE);
		assert_int_equal(ring_buffer_size(ring, 1), 4 * SIZE);
	}
	fake_alloc_budget = -1;
	assert_int_equal(ring_buffer_resize(ring, 5 * SIZE, RING_BUFFER_ALL_CPUS), 0);
	assert_int_equal(ring_buffer_size(ring, 2), 5 * SIZE);
	fake_alloc_budget = 0;
	assert_null(ring_buffer_read_start(ring, 0));
}

static void test_swap(void **state)
{
	struct ring_buffer *other = ring_buffer_alloc(4 * SIZE, RING_BUFFER_OVERWRITE), *snap;
	struct ring_event event;
	void *open;

	(void)state;
	assert_int_equal(swap_here(ring, other, 0), -EINVAL);
	ring_buffer_free(other);
	snap = ring_buffer_alloc_twin(ring);
	assert_int_equal(swap_here(ring, snap, 0), -EINVAL); /* it is slim */
	assert_int_equal(ring_buffer_fit(snap), 0);
	for (uint32_t i = 0; i < 2000; i++)
		put(ring, i, 16);
	for (uint32_t i = 0; i < 3; i++)
		put(snap, 5000 + i, 16);
	assert_true(ring_buffer_consume(snap, 0, &event)); /* the rest stays in the reader's copy */
	assert_int_equal(swap_here(ring, snap, 0), 0);
	assert_true(put(ring, 5003, 16));
	expect_ids(ring, 0, 5001, 5004);
	assert_true(ring_buffer_consume(snap, 0, &event));
	expect_ids(snap, 0, id_of(&event) + 1, 2000);
	assert_int_equal(stats_of(snap, 0).overrun + stats_of(snap, 0).read, 2000);
	/* A setting of one holds for both. */
	ring_buffer_record_off(snap);
	assert_false(put(ring, 0, 4));
	assert_int_equal(swap_here(ring, snap, 0), 0);
	assert_false(put(ring, 0, 4));
	ring_buffer_record_on(ring);
	assert_true(put(snap, 0, 4));
	assert_int_equal(ring_buffer_resize(snap, 8 * SIZE, 0), 0);
	assert_int_equal(ring_buffer_size(ring, 0), 8 * SIZE);
	assert_int_equal(swap_here(ring, snap, 0), 0);
	/* Nothing moves under an open event. */
	open = ring_buffer_lock_reserve(ring, 8);
	assert_int_equal(swap_here(ring, snap, 0), -EBUSY);
	ring_buffer_unlock_commit(ring, open);
	assert_int_equal(swap_here(ring, ring, 0), -EINVAL);
	assert_int_equal(swap_here(snap, ring, 64), -EINVAL);
}

static void swap_once(void)
{
	fake_clock_irq = NULL;
	assert_int_equal(swap_here(ring, swapped, 0), 0);
}

/* An exchange when a writer has looked its ring up and claimed nothing yet. */
static void test_swap_overtakes_writer(void **state)
{
	void *payload;

	(void)state;
	swapped = ring_buffer_alloc_twin(ring);
	assert_int_equal(ring_buffer_fit(swapped), 0);
	for (uint32_t bytes = 16; bytes <= 400; bytes += 384) {
		fake_clock_irq = swap_once;
		assert_true(put(ring, 1, bytes));
		assert_true(put(ring, 2, bytes));
		assert_true(put(swapped, 2, bytes));
		expect_ids(ring, 0, 2, 3);
		assert_int_equal(stats_of(swapped, 0).entries, 2);
		expect_ids(swapped, 0, 1, 3);
		assert_int_equal(swap_here(ring, swapped, 0), 0); /* no event is open */
	}
	fake_clock_irq = swap_once;
	payload = ring_buffer_lock_reserve(ring, 16);
	ring_buffer_discard_commit(ring, payload, 16);
	assert_true(put(swapped, 7, 16));
	assert_true(ring_buffer_empty(ring));
	expect_ids(swapped, 0, 7, 8);
	assert_int_equal(swap_here(ring, swapped, 0), 0);
}

static void test_slim_twin(void **state)
{
	struct ring_buffer *snap = ring_buffer_alloc_twin(ring);
	struct ring_iter *iter;

	(void)state;
	assert_int_equal(ring_buffer_size(snap, 1), 2 * SIZE);
	assert_int_equal(ring_buffer_resize(ring, 8 * SIZE, 1), 0);
	assert_int_equal(ring_buffer_size(snap, 1), 2 * SIZE);
	fake_alloc_budget = 2; /* the list, the first CPU */
	assert_int_equal(ring_buffer_fit(snap), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(ring_buffer_fit(snap), 0);
	assert_int_equal(ring_buffer_size(snap, 1), 8 * SIZE);
	/* Both or none. */
	fake_alloc_budget = 4;
	assert_int_equal(ring_buffer_resize(ring, 16 * SIZE, RING_BUFFER_ALL_CPUS), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(ring_buffer_size(ring, 1), 8 * SIZE);
	put(snap, 1, 8);
	iter = ring_buffer_read_start(snap, 0);
	assert_int_equal(ring_buffer_slim(snap), -EBUSY);
	ring_buffer_read_finish(iter);
	assert_int_equal(ring_buffer_slim(snap), 0);
	assert_true(ring_buffer_empty(snap));
	assert_int_equal(ring_buffer_size(snap, 1), 2 * SIZE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_cpus_are_apart),
		T(test_reset),
		T(test_empty_under_iterator),
		T(test_twin_takes_over),
		T(test_empty_twin_under_iterator),
		T(test_swap_while_reset_waits),
		T(test_no_swap_during_reset),
		T(test_no_dump_of_a_ring_that_moves),
		T(test_resize_keeps_newest),
		T(test_resize_in_drop_mode),
		T(test_resize_counts_what_it_keeps_out),
		T(test_resize_refused),
		T(test_swap),
		T(test_swap_overtakes_writer),
		T(test_slim_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
