/*
 * Ring buffer: sub-buffers of every size.
 *
 * links: trace/ring/ring_*.c
 */
#include "ring_help.h"
#include "allocations.h"

#define NR_CPUS	   3u
#define NR_ORDERS  (RING_SUBBUF_MAX_ORDER + 1)
#define SMALLEST   8u /* bytes of the shortest event, head included */
#define RING_BYTES (12 * SIZE)

static struct ring_buffer *ring;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	ring = ring_buffer_alloc(RING_BYTES, RING_BUFFER_OVERWRITE);
	return ring ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ring_buffer_free(ring);
	assert_int_equal(fake_nr_bugs, 0);
	assert_int_equal(trace_plat_preempt_count(), 0);
	return fake_alloc_out ? -1 : 0;
}

static uint32_t subbuf_bytes(int order)
{
	return SIZE << order;
}

static uint32_t slots(int order, size_t bytes)
{
	size_t nr = (bytes + subbuf_bytes(order) - 1) / subbuf_bytes(order);

	return nr < 2 ? 2 : (uint32_t)nr;
}

static void has_order(struct ring_buffer *buffer, int order, size_t bytes)
{
	assert_int_equal(ring_buffer_subbuf_order_get(buffer), order);
	assert_int_equal(ring_buffer_subbuf_size(buffer), subbuf_bytes(order));
	assert_int_equal(ring_buffer_max_event_size(buffer), subbuf_bytes(order) - 32);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		assert_int_equal(ring_buffer_size(buffer, cpu),
				 slots(order, bytes) * subbuf_bytes(order));
}

static uint32_t expect_rest(uint32_t next)
{
	struct ring_event event;
	uint64_t ts = 0;

	while (ring_buffer_consume(ring, 0, &event)) {
		assert_int_equal(id_of(&event), next + event.lost);
		assert_true(event.ts > ts);
		ts = event.ts;
		next = id_of(&event) + 1;
	}
	assert_true(ring_buffer_empty_cpu(ring, 0));
	return next;
}

/* Every size takes as many of the smallest events as fit, and says where it lost some. */
static void test_all_orders(void **state)
{
	(void)state;
	for (int round = 0; round < 2 * NR_ORDERS - 1; round++) {
		int order = round < NR_ORDERS ? round : 2 * NR_ORDERS - 2 - round;
		uint32_t room = (subbuf_bytes(order) - 16) / SMALLEST, nr;
		struct ring_stats stats;

		assert_int_equal(ring_buffer_subbuf_order_set(ring, order), 0);
		has_order(ring, order, RING_BYTES);
		nr = slots(order, RING_BYTES) * room;
		for (uint32_t i = 0; i < nr; i++)
			assert_true(put(ring, i, 4));
		stats = stats_of(ring, 0);
		assert_int_equal(stats.entries, nr);
		assert_int_equal(stats.overrun, 0);
		assert_int_equal(stats.bytes, nr * SMALLEST);
		for (uint32_t i = nr; i < 2 * nr + room / 2; i++)
			assert_true(put(ring, i, 4));
		stats = stats_of(ring, 0);
		assert_int_equal(stats.entries + stats.overrun, 2 * nr + room / 2);
		assert_int_equal(stats.overrun % room, 0);
		assert_int_equal(expect_rest(0), 2 * nr + room / 2);
		assert_int_equal(stats_of(ring, 0).read, stats.entries);
	}
}

/* Random lengths up to the longest, in every size: none crosses the end of a sub-buffer. */
static void test_long_events(void **state)
{
	(void)state;
	srand(9);
	for (int order = NR_ORDERS - 1; order >= 0; order--) {
		size_t max = subbuf_bytes(order) - 32;
		uint32_t id = 0, next = 0;

		assert_int_equal(ring_buffer_subbuf_order_set(ring, order), 0);
		assert_null(ring_buffer_lock_reserve(ring, max + 1));
		for (int i = 0; i < 60; i++) {
			/* with and without an extend */
			fake_clock += rand() % 5 ? 100 : 1ull << 40;
			assert_true(put(ring, id++, i % 10 ? 4 + (size_t)rand() % (max - 3) : max));
			for (int n = rand() % 8; n; n--)
				assert_true(put(ring, id++, 4 + (uint32_t)rand() % 300));
			if (rand() % 3 == 0)
				next = expect_rest(next);
		}
		assert_int_equal(expect_rest(next), id);
	}
}

