/*
 * Ring buffer: iterators, raw pages, damaged data.
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
	ring = ring_buffer_alloc(4 * SIZE, RING_BUFFER_OVERWRITE);
	return ring ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ring_buffer_free(ring);
	return fake_alloc_out ? -1 : 0;
}

/* Everything that `iter` shows must be first, first + 1, ... up to `end`. */
static void expect_iter(struct ring_iter *iter, uint32_t first, uint32_t end)
{
	struct ring_event event;
	uint64_t ts = 0;

	while (ring_buffer_iter_peek(iter, &event)) {
		assert_int_equal(id_of(&event), first);
		assert_true(event.ts >= ts);
		ts = event.ts;
		first++;
		ring_buffer_iter_advance(iter);
	}
	assert_int_equal(first, end);
}

static void test_iterator_consumes_nothing(void **state)
{
	struct ring_iter *iter;

	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		put(ring, i, 16);
	iter = ring_buffer_read_start(ring, 0);
	for (uint32_t round = 0; round < 3; round++) {
		expect_iter(iter, 0, 500);
		ring_buffer_iter_reset(iter);
	}
	ring_buffer_read_finish(iter);
	assert_int_equal(stats_of(ring, 0).entries, 500);
	assert_int_equal(stats_of(ring, 0).read, 0);
	expect_ids(ring, 0, 0, 500);
}

/* Its end is what was there at its start, or a trace of the reader itself would never end. */
static void test_iterator_ends(void **state)
{
	struct ring_iter *iter;

	(void)state;
	for (uint32_t i = 0; i < 250; i++)
		put(ring, i, 16);
	iter = ring_buffer_read_start(ring, 0);
	for (uint32_t i = 250; i < 600; i++)
		put(ring, i, 16);
	expect_iter(iter, 0, 250);
	ring_buffer_iter_reset(iter);
	expect_iter(iter, 0, 600);
	ring_buffer_read_finish(iter);
}

/* Events that the consumer has taken but not consumed are still there for an iterator. */
static void test_iterator_behind_consumer(void **state)
{
	struct ring_iter *iter;
	struct ring_event event;

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		put(ring, i, 16);
	for (uint32_t taken = 0; taken < 600; taken += 37) {
		iter = ring_buffer_read_start(ring, 0);
		expect_iter(iter, taken, 600);
		ring_buffer_read_finish(iter);
		for (uint32_t i = 0; i < 37 && taken + i < 600; i++)
			assert_true(ring_buffer_consume(ring, 0, &event));
	}
}

static void test_iterator_overtaken(void **state)
{
	struct ring_iter *iter;
	struct ring_event event;
	uint64_t lost = 0;
	uint32_t next = 0, nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 700; i++)
		put(ring, i, 16);
	iter = ring_buffer_read_start(ring, 0);
	for (uint32_t i = 0; ring_buffer_iter_peek(iter, &event); i++) {
		assert_int_equal(id_of(&event), next + event.lost);
		next = id_of(&event) + 1;
		lost += event.lost;
		nr++;
		ring_buffer_iter_advance(iter);
		if (nr == 30)
			for (uint32_t id = 700; id < 1200; id++)
				put(ring, id, 16);
	}
	assert_true(lost > 0);
	assert_int_equal(nr + lost, 700);
	ring_buffer_read_finish(iter);
}

static void test_dump_iterator(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		put(ring, i, 16);
	fake_alloc_budget = 0;
	trace_plat_preempt_disable();
	expect_iter(ring_buffer_dump_start(ring, 0), 0, 300);
	expect_iter(ring_buffer_dump_start(ring, 0), 0, 300);
	assert_null(ring_buffer_dump_start(ring, 1));
	trace_plat_preempt_enable();
	expect_ids(ring, 0, 0, 300);
}

static _Alignas(8) uint8_t page_memory[SIZE];
static struct ring_page *const page = (struct ring_page *)(void *)page_memory;

/*
 * A reader of the page format written from its description alone: counts the events of `page`,
 * checks that they say first, first + 1, ..., and that times go from *ts on.
 */
static uint32_t read_page_events(uint32_t first, uint64_t *ts)
{
	uint32_t len = (uint32_t)(page->commit & RING_PAGE_LEN_MASK), pos = 0, nr = 0;
	uint64_t now = page->time_stamp;

	assert_true(len <= ROOM);
	assert_true(now >= *ts);
	while (pos < len) {
		uint32_t head, word = 0, type, id, bytes;

		memcpy(&head, page->data + pos, 4);
		if (pos + 8 <= len)
			memcpy(&word, page->data + pos + 4, 4);
		type = head & 31;
		if (type == 30) {
			now += (head >> 5) + ((uint64_t)word << 27);
			pos += 8;
			continue;
		}
		assert_in_range(type, 0, 28);
		now += head >> 5;
		bytes = type ? type * 4 : word - 4;
		pos += type ? 4 : 8;
		memcpy(&id, page->data + pos, 4);
		assert_int_equal(id, first + nr);
		pos += bytes;
		nr++;
	}
	assert_int_equal(pos, len);
	*ts = now;
	return nr;
}

