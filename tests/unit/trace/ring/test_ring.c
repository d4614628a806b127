/*
 * Ring buffer: writing, reading, accounting, on one CPU.
 *
 * links: trace/ring/ring_*.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <trace/ring_buffer.h>
#include "fake/fake.h"

#define SIZE  4096u
#define ROOM  (SIZE - 16u) /* for events, in a sub-buffer */
#define PAGES 4u

static struct ring_buffer *ring;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	ring = ring_buffer_alloc(PAGES * SIZE, RING_BUFFER_OVERWRITE);
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

/* An event of `len` bytes that starts with the number `id` and is filled with it. */
static void *reserve_id(uint32_t id, size_t len)
{
	uint8_t *payload = ring_buffer_lock_reserve(ring, len);

	if (!payload)
		return NULL;
	memset(payload, (int)(id & 0xff), (len + 3) & ~3ul);
	memcpy(payload, &id, sizeof(id));
	return payload;
}

static bool write_id(uint32_t id, size_t len)
{
	void *payload = reserve_id(id, len);

	if (payload)
		ring_buffer_unlock_commit(ring, payload);
	return payload != NULL;
}

static uint32_t id_of(const struct ring_event *event)
{
	const uint8_t *bytes = event->data;
	uint32_t id;

	memcpy(&id, bytes, sizeof(id));
	for (uint32_t i = 4; i < event->len; i++)
		if (bytes[i] != (uint8_t)id)
			fail_msg("event %u: byte %u is %u", id, i, bytes[i]);
	return id;
}

static void expect_id(uint32_t id, uint64_t lost)
{
	struct ring_event event;

	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(id_of(&event), id);
	assert_int_equal(event.lost, lost);
}

static void expect_empty(void)
{
	struct ring_event event;

	assert_false(ring_buffer_consume(ring, 0, &event));
	assert_true(ring_buffer_empty_cpu(ring, 0));
	assert_true(ring_buffer_empty(ring));
}

static struct ring_stats stats(void)
{
	struct ring_stats out;

	ring_buffer_stats_cpu(ring, 0, &out);
	return out;
}

static void expect_sum(uint64_t committed)
{
	struct ring_stats now = stats();

	assert_int_equal(now.entries + now.overrun + now.read, committed);
}

static void test_new_is_empty(void **state)
{
	(void)state;
	expect_empty();
	expect_sum(0);
	assert_int_equal(stats().bytes, 0);
	assert_int_equal(ring_buffer_size(ring, 0), PAGES * SIZE);
	assert_int_equal(ring_buffer_size(ring, 1), 0);
}

static void test_one_event(void **state)
{
	struct ring_event event;
	uint64_t before = fake_clock;

	(void)state;
	assert_true(write_id(7, 16));
	assert_false(ring_buffer_empty(ring));
	assert_int_equal(stats().entries, 1);
	assert_int_equal(stats().bytes, 20);
	assert_true(ring_buffer_peek(ring, 0, &event));
	assert_int_equal(event.len, 16);
	assert_in_range(event.ts, before, fake_clock);
	assert_int_equal(stats().oldest_ts, event.ts);
	assert_int_equal(stats().entries, 1);
	expect_id(7, 0);
	expect_empty();
	assert_int_equal(stats().read, 1);
	assert_int_equal(stats().bytes, 0);
	expect_sum(1);
}

static void test_order_and_times(void **state)
{
	struct ring_event event;
	uint64_t last = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		assert_true(write_id(i, 4 + i % 40));
	for (uint32_t i = 0; i < 300; i++) {
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(id_of(&event), i);
		assert_int_equal(event.len, (4 + i % 40 + 3) & ~3u);
		if (i)
			assert_int_equal(event.ts - last, event.ts > last ? event.ts - last : 0);
		assert_true(event.ts > last);
		last = event.ts;
	}
	expect_empty();
}

/* Every length, so that the ends of sub-buffers are met at every offset. */
static void test_all_lengths(void **state)
{
	struct ring_event event;

	(void)state;
	for (uint32_t len = 4; len <= RING_MAX_PAYLOAD; len++) {
		assert_true(write_id(len, len));
		if (len % 2)
			assert_true(write_id(len + 1, 4 + len % 16));
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(id_of(&event), len);
		assert_int_equal(event.len, (len + 3) & ~3u);
		if (len % 2)
			expect_id(len + 1, 0);
		assert_int_equal(stats().bytes, 0);
	}
	assert_null(ring_buffer_lock_reserve(ring, RING_MAX_PAYLOAD + 1));
	assert_null(ring_buffer_lock_reserve(ring, SIZE_MAX));
	assert_true(ring_buffer_write(ring, &event, 0) == 0);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.len, 4);
	expect_empty();
}

