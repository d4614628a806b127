/*
 * Ring buffer: one CPU writes, interrupts and all, while others consume, iterate, count, resize,
 * reset and exchange its ring; under TSan.
 *
 * links: trace/ring/ring_*.c
 */
#include "ring_help.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define WRITER 1u
#define NR_MS  250
#define MAX_MS 30000

static struct ring_buffer *ring;
static _Atomic bool stop;
static _Atomic uint64_t nr_written, nr_refused;

/* Exchanges are made where snapshots are taken: in the middle of whatever the CPU does. */
static struct ring_buffer *snap;
static _Atomic bool swap_wanted;
static _Atomic uint64_t nr_swaps;

static void swap_if_wanted(void)
{
	uint64_t flags;
	int err;

	if (!atomic_load(&swap_wanted))
		return;
	flags = trace_plat_irq_save();
	err = ring_buffer_swap_cpu(ring, snap, WRITER);
	trace_plat_irq_restore(flags);
	if (err == -EBUSY)
		return; /* we have interrupted a writer: the next time */
	if (!err)
		atomic_fetch_add(&nr_swaps, 1);
	atomic_store(&swap_wanted, false);
}

static void irq(void)
{
	static _Thread_local uint32_t nr;

	if (trace_plat_cpu_id() != WRITER)
		return;
	swap_if_wanted();
	if (++nr % 5)
		return;
	if (put(ring, (uint32_t)nr_written, 4 + nr % 40))
		nr_written++;
	else
		nr_refused++;
}