/* The number in the first event of `page`. */
static uint32_t first_id(void)
{
	uint32_t pos = 0, head, id;

	for (;; pos += 8) {
		memcpy(&head, page->data + pos, 4);
		if ((head & 31) != 30)
			break;
	}
	memcpy(&id, page->data + pos + (head & 31 ? 4 : 8), 4);
	return id;
}

static void test_read_page(void **state)
{
	uint32_t next = 0, id = 0;
	uint64_t ts = 0;

	(void)state;
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), -EAGAIN);
	srand(7);
	for (uint32_t round = 0; round < 400; round++) {
		for (int n = rand() % 1500; n > 0; n--) {
			if (rand() % 100 == 0)
				fake_clock += 1ull << (27 + rand() % 10);
			put(ring, id++, 4 + (uint32_t)rand() % (rand() % 20 ? 30 : 300));
		}
		while (ring_buffer_read_page(ring, 0, false, page) == 0) {
			/* Behind a loss the first event says where it goes on. */
			if (page->commit & RING_PAGE_MISSED_EVENTS)
				next = first_id();
			next += read_page_events(next, &ts);
		}
		assert_int_equal(next, id);
		assert_true(ring_buffer_empty(ring));
	}
	assert_true(stats_of(ring, 0).overrun > 0);
}

static void test_missed_events_in_page(void **state)
{
	uint64_t lost, overrun_before;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		put(ring, i, 20); /* 170 to a sub-buffer, no room for the count of lost ones */
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), 0);
	assert_int_equal(page->commit, RING_PAGE_MISSED_EVENTS | ROOM);
	while (ring_buffer_read_page(ring, 0, false, page) == 0)
		assert_false(page->commit & RING_PAGE_MISSED_EVENTS);
	overrun_before = stats_of(ring, 0).overrun;
	for (uint32_t i = 0; i < 1000; i++)
		put(ring, i, 40); /* 92 to a sub-buffer, 32 bytes left */
	lost = stats_of(ring, 0).overrun;
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), 0);
	assert_int_equal(page->commit, RING_PAGE_MISSED_EVENTS | RING_PAGE_MISSED_STORED | 92 * 44);
	lost -= overrun_before;
	assert_memory_equal(page->data + 92 * 44, &lost, 8);
}

static void test_full_pages_only(void **state)
{
	uint32_t per_page = ROOM / 20;

	(void)state;
	for (uint32_t i = 0; i < per_page - 1; i++)
		put(ring, i, 16);
	assert_int_equal(ring_buffer_read_page(ring, 0, true, page), -EAGAIN);
	put(ring, per_page - 1, 16);
	put(ring, per_page, 16);
	assert_int_equal(ring_buffer_read_page(ring, 0, true, page), 0);
	assert_int_equal(page->commit, ROOM);
	assert_int_equal(ring_buffer_read_page(ring, 0, true, page), -EAGAIN);
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), 0);
	assert_int_equal(page->commit, 20);
}

/* Consume some, then take the rest as a page: the times go on where they were. */
static void test_page_after_consume(void **state)
{
	struct ring_event event;
	uint64_t ts;

	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		put(ring, i, 16);
	for (uint32_t i = 0; i < 20; i++)
		assert_true(ring_buffer_consume(ring, 0, &event));
	ts = event.ts;
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), 0);
	assert_int_equal(page->time_stamp, ts);
	assert_int_equal(read_page_events(20, &ts), 30);
	assert_int_equal(stats_of(ring, 0).read, 50);
	assert_int_equal(ring_buffer_read_page(ring, 0, false, page), -EAGAIN);
}

/* Let the ring believe that `number` events were written and read already. */
static void pretend_written(uint64_t number)
{
	struct trace_ring_cpu *rc = ring->cpu[0];

	rc->tail.lo = number << 32 | (uint32_t)rc->tail.lo;
	rc->commit = rc->tail.lo;
	rc->event_ref = number;
	rc->nr_taken = number;
	rc->reader.next_event = number;
	rc->read_number = number;
	for (uint32_t i = 0; i < rc->nr_slots; i++)
		atomic_store(&rc->slots[i].first_event, number);
}

