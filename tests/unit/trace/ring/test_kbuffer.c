/*
 * Raw pages of the ring buffer, read by libtraceevent's kbuffer: it and our own iterator must see
 * the same events at the same times, and the same losses. Built where libtraceevent is installed.
 *
 * links: trace/ring/ring_*.c
 */
#include "ring_help.h"
#include <traceevent/kbuffer.h>

static struct ring_buffer *ring;
static struct kbuffer *kbuf;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	ring = ring_buffer_alloc(6 * SIZE, RING_BUFFER_OVERWRITE);
	kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	return ring && kbuf ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kbuffer_free(kbuf);
	ring_buffer_free(ring);
	return fake_alloc_out ? -1 : 0;
}

/* Some events: short and long, late ones, and discarded ones with another nested in them. */
static uint32_t write_some(uint32_t id)
{
	for (int n = rand() % 900; n > 0; n--) {
		uint32_t longest = (uint32_t)ring_buffer_max_event_size(ring) / 7;
		uint32_t len = 4 + (uint32_t)rand() % (rand() % 30 ? 60 : longest);
		void *payload;

		if (rand() % 60 == 0)
			fake_clock += 1ull << (26 + rand() % 20);
		if (rand() % 20) {
			assert_true(put(ring, id++, len));
			continue;
		}
		payload = ring_buffer_lock_reserve(ring, len);
		if (rand() % 2)
			assert_true(put(ring, id++, 8));
		ring_buffer_discard_commit(ring, payload, len);
	}
	return id;
}

/* Every event of `page` must be the next of `iter`. */
static void compare_page(struct ring_page *page, struct ring_iter *iter)
{
	struct ring_event event;
	unsigned long long ts;
	void *data;

	assert_int_equal(kbuffer_load_subbuffer(kbuf, page), 0);
	assert_true(ring_buffer_iter_peek(iter, &event));
	if (!event.lost)
		assert_int_equal(kbuffer_missed_events(kbuf), 0);
	else if (page->commit & RING_PAGE_MISSED_STORED)
		assert_int_equal(kbuffer_missed_events(kbuf), event.lost);
	else
		assert_int_equal(kbuffer_missed_events(kbuf), -1);
	for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts)) {
		assert_true(ring_buffer_iter_peek(iter, &event));
		assert_int_equal(ts, event.ts);
		assert_int_equal(kbuffer_event_size(kbuf), event.len);
		assert_memory_equal(data, event.data, event.len);
		ring_buffer_iter_advance(iter);
	}
}

static void test_kbuffer_agrees(void **state)
{
	static _Alignas(8) uint8_t memory[SIZE << RING_SUBBUF_MAX_ORDER];
	struct ring_page *page = (struct ring_page *)(void *)memory;
	struct ring_event event;
	struct ring_iter *iter;
	uint64_t nr_pages = 0, nr_overrun = 0;
	uint32_t id = 0;

	(void)state;
	srand(17);
	for (uint32_t round = 0; round < 300; round++) {
		int order = round < 200 ? 0 : (int)round % (RING_SUBBUF_MAX_ORDER + 1);

		nr_overrun += stats_of(ring, 0).overrun;
		assert_int_equal(ring_buffer_subbuf_order_set(ring, order), 0);
		id = write_some(id);
		iter = ring_buffer_read_start(ring, 0);
		while (ring_buffer_read_page(ring, 0, false, page) == 0) {
			compare_page(page, iter);
			nr_pages++;
		}
		assert_false(ring_buffer_iter_peek(iter, &event));
		ring_buffer_read_finish(iter);
	}
	assert_true(nr_pages > 1000);
	assert_true(nr_overrun > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kbuffer_agrees, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