static void test_overwrite_keeps_newest(void **state)
{
	const uint32_t per_page = ROOM / 20, nr = 10000;
	struct ring_event event;
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < nr; i++) {
		assert_true(write_id(i, 16));
		if (i % 97 == 0)
			expect_sum(i + 1);
	}
	assert_in_range(stats().entries, (PAGES - 1) * per_page, PAGES * per_page);
	assert_int_equal(stats().dropped, 0);
	assert_true(ring_buffer_consume(ring, 0, &event));
	id = id_of(&event);
	assert_int_equal(event.lost, id);
	assert_int_equal(stats().overrun, id);
	while (++id < nr)
		expect_id(id, 0);
	expect_empty();
	expect_sum(nr);
	assert_int_equal(stats().bytes, 0);
}

/* A reader that takes some events now and then: each is read once or counted as lost. */
static void test_reader_meets_overrun(void **state)
{
	struct ring_event event;
	uint64_t seen = 0, lost = 0;
	uint32_t next = 0;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < 50000; i++) {
		assert_true(write_id(i, 4 + (uint32_t)rand() % 60));
		if (rand() % 500 != 0)
			continue;
		for (int n = rand() % 400; n > 0 && ring_buffer_consume(ring, 0, &event); n--) {
			assert_int_equal(id_of(&event), next + event.lost);
			next = id_of(&event) + 1;
			lost += event.lost;
			seen++;
		}
		expect_sum(i + 1);
		assert_int_equal(stats().read, seen);
	}
	while (ring_buffer_consume(ring, 0, &event)) {
		seen++;
		lost += event.lost;
	}
	assert_int_equal(seen + lost, 50000);
	assert_int_equal(stats().overrun, lost);
	assert_int_equal(stats().read, seen);
}

static void test_drop_mode(void **state)
{
	uint32_t id = 0, kept, dropped = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (write_id(id, 16))
		id++;
	kept = id;
	assert_int_equal(kept, PAGES * (ROOM / 20));
	dropped++;
	/* Closed: nothing smaller may slip in behind the loss. */
	assert_false(write_id(9999, 4));
	dropped++;
	assert_int_equal(stats().dropped, dropped);
	assert_int_equal(stats().entries, kept);
	assert_int_equal(stats().overrun, 0);
	/* Part of the oldest sub-buffer is consumed, but all of it was taken: there is room. */
	expect_id(0, 0);
	assert_true(write_id(kept, 16));
	for (id = 1; id < kept; id++)
		expect_id(id, 0);
	expect_id(kept, dropped);
	expect_empty();
	expect_sum(kept + 1);
}

/* A full ring drops without looking, until something that may make room has happened. */
static void test_full_until_room(void **state)
{
	uint32_t id = 0, half = PAGES / 2 * (ROOM / 20);

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (write_id(id, 16))
		id++;
	for (int i = 0; i < 100; i++)
		assert_false(write_id(9999, i % 2 ? 4 : 400));
	assert_int_equal(stats().dropped, 101);
	assert_true(ring_buffer_record_is_on(ring, 0));
	assert_int_equal(ring_buffer_resize(ring, 2 * PAGES * SIZE, 0), 0);
	assert_true(write_id(id++, 16));
	while (write_id(id, 16))
		id++;
	assert_false(write_id(9999, 16));
	for (uint32_t i = 0; i < half; i++)
		expect_id(i, 0);
	assert_true(write_id(id++, 16));
	while (write_id(9999, 16))
		;
	assert_false(write_id(9999, 16));
	ring_buffer_record_off(ring);
	assert_false(write_id(9999, 16));
	id = (uint32_t)stats().dropped;
	ring_buffer_record_on(ring);
	assert_false(write_id(9999, 16));
	assert_int_equal(stats().dropped, id + 1);
	ring_buffer_reset(ring);
	assert_true(write_id(1, 16));
	expect_id(1, 0);
	expect_empty();
	assert_int_equal(stats().dropped, 0);
}