/* The tail word counts 32 bits of the event number; the rest follows from the last sub-buffer. */
static void test_event_number_wraps(void **state)
{
	const uint64_t start = (7ull << 32) - 300;
	struct ring_event event;
	struct ring_stats now;

	(void)state;
	pretend_written(start);
	assert_true(ring_buffer_empty(ring));
	for (uint32_t i = 0; i < 600; i++)
		assert_true(put(ring, i, 16));
	assert_int_equal(stats_of(ring, 0).entries, 600);
	for (uint32_t i = 0; i < 150; i++)
		assert_true(ring_buffer_consume(ring, 0, &event));
	for (uint32_t i = 600; i < 3000; i++)
		assert_true(put(ring, i, 16));
	now = stats_of(ring, 0);
	assert_int_equal(now.entries + now.overrun + now.read, start + 3000);
	assert_int_equal(now.read, start + 150);
	for (uint32_t i = 150; ring_buffer_consume(ring, 0, &event); i = id_of(&event) + 1)
		assert_int_equal(id_of(&event), i + event.lost);
	assert_int_equal(id_of(&event), 2999);
	assert_true(ring_buffer_empty(ring));
	assert_int_equal(stats_of(ring, 0).overrun + stats_of(ring, 0).read, start + 3000);
}

/*
 * As if `nr` more events had been written and read. What the writer keeps to extend the 32 bits of
 * a tail word stays: it has to be near enough at the next sub-buffer.
 */
static void pass_events(uint64_t nr)
{
	struct trace_ring_cpu *rc = ring->cpu[0];

	rc->tail.lo += nr << 32;
	rc->commit += nr << 32;
	rc->nr_taken += nr;
	rc->reader.next_event += nr;
	rc->read_number += nr;
	for (uint32_t i = 0; i < rc->nr_slots; i++)
		atomic_fetch_add(&rc->slots[i].first_event, nr);
}

/* Write `nr` events behind `*total`, count, iterate, consume. */
static void write_and_check(uint64_t *total, uint32_t nr)
{
	uint32_t first = (uint32_t)*total;
	struct ring_iter *iter;
	struct ring_stats now;

	for (uint32_t i = 0; i < nr; i++)
		assert_true(put(ring, first + i, 16));
	now = stats_of(ring, 0);
	assert_int_equal(now.entries, nr);
	assert_int_equal(now.overrun, 0);
	assert_int_equal(now.read, *total);
	*total += nr;
	iter = ring_buffer_read_start(ring, 0);
	expect_iter(iter, first, first + nr);
	ring_buffer_read_finish(iter);
	expect_ids(ring, 0, first, first + nr);
	assert_int_equal(stats_of(ring, 0).read, *total);
}

/* More than 2^31 events, 2^32, ...: each sub-buffer renews what the next one is counted from. */
static void test_event_numbers_go_on(void **state)
{
	const uint64_t max_step = 1u << 30;
	uint64_t total = 0, left;

	(void)state;
	for (uint64_t n = 1; n <= 7; n++) {
		/* To just before n * 2^31, and over it. */
		while ((left = (n << 31) - total) > 1000) {
			uint64_t step = left - 600 < max_step ? left - 600 : max_step;

			pass_events(step);
			total += step;
			write_and_check(&total, 300);
		}
		write_and_check(&total, 600);
		assert_true(total > n << 31);
	}
	/* A lap and more at once, some of it lost. */
	for (uint32_t i = 0; i < 2000; i++)
		assert_true(put(ring, i, 16));
	assert_int_equal(stats_of(ring, 0).read, total);
	assert_int_equal(stats_of(ring, 0).entries + stats_of(ring, 0).overrun, 2000);
}

/* Decoding stays within its chunk whatever the bytes say; ASan watches. */
static void test_decode_garbage(void **state)
{
	struct ring_event event;
	struct ring_chunk chunk;

	(void)state;
	srand(11);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t bytes = (uint32_t)rand() % 200;

		chunk = (struct ring_chunk){ .end = bytes, .left = 1000 };
		chunk.data = malloc(bytes + !bytes);
		for (uint32_t i = 0; i < bytes; i++)
			chunk.data[i] = (uint8_t)(rand() % 3 ? rand() % 40 : rand());
		while (trace_ring_decode(&chunk, &event)) {
			const uint8_t *data = event.data;

			assert_true(data >= chunk.data && data + event.len <= chunk.data + bytes);
			trace_ring_skip(&chunk, &event);
		}
		free(chunk.data);
	}
}

/* Damage in memory stops tracing and is said; reading goes on behind it. */
static void test_damage_is_reported(void **state)
{
	struct ring_event event;
	uint32_t nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		put(ring, i, 16);
	memset(ring->cpu[0]->base + 16 + 20 * 5, 0xff, 4);
	while (ring_buffer_consume(ring, 0, &event))
		nr++;
	assert_in_range(nr, 5, 599);
	assert_int_equal(fake_nr_bugs, 1);
	put(ring, 7, 16);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(id_of(&event), 7);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_iterator_consumes_nothing),
		T(test_iterator_ends),
		T(test_iterator_behind_consumer),
		T(test_iterator_overtaken),
		T(test_dump_iterator),
		T(test_read_page),
		T(test_missed_events_in_page),
		T(test_full_pages_only),
		T(test_page_after_consume),
		T(test_event_number_wraps),
		T(test_event_numbers_go_on),
		T(test_decode_garbage),
		T(test_damage_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