static void test_drop_mode(void **state)
{
	uint32_t id = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 2), 0);
	while (put(ring, id, 16))
		id++;
	assert_int_equal(id, 3 * ((subbuf_bytes(2) - 16) / 20));
	assert_int_equal(stats_of(ring, 0).dropped, 1);
	expect_ids(ring, 0, 0, id);
}

/* Whatever the ring, the reader and their counters held is gone; what was switched stays. */
static void test_begins_anew(void **state)
{
	struct ring_event event;

	(void)state;
	for (uint32_t i = 0; i < 9000; i++)
		put(ring, i, 16);
	assert_true(ring_buffer_consume(ring, 0, &event));
	ring_buffer_record_disable_cpu(ring, 1);
	ring_buffer_record_off(ring);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 3), 0);
	assert_true(ring_buffer_empty(ring));
	assert_false(ring_buffer_peek(ring, 0, &event));
	assert_int_equal(stats_of(ring, 0).read, 0);
	assert_int_equal(stats_of(ring, 0).overrun, 0);
	assert_int_equal(stats_of(ring, 0).bytes, 0);
	assert_false(put(ring, 1, 4));
	ring_buffer_record_on(ring);
	fake_bind(1);
	assert_false(put(ring, 1, 4));
	ring_buffer_record_enable_cpu(ring, 1);
	assert_true(put(ring, 1, 4));
	fake_bind(0);
	assert_true(put(ring, 7, 9000));
	/* It has that size already. */
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 3), 0);
	expect_ids(ring, 0, 7, 8);
	expect_ids(ring, 1, 1, 2);
}

static uint64_t count(void)
{
	static uint64_t nr;

	return ++nr;
}

/* A clock of its own keeps writers off the fast path, also behind a change of sizes. */
static void test_other_clock(void **state)
{
	struct ring_event event;

	(void)state;
	ring_buffer_set_clock(ring, count);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 1), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(put(ring, i, 3000));
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_true(event.ts < 100);
	}
	ring_buffer_set_clock(ring, NULL);
	assert_true(put(ring, 9, 3000));
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_true(event.ts > 100);
}

static void test_refused(void **state)
{
	struct ring_iter *iter = ring_buffer_read_start(ring, 2);
	long out, budget = 0;
	int err;

	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		put(ring, i, 16);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, -1), -EINVAL);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, NR_ORDERS), -EINVAL);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 4), -EBUSY);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 0), 0);
	ring_buffer_read_finish(iter);
	out = fake_alloc_out;
	do {
		has_order(ring, 0, RING_BYTES);
		assert_int_equal(stats_of(ring, 0).entries, 500);
		assert_int_equal(fake_alloc_out, out);
		fake_alloc_budget = budget++;
		err = ring_buffer_subbuf_order_set(ring, 4);
		fake_alloc_budget = -1;
	} while (err == -ENOMEM);
	assert_int_equal(err, 0);
	assert_int_equal(budget, 2 + 2 * NR_CPUS); /* a list, two pieces for each CPU */
	has_order(ring, 4, RING_BYTES);
	assert_int_equal(stats_of(ring, 0).entries, 0);
}