/* Ids are given in the order of the ring only without interrupts between: see is_ordered. */
static void *writer(void *arg)
{
	(void)arg;
	fake_bind(WRITER);
	while (!atomic_load(&stop)) {
		if (put(ring, (uint32_t)nr_written, 4 + nr_written % 60))
			nr_written++;
		else
			nr_refused++;
		if (nr_written % 1000 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	}
	return NULL;
}

static struct ring_stats last; /* that the looker saw */

static void start(uint32_t flags)
{
	fake_reset();
	fake_set_nr_cpus(4);
	fake_bind(0);
	atomic_store(&stop, false);
	last = (struct ring_stats){ 0 };
	nr_written = 0;
	nr_refused = 0;
	ring = ring_buffer_alloc(5 * SIZE, flags);
	assert_non_null(ring);
}

static uint32_t any_size(void)
{
	return (2 + (uint32_t)rand() % 9) * SIZE;
}

static bool is_resized; /* all the time */
static _Atomic uint64_t nr_seen;

/* On a busy machine a thread may not have run yet: then it goes on for a while longer. */
static bool is_time_over(uint64_t begin, bool has_enough)
{
	return has_enough ? unit_is_over(begin, NR_MS) : unit_now_ms() - begin >= MAX_MS;
}

static void wait_for_end(void)
{
	uint64_t begin = unit_now_ms();

	while (!is_time_over(begin, nr_seen > 2000 && (!is_resized || nr_refused))) {
		if (is_resized)
			ring_buffer_resize(ring, any_size(), RING_BUFFER_ALL_CPUS);
		else
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
}

static void finish(pthread_t *threads, size_t nr)
{
	wait_for_end();
	atomic_store(&stop, true);
	for (size_t i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(fake_nr_bugs, 0);
}

/* An event is good until the next exchange: as the instance's lock would. */
static pthread_mutex_t consume_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t nr_lost;
static uint32_t next_id;
static bool are_ids_dense; /* and times go on: no drops, no exchange in the game */

static bool consume_some(void)
{
	static uint64_t last_ts;
	struct ring_event event;
	bool any = false;

	if (!nr_seen)
		last_ts = 0;
	pthread_mutex_lock(&consume_lock);
	for (int i = 0; i < 50 && ring_buffer_consume(ring, WRITER, &event); i++) {
		uint32_t id = id_of(&event);

		if (are_ids_dense && id != next_id + event.lost)
			fail_msg("event %u after %u and %lu lost", id, next_id, event.lost);
		if (are_ids_dense && event.ts < last_ts)
			fail_msg("event %u: time goes back", id);
		last_ts = event.ts;
		next_id = id + 1;
		nr_seen++;
		nr_lost += event.lost;
		any = true;
	}
	pthread_mutex_unlock(&consume_lock);
	return any;
}

static void *consumer(void *arg)
{
	(void)arg;
	fake_bind(2);
	while (!atomic_load(&stop))
		consume_some();
	return NULL;
}

static bool is_emptied; /* or exchanged, now and then */

static void look_at_events(void)
{
	struct ring_iter *iter = ring_buffer_read_start(ring, WRITER);
	struct ring_event event;
	uint32_t next = 0, nr = 0;
	uint64_t ts = 0;

	for (; ring_buffer_iter_peek(iter, &event); ring_buffer_iter_advance(iter)) {
		uint32_t id = id_of(&event);

		if (are_ids_dense && nr && id != next + event.lost)
			fail_msg("iterator: %u after %u, %lu lost", id, next, event.lost);
		/* Whatever happened: never more than have been written. */
		if (event.lost > nr_written + nr_refused)
			fail_msg("iterator: %lu lost", event.lost);
		if (event.ts < ts)
			fail_msg("iterator: time goes back");
		ts = event.ts;
		next = id + 1;
		nr++;
	}
	ring_buffer_read_finish(iter);
}

/* Each event is counted once, at any moment, and none is counted back. */
static void look_at_stats(void)
{
	uint64_t written = nr_written, refused = nr_refused, committed;
	struct ring_stats now;

	ring_buffer_stats_cpu(ring, WRITER, &now);
	if (is_emptied)
		return;
	committed = now.read + now.entries + now.overrun;
	/* The writer counts when it comes back: one event may be on its way. */
	assert_in_range(committed, written, nr_written + 1);
	assert_in_range(now.dropped, refused, nr_refused + 1);
	assert_int_equal(now.commit_overrun, 0);
	/* With a reader's copy. */
	assert_in_range(now.entries, 0, (is_resized ? 12 : 6) * ROOM / 8);
	if (now.read < last.read || now.overrun < last.overrun || now.dropped < last.dropped)
		fail_msg("read %lu after %lu, overrun %lu after %lu, dropped %lu after %lu",
			 now.read, last.read, now.overrun, last.overrun, now.dropped, last.dropped);
	last = now;
}

static void *looker(void *arg)
{
	(void)arg;
	fake_bind(3);
	while (!atomic_load(&stop)) {
		look_at_events();
		for (int i = 0; i < 20; i++)
			look_at_stats();
		ring_buffer_is_filled(ring, WRITER, 50);
		ring_buffer_empty(ring);
	}
	return NULL;
}

static void run_consume(uint32_t flags)
{
	pthread_t threads[3];
	struct ring_stats stats;

	start(flags);
	nr_seen = 0;
	nr_lost = 0;
	next_id = 0;
	are_ids_dense = flags & RING_BUFFER_OVERWRITE && !is_resized;
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	pthread_create(&threads[2], NULL, looker, NULL);
	finish(threads, 3);
	while (consume_some())
		;
	stats = stats_of(ring, WRITER);
	print_message("%lu written, %lu read, %lu overrun, %lu dropped\n", (uint64_t)nr_written,
		      stats.read, stats.overrun, stats.dropped);
	assert_int_equal(stats.read, nr_seen);
	assert_int_equal(stats.read + stats.overrun, nr_written);
	assert_int_equal(stats.dropped, nr_refused);
	assert_int_equal(stats.entries, 0);
	assert_in_range(nr_seen, 1000, nr_written);
	if (is_resized)
		assert_true(stats.dropped > 0);
	else if (flags & RING_BUFFER_OVERWRITE)
		assert_int_equal(nr_lost, stats.overrun);
	else
		assert_int_equal(stats.overrun, 0);
	ring_buffer_free(ring);
	assert_int_equal(fake_alloc_out, 0);
}

static void test_consume_overwrite(void **state)
{
	(void)state;
	run_consume(RING_BUFFER_OVERWRITE);
}

static void test_consume_drop(void **state)
{
	(void)state;
	run_consume(0);
}

/* Events while the ring moves are dropped, and counted. */
static void test_consume_resized(void **state)
{
	(void)state;
	is_resized = true;
	run_consume(RING_BUFFER_OVERWRITE);
	is_resized = false;
}

/* Resize, reset, exchange, switch while everybody works. Refusals (-EBUSY) are fine. */
static void test_set_up_while_tracing(void **state)
{
	pthread_t threads[3];
	uint64_t nr = 0, nr_orders = 0;
	uint64_t begin = unit_now_ms();

	(void)state;
	start(RING_BUFFER_OVERWRITE);
	snap = ring_buffer_alloc_twin(ring);
	are_ids_dense = false;
	is_emptied = true;
	nr_seen = 0;
	fake_clock_irq = irq;
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	pthread_create(&threads[2], NULL, looker, NULL);
	srand(5);
	while (!is_time_over(begin,
			     nr > 20 && nr_swaps > 2 && nr_orders > 2 && nr_written > 1000)) {
		switch (rand() % 9) {
		case 0:
			ring_buffer_resize(ring, any_size(), RING_BUFFER_ALL_CPUS);
			break;
		case 1:
			ring_buffer_record_disable(ring);
			ring_buffer_record_enable(ring);
			break;
		case 2:
			ring_buffer_change_overwrite(ring, rand() % 2);
			break;
		case 3:
			ring_buffer_fit(snap);
			pthread_mutex_lock(&consume_lock);
			swap_wanted = true;
			while (swap_wanted)
				;
			pthread_mutex_unlock(&consume_lock);
			break;
		case 4:
			ring_buffer_record_off(ring);
			ring_buffer_record_on(ring);
			break;
		case 5:
			if (rand() % 8 == 0)
				ring_buffer_record_disable_cpu(ring, WRITER),
					ring_buffer_record_enable_cpu(ring, WRITER);
			break;
		case 6:
			pthread_mutex_lock(&consume_lock);
			if (!ring_buffer_subbuf_order_set(ring, rand() % 3))
				nr_orders++;
			pthread_mutex_unlock(&consume_lock);
			break;
		case 7:
			ring_buffer_reset(rand() % 2 ? ring : snap);
			break;
		case 8:
			ring_buffer_set_clock(ring, NULL);
			break;
		}
		nr++;
	}
	finish(threads, 3);
	fake_clock_irq = NULL;
	is_emptied = false;
	print_message("%lu changes, %lu of order, %lu exchanges, %lu written, %lu read\n", nr,
		      nr_orders, (uint64_t)nr_swaps, (uint64_t)nr_written, (uint64_t)nr_seen);
	assert_true(nr > 20);
	assert_true(nr_swaps > 2);
	assert_true(nr_orders > 2);
	assert_true(nr_written > 1000);
	assert_true(ring_buffer_record_is_on(ring, RING_BUFFER_ALL_CPUS));
	ring_buffer_free(ring);
	assert_int_equal(fake_alloc_out, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consume_overwrite),
		cmocka_unit_test(test_consume_drop),
		cmocka_unit_test(test_consume_resized),
		cmocka_unit_test(test_set_up_while_tracing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