/* The last event left a gap that a smaller one would fit in: not behind a loss. */
static void test_drop_closes_subbuf(void **state)
{
	const uint32_t per_page = ROOM / 28;
	uint32_t id = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (write_id(id, 24))
		id++;
	assert_int_equal(id, PAGES * per_page);
	assert_false(write_id(9999, 4));
	assert_int_equal(stats().dropped, 2);
	assert_int_equal(stats().bytes, id * 28);
	for (uint32_t i = 0; i < per_page; i++)
		expect_id(i, 0);
	assert_true(write_id(id, 4));
	for (uint32_t i = per_page; i < id; i++)
		expect_id(i, 0);
	expect_id(id, 2);
	expect_empty();
}

/* The single questions give what the whole says. */
static void test_questions(void **state)
{
	struct ring_stats now;
	void *outer;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		write_id(i, 16);
	expect_id(stats().overrun, stats().overrun);
	outer = reserve_id(1000, 16);
	while (write_id(1001, 500))
		;
	ring_buffer_unlock_commit(ring, outer);
	ring_buffer_change_overwrite(ring, false);
	while (write_id(1002, 500))
		;
	now = stats();
	assert_true(now.overrun && now.dropped && now.commit_overrun && now.read && now.oldest_ts);
	assert_int_equal(ring_buffer_entries(ring), now.entries);
	assert_int_equal(ring_buffer_overruns(ring), now.overrun);
	assert_int_equal(ring_buffer_overrun_cpu(ring, 0), now.overrun);
	assert_int_equal(ring_buffer_commit_overrun_cpu(ring, 0), now.commit_overrun);
	assert_int_equal(ring_buffer_dropped_events_cpu(ring, 0), now.dropped);
	assert_int_equal(ring_buffer_read_events_cpu(ring, 0), 1);
	assert_int_equal(ring_buffer_oldest_event_ts(ring, 0), now.oldest_ts);
	assert_int_equal(ring_buffer_entries_cpu(ring, 7), 0);
	assert_int_equal(ring_buffer_subbuf_size(ring), SIZE);
	assert_int_equal(ring_buffer_write(ring, &now, sizeof(now)), -EBUSY);
}

static void test_switch_to_overwrite(void **state)
{
	uint32_t id = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (write_id(id, 16))
		id++;
	ring_buffer_change_overwrite(ring, true);
	assert_true(write_id(id, 16));
	assert_int_equal(stats().overrun, ROOM / 20);
	expect_id(ROOM / 20, ROOM / 20);
	expect_sum(id + 1);
}

static void test_time_jumps(void **state)
{
	static const uint64_t jumps[] = { (1ull << 27) - 1, 1ull << 27, (1ull << 27) + 1,
					  1ull << 40,	    1ull << 58, 5 };
	struct ring_event event;
	uint64_t expected;

	(void)state;
	fake_clock_step = 0;
	write_id(0, 8);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, fake_clock);
	expected = fake_clock;
	for (uint32_t i = 0; i < 6; i++) {
		fake_clock += jumps[i];
		write_id(i, 8);
		write_id(100 + i, 200);
	}
	for (uint32_t i = 0; i < 6; i++) {
		expected += jumps[i];
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(id_of(&event), i);
		assert_int_equal(event.ts, expected);
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(event.ts, expected);
	}
	expect_sum(13);
}

/* The largest delta that can be told, and one more: that takes a new sub-buffer. */
static void test_huge_time_jump(void **state)
{
	struct ring_event event;

	(void)state;
	fake_clock_step = 0;
	write_id(0, 8);
	fake_clock += 1ull << 59;
	write_id(1, 8);
	fake_clock += 1;
	write_id(2, 8);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, fake_clock - 1);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, fake_clock);
	expect_sum(3);
}

static void test_clock_goes_back(void **state)
{
	struct ring_event event;
	uint64_t high;

	(void)state;
	fake_clock_step = 0;
	high = fake_clock;
	write_id(0, 8);
	fake_clock -= 1000;
	write_id(1, 8);
	fake_clock = high + 3;
	write_id(2, 8);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(event.ts, i < 2 ? high : high + 3);
	}
}

/* Reading up to the middle of a sub-buffer, then on, keeps the times. */
static void test_times_over_partial_reads(void **state)
{
	struct ring_event event;

	(void)state;
	fake_clock_step = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		fake_clock += i * 3 + (i % 50 == 0 ? 1u << 28 : 0);
		write_id(i, 12);
		if (i % 3 == 0)
			write_id(i, 24);
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(event.ts, fake_clock);
		if (i % 3)
			continue;
		assert_int_equal(stats().oldest_ts, fake_clock);
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(event.ts, fake_clock);
	}
}

static uint64_t slow_clock(void)
{
	static uint64_t now;

	return ++now;
}