/* The size that was asked for counts, not what the last sub-buffers made of it. */
static void test_sizes_come_back(void **state)
{
	(void)state;
	assert_int_equal(ring_buffer_resize(ring, 3 * SIZE, 0), 0);
	assert_int_equal(ring_buffer_resize(ring, 33 * SIZE, 1), 0);
	for (int order = 0; order < NR_ORDERS; order++) {
		assert_int_equal(ring_buffer_subbuf_order_set(ring, order), 0);
		assert_int_equal(ring_buffer_size(ring, 0),
				 slots(order, 3 * SIZE) * subbuf_bytes(order));
		assert_int_equal(ring_buffer_size(ring, 1),
				 slots(order, 33 * SIZE) * subbuf_bytes(order));
	}
	assert_int_equal(ring_buffer_resize(ring, 5 * subbuf_bytes(7), 2), 0);
	assert_int_equal(ring_buffer_size(ring, 2), 5 * subbuf_bytes(7));
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 0), 0);
	assert_int_equal(ring_buffer_size(ring, 0), 3 * SIZE);
	assert_int_equal(ring_buffer_size(ring, 1), 33 * SIZE);
	assert_int_equal(ring_buffer_size(ring, 2), 5 * subbuf_bytes(7));
}

/* The newest sub-buffers survive a resize, whatever their size. */
static void test_resize(void **state)
{
	(void)state;
	for (int order = 0; order < NR_ORDERS; order++) {
		uint32_t id = 0, bytes = subbuf_bytes(order);
		struct ring_stats stats;

		assert_int_equal(ring_buffer_subbuf_order_set(ring, order), 0);
		assert_int_equal(ring_buffer_resize(ring, 6 * bytes, 0), 0);
		for (uint32_t i = 0; i < 400; i++)
			assert_true(put(ring, id++, 4 + i * 97 % (bytes / 20)));
		assert_int_equal(ring_buffer_resize(ring, 3 * bytes, 0), 0);
		for (uint32_t i = 0; i < 10; i++)
			assert_true(put(ring, id++, bytes / 30));
		stats = stats_of(ring, 0);
		assert_int_equal(stats.entries + stats.overrun, id);
		assert_int_equal(expect_rest(0), id);
		assert_int_equal(ring_buffer_resize(ring, RING_BYTES, 0), 0);
	}
}

static int swap(struct ring_buffer *snap)
{
	uint64_t flags = trace_plat_irq_save();
	int err = ring_buffer_swap_cpu(ring, snap, 0);

	trace_plat_irq_restore(flags);
	return err;
}

static void test_twins(void **state)
{
	struct ring_buffer *snap = ring_buffer_alloc_twin(ring);
	long budget;

	(void)state;
	/* A slim one stays small until it is fitted. */
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 3), 0);
	has_order(snap, 0, 1);
	for_each_allocation(budget, ring_buffer_fit(snap))
		has_order(snap, 0, 1);
	assert_int_equal(budget, 1 + 2 * NR_CPUS);
	has_order(snap, 3, RING_BYTES);
	/* Then both change or none. */
	put(ring, 5, 20000);
	assert_int_equal(swap(snap), 0);
	for (budget = 0; budget < 1 + 4 * (long)NR_CPUS; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(ring_buffer_subbuf_order_set(ring, 1), -ENOMEM);
	}
	fake_alloc_budget = -1;
	has_order(ring, 3, RING_BYTES);
	has_order(snap, 3, RING_BYTES);
	assert_int_equal(stats_of(snap, 0).entries, 1);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 1), 0);
	has_order(ring, 1, RING_BYTES);
	has_order(snap, 1, RING_BYTES);
	assert_true(ring_buffer_empty(snap));
	put(ring, 6, 7000);
	assert_int_equal(swap(snap), 0);
	put(ring, 7, 7000);
	assert_int_equal(swap(snap), 0);
	expect_ids(ring, 0, 6, 7);
	expect_ids(snap, 0, 7, 8);
	assert_int_equal(ring_buffer_slim(snap), 0);
	has_order(snap, 0, 1);
	has_order(ring, 1, RING_BYTES);
	assert_int_equal(swap(snap), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_all_orders),  T(test_long_events),     T(test_drop_mode),
		T(test_begins_anew), T(test_other_clock),     T(test_refused),
		T(test_resize),	     T(test_sizes_come_back), T(test_twins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