static void test_other_clock(void **state)
{
	struct ring_event event;

	(void)state;
	write_id(1, 8);
	ring_buffer_set_clock(ring, slow_clock);
	expect_empty();
	write_id(2, 8); /* reads it once more for the new sub-buffer */
	write_id(3, 8);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, 2);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, 3);
	assert_int_equal(ring_buffer_time_stamp(ring), 4);
	ring_buffer_set_clock(ring, NULL);
	write_id(4, 8);
	assert_true(ring_buffer_consume(ring, 0, &event));
	assert_int_equal(event.ts, fake_clock);
}

static void test_record_switches(void **state)
{
	(void)state;
	ring_buffer_record_disable(ring);
	ring_buffer_record_disable_cpu(ring, 0);
	assert_false(write_id(0, 8));
	assert_false(ring_buffer_record_is_on(ring, 0));
	ring_buffer_record_enable(ring);
	assert_false(write_id(0, 8));
	ring_buffer_record_enable_cpu(ring, 0);
	assert_true(write_id(1, 8));
	ring_buffer_record_off(ring);
	ring_buffer_record_off(ring);
	assert_false(write_id(0, 8));
	assert_false(ring_buffer_record_is_set_on(ring));
	ring_buffer_record_on(ring);
	ring_buffer_record_on(ring);
	assert_true(write_id(2, 8));
	assert_true(ring_buffer_record_is_on(ring, RING_BUFFER_ALL_CPUS));
	expect_id(1, 0);
	expect_id(2, 0);
	assert_int_equal(stats().dropped, 0);
}

static void test_discard_last(void **state)
{
	struct ring_event event;
	void *payload;

	(void)state;
	fake_clock_step = 0;
	for (uint32_t i = 0; i < 3000; i++) {
		fake_clock += i % 7 ? i : 1u << 28;
		payload = reserve_id(9, 4 + i % 300);
		assert_non_null(payload);
		ring_buffer_discard_commit(ring, payload, 4 + i % 300);
		assert_int_equal(stats().entries, 0);
		assert_true(ring_buffer_empty(ring));
		if (i % 5)
			continue;
		assert_true(write_id(i, 8));
		assert_true(ring_buffer_consume(ring, 0, &event));
		assert_int_equal(id_of(&event), i);
		assert_int_equal(event.ts, fake_clock);
	}
	expect_sum(600);
}

/* A nested event follows the one to be discarded, which becomes padding that no reader sees. */
static void test_discard_under_nested(void **state)
{
	struct ring_event event;
	uint64_t last = 0;
	void *payload;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		payload = reserve_id(1u << 30, 4 + i % 200);
		assert_true(write_id(2 * i, 8 + i % 50));
		ring_buffer_discard_commit(ring, payload, 4 + i % 200);
		assert_true(write_id(2 * i + 1, 8));
		assert_int_equal(stats().entries, 2);
		for (uint32_t j = 0; j < 2; j++) {
			assert_true(ring_buffer_consume(ring, 0, &event));
			assert_int_equal(id_of(&event), 2 * i + j);
			assert_int_equal(event.lost, 0);
			assert_true(event.ts > last);
			last = event.ts;
		}
	}
	expect_empty();
	expect_sum(4000);
}

/* The nested events of an open one fill sub-buffers behind it; then it is discarded. */
static void test_discard_behind_crossing(void **state)
{
	void *payload;

	(void)state;
	write_id(0, 8);
	payload = reserve_id(1u << 30, 8);
	for (uint32_t i = 1; i <= 500; i++)
		assert_true(write_id(i, 16));
	ring_buffer_discard_commit(ring, payload, 8);
	assert_int_equal(stats().entries, 501);
	for (uint32_t i = 0; i <= 500; i++)
		expect_id(i, 0);
	expect_empty();
	expect_sum(501);
}

static void test_nothing_visible_before_outer_commit(void **state)
{
	void *outer = reserve_id(0, 8), *inner;

	(void)state;
	inner = reserve_id(1, 8);
	write_id(2, 8);
	ring_buffer_unlock_commit(ring, inner);
	assert_true(ring_buffer_empty(ring));
	ring_buffer_unlock_commit(ring, outer);
	for (uint32_t i = 0; i < 3; i++)
		expect_id(i, 0);
	expect_empty();
}

/* An open event may not be overwritten by those nested in it. */
static void test_commit_overrun(void **state)
{
	void *outer;
	uint32_t nested = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		write_id(i, 16);
	outer = reserve_id(1000, 16);
	while (write_id(1001 + nested, 16))
		nested++;
	assert_false(write_id(9999, 4));
	ring_buffer_unlock_commit(ring, outer);
	assert_int_equal(stats().commit_overrun, 2);
	expect_sum(1001 + nested);
	assert_true(write_id(1001 + nested, 16));
	while (!ring_buffer_empty(ring)) {
		struct ring_event event;

		assert_true(ring_buffer_consume(ring, 0, &event));
		if (id_of(&event) == 1001 + nested)
			assert_int_equal(event.lost, 2);
	}
	expect_sum(1002 + nested);
}

static uint32_t irq_id;

static void irq_write(void)
{
	static uint32_t nr_reads;

	if (++nr_reads % 3)
		return; /* always would keep the interrupted writer from ever coming through */
	write_id(irq_id, 4 + irq_id % 24);
	irq_id++;
}

/* Interrupts write when the clock is read: between loading the tail and moving it. */
static void test_interrupts_at_clock(void **state)
{
	struct ring_event event;
	uint64_t last = 0;
	uint32_t nr = 0;

	(void)state;
	irq_id = 1;
	fake_clock_irq = irq_write;
	for (uint32_t i = 0; i < 2000; i++) {
		assert_true(write_id(0, 12));
		while (ring_buffer_consume(ring, 0, &event)) {
			id_of(&event);
			assert_true(event.ts > last);
			last = event.ts;
			nr++;
		}
	}
	fake_clock_irq = NULL;
	while (ring_buffer_consume(ring, 0, &event))
		nr++;
	assert_int_equal(nr, 2000 + irq_id - 1);
	assert_int_equal(stats().overrun, 0);
}

static void test_alloc_failures(void **state)
{
	struct ring_buffer *other;
	long budget = 0;

	(void)state;
	fake_set_nr_cpus(3);
	for (;; budget++) {
		long before = fake_alloc_out;

		fake_alloc_budget = budget;
		other = ring_buffer_alloc(100, 0);
		fake_alloc_budget = -1;
		if (other)
			break;
		assert_int_equal(fake_alloc_out, before);
	}
	assert_int_equal(budget, 10);
	assert_int_equal(ring_buffer_size(other, 2), 2 * SIZE);
	ring_buffer_free(other);
	assert_null(ring_buffer_alloc(0, 0));
	assert_null(ring_buffer_alloc(1ul << 40, 0));
}

static void test_is_filled(void **state)
{
	uint32_t id = 0;

	(void)state;
	assert_false(ring_buffer_is_filled(ring, 0, 0));
	write_id(id++, 16);
	assert_true(ring_buffer_is_filled(ring, 0, 0));
	assert_false(ring_buffer_is_filled(ring, 0, 50));
	assert_false(ring_buffer_is_filled(ring, 0, 100));
	while (stats().entries < ROOM / 20 + 1)
		write_id(id++, 16);
	assert_true(ring_buffer_is_filled(ring, 0, 33));
	assert_false(ring_buffer_is_filled(ring, 0, 34));
	while (stats().entries < 2 * (ROOM / 20) + 1)
		write_id(id++, 16);
	assert_true(ring_buffer_is_filled(ring, 0, 50));
	assert_true(ring_buffer_is_filled(ring, 0, 66));
	assert_false(ring_buffer_is_filled(ring, 0, 67));
	assert_false(ring_buffer_is_filled(ring, 0, 100));
	while (stats().entries < 3 * (ROOM / 20) + 1)
		write_id(id++, 16);
	assert_true(ring_buffer_is_filled(ring, 0, 100)); /* all but the one being written */
	while (stats().overrun == 0)
		write_id(id++, 16);
	assert_true(ring_buffer_is_filled(ring, 0, 100));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_new_is_empty),
		T(test_one_event),
		T(test_order_and_times),
		T(test_all_lengths),
		T(test_overwrite_keeps_newest),
		T(test_reader_meets_overrun),
		T(test_drop_mode),
		T(test_drop_closes_subbuf),
		T(test_full_until_room),
		T(test_questions),
		T(test_switch_to_overwrite),
		T(test_time_jumps),
		T(test_huge_time_jump),
		T(test_clock_goes_back),
		T(test_times_over_partial_reads),
		T(test_other_clock),
		T(test_record_switches),
		T(test_discard_last),
		T(test_discard_under_nested),
		T(test_discard_behind_crossing),
		T(test_nothing_visible_before_outer_commit),
		T(test_commit_overrun),
		T(test_interrupts_at_clock),
		T(test_alloc_failures),
		T(test_is_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
