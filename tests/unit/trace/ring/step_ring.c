/*
 * Ring buffer: an interrupt before every single instruction of writing, reading, crossing,
 * wrapping, dropping and discarding, compiled as in the kernel. After each run every event must be
 * accounted for: read once, with its payload whole and in the order of times, or counted as lost.
 *
 * links: trace/ring/ring_*.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fast.h"
#include "ring/ring_private.h"

#define SIZE	  4096u
#define ROOM	  (SIZE - 16u)
#define MAX_IDS	  8192u
#define MAX_INSNS 4096u
#define BIG_TRASH 0xdeadbeefu

/* Of the pairs of instructions, one of so many is run: never the same ones for two neighbours. `make soak` runs all. */
#ifndef PAIR_STRIDE
#define PAIR_STRIDE 17u
#endif

static struct ring_buffer *ring;

/* The work of the writers. */
static uint64_t nr_ids;		/* ids handed out */
static bool committed[MAX_IDS]; /* by id */
static uint64_t nr_committed, nr_refused;
static volatile uint64_t nr_trying; /* writers on their way: may have been refused already */
/* By id: time and refusals before and after its reservation. */
static uint64_t ts_before[MAX_IDS], ts_after[MAX_IDS];
static uint64_t refused_before[MAX_IDS], refused_after[MAX_IDS];

/* The events that the readers saw. */
static bool seen[MAX_IDS];
static uint64_t lost_at[MAX_IDS]; /* by id: losses told before it */
static uint64_t nr_seen, lost_seen, last_ts;
static bool is_lost_unknown;

/* One instruction: interrupts count, too. */
static uint64_t one_more(uint64_t *value)
{
	return __atomic_fetch_add(value, 1, __ATOMIC_RELAXED);
}

/* Few steps for long events. */
static uint32_t stride_of(uint32_t len)
{
	return len / 64 + 1;
}

static void check_event(const struct ring_event *event)
{
	const uint32_t *words = event->data;

	if (words[0] >= MAX_IDS || !committed[words[0]])
		fail_msg("event %#x was never committed", words[0]);
	if (seen[words[0]])
		fail_msg("event %u is there twice", words[0]);
	for (uint32_t i = 0; i < event->len / 4; i += stride_of(event->len))
		if (words[i] != words[0])
			fail_msg("event %u is damaged", words[0]);
	if (event->ts < last_ts)
		fail_msg("event %u: time goes back by %lu", words[0], last_ts - event->ts);
	if (event->ts < ts_before[words[0]] || event->ts > ts_after[words[0]])
		fail_msg("event %u: time %ld before, %ld after it was written", words[0],
			 (long)(ts_before[words[0]] - event->ts),
			 (long)(event->ts - ts_after[words[0]]));
	seen[words[0]] = true;
	last_ts = event->ts;
	lost_seen += event->lost;
	lost_at[words[0]] = lost_seen;
	nr_seen++;
}

static bool read_one(void)
{
	struct ring_event event;

	if (!ring_buffer_consume(ring, 0, &event))
		return false;
	check_event(&event);
	return true;
}

/* The id is marked before the commit: from there on a reader may see it. */
static void write_len(uint32_t len)
{
	uint64_t before = trace_plat_clock_ns(), refused = nr_refused, interrupted = nr_trying;
	uint32_t *words, id;

	nr_trying = interrupted + 1;
	words = ring_buffer_lock_reserve(ring, len);
	if (!words) {
		one_more(&nr_refused);
		nr_trying = interrupted;
		return;
	}
	id = (uint32_t)one_more(&nr_ids);
	ts_before[id] = before;
	ts_after[id] = trace_plat_clock_ns();
	refused_before[id] = refused;
	refused_after[id] = nr_refused + interrupted;
	for (uint32_t i = 0; i < (len + 3) / 4; i += stride_of(len))
		words[i] = id;
	committed[id] = true;
	one_more(&nr_committed);
	ring_buffer_unlock_commit(ring, words);
	nr_trying = interrupted;
}

static void start(uint32_t slots, bool overwrite)
{
	ring = ring_buffer_alloc(slots * SIZE, overwrite ? RING_BUFFER_OVERWRITE : 0);
	nr_ids = 0;
	nr_committed = 0;
	nr_refused = 0;
	nr_seen = 0;
	lost_seen = 0;
	last_ts = 0;
	is_lost_unknown = false;
	memset(committed, 0, sizeof(committed));
	memset(seen, 0, sizeof(seen));
	write_len(4); /* the first sub-buffer and its time */
}

/* Bytes left in the sub-buffer of the tail. */
static uint32_t room_left(void)
{
	return -(uint32_t)ring->cpu[0]->tail.lo & (SIZE - 1);
}

/* Write until `left` bytes are left, or less than an event more. */
static void fill_up_to(uint32_t left)
{
	uint64_t refused = nr_refused;

	while (room_left() > left + 200 && nr_refused == refused)
		write_len(100);
	while (room_left() > left + 16 && nr_refused == refused)
		write_len(4);
	if (room_left() >= left + 8 && nr_refused == refused)
		write_len(room_left() - left - 4);
}

/* Losses are told where they happened. With overrun among them we could not say. */
static void check_loss_places(void)
{
	for (uint32_t id = 0; id < nr_ids; id++)
		if (seen[id] &&
		    (lost_at[id] < refused_before[id] || lost_at[id] > refused_after[id]))
			fail_msg("event %u: %lu losses told, not %lu to %lu", id, lost_at[id],
				 refused_before[id], refused_after[id]);
}

/* The counters as a look found them while an interrupt was on its way, and before that. */
static struct ring_stats before, looked;
static bool has_looked;

/* Either is right: what there was before the interrupt, or after it. Nothing in between. */
static void check_look(const struct ring_stats *after)
{
	const struct ring_stats *moment =
		looked.overrun == before.overrun && looked.entries == before.entries ? &before
										     : after;

	assert_int_equal(looked.entries, moment->entries);
	assert_int_equal(looked.overrun, moment->overrun);
	assert_int_equal(looked.read, before.read);
	assert_in_range(looked.bytes, 0, 5 * ROOM); /* exact without writers, and never absurd */
	has_looked = false;
}

/* All is taken: there is room in drop mode, too, however full the ring was found. */
static void check_room(void)
{
	uint64_t refused = nr_refused;

	write_len(4);
	assert_int_equal(nr_refused, refused);
}

static void finish(void)
{
	struct ring_stats stats;
	uint64_t lost;

	ring_buffer_stats_cpu(ring, 0, &stats);
	if (has_looked)
		check_look(&stats);
	assert_int_equal(stats.entries + stats.overrun + stats.read, nr_committed);
	assert_int_equal(stats.dropped + stats.commit_overrun, nr_refused);
	assert_int_equal(ring->cpu[0]->tail.lo, ring->cpu[0]->commit);
	if (ring_buffer_empty(ring))
		check_room(); /* a reader that waits for events does not look */
	while (read_one())
		;
	check_room();
	/* One more, in a sub-buffer of its own, so that losses at the end are told. */
	ring_buffer_change_overwrite(ring, true);
	fill_up_to(0);
	write_len(4);
	while (read_one())
		;
	ring_buffer_stats_cpu(ring, 0, &stats);
	lost = stats.overrun + stats.dropped + stats.commit_overrun;
	if (!is_lost_unknown)
		assert_int_equal(lost_seen, lost);
	assert_int_equal(nr_seen + stats.overrun, nr_committed);
	assert_int_equal(stats.entries, 0);
	assert_int_equal(stats.bytes, 0);
	if (stats.overrun == 0)
		check_loss_places();
	assert_int_equal(fast_nr_bugs, 0);
	ring_buffer_free(ring);
	assert_int_equal(fast_alloc_out, 0);
	assert_int_equal(fast_cpu.preempt_count, PREEMPT_INITIAL);
}

/* ---- Scenes: how the ring stands ---- */

static void scene_middle(void)
{
	start(4, true);
}

static void scene_exact(void)
{
	start(4, true);
	fill_up_to(20);
}

static void scene_cross(void)
{
	start(4, true);
	fill_up_to(12);
}

static void scene_full_cross(void)
{
	start(4, true);
	fill_up_to(0);
	write_len(100);
}

static void scene_wrap(void)
{
	start(2, true);
	for (int i = 0; i < 5; i++) {
		fill_up_to(0);
		write_len(100);
	}
	fill_up_to(12);
}

static void scene_drop(void)
{
	start(2, false);
	fill_up_to(0);
	write_len(100);
	fill_up_to(12);
}

/* Full, and the ring knows. */
static void scene_full(void)
{
	scene_drop();
	while (nr_refused == 0)
		write_len(16);
}

/* Full, but the reader has taken the older sub-buffer: there is room. */
static void scene_drop_room(void)
{
	scene_drop();
	write_len(16);
	while (read_one())
		;
	fill_up_to(12);
}

static void scene_late(void)
{
	start(4, true);
	fast_cpu.tsc_base -= 1ull << 30;
}

static void scene_late_at_end(void)
{
	start(4, true);
	fill_up_to(24);
	fast_cpu.tsc_base -= 1ull << 30;
}

static void scene_two_pages_unread(void)
{
	start(3, true);
	for (int i = 0; i < 4; i++) {
		fill_up_to(0);
		write_len(100);
	}
	read_one();
}

static void scene_counted(void)
{
	scene_two_pages_unread();
	ring_buffer_stats_cpu(ring, 0, &before);
}

/* The reader stands in the middle of the open sub-buffer. */
static void scene_counted_half_read(void)
{
	start(2, true);
	fill_up_to(2000);
	while (read_one())
		;
	write_len(16);
	ring_buffer_stats_cpu(ring, 0, &before);
}

/* A reset leaves empty sub-buffers behind. */
static void scene_counted_after_reset(void)
{
	scene_wrap();
	nr_committed = 0;
	ring_buffer_reset(ring);
	write_len(16);
	ring_buffer_stats_cpu(ring, 0, &before);
}

/* ---- Operations, of the outer one or of an interrupt ---- */

static void op_write(void *arg)
{
	(void)arg;
	write_len(16);
}

static void op_write_long(void *arg)
{
	(void)arg;
	write_len(400);
}

static void op_write_most(void *arg)
{
	(void)arg;
	write_len(RING_MAX_PAYLOAD);
}

static void op_discard(void *arg)
{
	uint64_t interrupted = nr_trying;
	uint32_t *words;

	(void)arg;
	nr_trying = interrupted + 1;
	words = ring_buffer_lock_reserve(ring, 16);
	if (words) {
		for (uint32_t i = 0; i < 4; i++)
			words[i] = BIG_TRASH;
		ring_buffer_discard_commit(ring, words, 16);
	} else {
		one_more(&nr_refused);
	}
	nr_trying = interrupted;
}

static void op_read(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		read_one();
}

static void op_read_page(void *arg)
{
	static _Alignas(8) uint8_t memory[SIZE];
	struct ring_page *page = (struct ring_page *)(void *)memory;
	struct ring_chunk chunk = { .data = page->data, .left = ~0u };
	struct ring_event event;

	(void)arg;
	if (ring_buffer_read_page(ring, 0, false, page) != 0)
		return;
	chunk.ts = page->time_stamp;
	chunk.end = (uint32_t)(page->commit & RING_PAGE_LEN_MASK);
	if (page->commit & RING_PAGE_MISSED_STORED)
		memcpy(&chunk.lost, page->data + chunk.end, sizeof(chunk.lost));
	else if (page->commit & RING_PAGE_MISSED_EVENTS)
		is_lost_unknown = true; /* no room in the page for the count */
	while (trace_ring_decode(&chunk, &event)) {
		check_event(&event);
		trace_ring_skip(&chunk, &event);
	}
}

/* Iterators and statistics tell the truth at any moment. */
static void op_look(void *arg)
{
	struct ring_iter *dump = ring_buffer_dump_start(ring, 0);
	struct ring_event event;
	struct ring_stats stats;
	uint64_t ts = 0;

	(void)arg;
	ring_buffer_stats_cpu(ring, 0, &stats);
	if (stats.entries + stats.overrun + stats.read > nr_committed)
		fail_msg("more events than were written");
	while (ring_buffer_iter_peek(dump, &event)) {
		const uint32_t *words = event.data;

		if (words[0] >= MAX_IDS || !committed[words[0]] || event.ts < ts)
			fail_msg("iterator: bad event");
		ts = event.ts;
		ring_buffer_iter_advance(dump);
	}
	ring_buffer_empty(ring);
	ring_buffer_is_filled(ring, 0, 50);
}

static void op_count(void *arg)
{
	(void)arg;
	ring_buffer_stats_cpu(ring, 0, &looked);
	has_looked = true;
}

/* ---- Interrupts ---- */

static void irq_write(void)
{
	write_len(16);
}

static void irq_write_small(void)
{
	write_len(4);
}

static void irq_discard(void)
{
	op_discard(NULL);
}

static void irq_write_discard_write(void)
{
	write_len(8);
	op_discard(NULL);
	write_len(8);
}

static void irq_page(void)
{
	fill_up_to(0);
	write_len(12);
}

/* More than fits: laps the ring, meets the open event. */
static void irq_lap(void)
{
	for (int i = 0; i < 14; i++)
		write_len(1000);
}

static void irq_read(void)
{
	while (read_one())
		;
}

static void irq_read_and_write(void)
{
	write_len(16);
	irq_read();
	write_len(16);
}

static void irq_look(void)
{
	op_look(NULL);
}

static void irq_late(void)
{
	fast_cpu.tsc_base -= 1ull << 28;
	write_len(16);
}

struct scene {
	void (*set)(void);
	void (*op)(void *arg);
	const char *name;
};
#define SCENE(set, op)                                                                             \
	{                                                                                          \
		set, op, #set " " #op                                                              \
	}
static const struct scene scenes[] = {
	SCENE(scene_middle, op_write),	      SCENE(scene_middle, op_write_long),
	SCENE(scene_middle, op_discard),      SCENE(scene_exact, op_write),
	SCENE(scene_exact, op_discard),	      SCENE(scene_cross, op_write),
	SCENE(scene_cross, op_discard),	      SCENE(scene_cross, op_write_most),
	SCENE(scene_full_cross, op_write),    SCENE(scene_wrap, op_write),
	SCENE(scene_wrap, op_write_most),     SCENE(scene_wrap, op_discard),
	SCENE(scene_drop, op_write),	      SCENE(scene_drop_room, op_write),
	SCENE(scene_full, op_write),	      SCENE(scene_full, op_discard),
	SCENE(scene_late, op_write),	      SCENE(scene_late, op_write_long),
	SCENE(scene_late, op_discard),	      SCENE(scene_late_at_end, op_write),
	SCENE(scene_late_at_end, op_discard), SCENE(scene_two_pages_unread, op_write_most),
};
static const struct scene read_scenes[] = {
	SCENE(scene_middle, op_read),
	SCENE(scene_wrap, op_read),
	SCENE(scene_two_pages_unread, op_read),
	SCENE(scene_drop, op_read),
	SCENE(scene_full, op_read),
	SCENE(scene_full, op_read_page),
	SCENE(scene_middle, op_read_page),
	SCENE(scene_wrap, op_read_page),
	SCENE(scene_two_pages_unread, op_look),
	SCENE(scene_counted, op_count),
	SCENE(scene_counted_after_reset, op_count),
	SCENE(scene_counted_half_read, op_count),
};
static void (*const irqs[])(void) = {
	irq_write, irq_write_small, irq_discard, irq_write_discard_write,
	irq_page,  irq_lap,	    irq_read,	 irq_read_and_write,
	irq_look,  irq_late,
};
static const struct scene nested_scene = SCENE(scene_wrap, op_write);
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t nr_runs;

/* Run `scene` once with `irq` before `insn`. */
static void run(const struct scene *scene, uint8_t *insn, void (*irq)(void))
{
	const struct fast_point point = { insn, irq };

	scene->set();
	if (!fast_run_at(scene->op, NULL, &point, 1))
		irq();
	finish();
	nr_runs++;
}

/* The instructions that `scene` executes when nothing interrupts it. */
static size_t insns_of(const struct scene *scene, uint8_t **out_insns)
{
	size_t nr;

	scene->set();
	fast_trace(scene->op, NULL, out_insns, MAX_INSNS, &nr);
	finish();
	assert_in_range(nr, 10, MAX_INSNS - 1);
	return nr;
}

static void test_interrupt_everywhere(void **state)
{
	static uint8_t *insns[MAX_INSNS];

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(scenes); s++) {
		size_t nr = insns_of(&scenes[s], insns);

		for (size_t i = 0; i < nr; i++)
			for (size_t q = 0; q < NR(irqs); q++)
				run(&scenes[s], insns[i], irqs[q]);
	}
	print_message("%lu runs\n", nr_runs);
}

/* With room in the ring no event is refused because an interrupt crossed first. */
static void test_crossing_refuses_nothing(void **state)
{
	static void (*const writers[])(void) = { irq_write, irq_write_small, irq_page };
	static const struct scene crossing = SCENE(scene_cross, op_write);
	static uint8_t *insns[MAX_INSNS];
	size_t nr = insns_of(&crossing, insns);

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		for (size_t q = 0; q < NR(writers); q++) {
			const struct fast_point point = { insns[i], writers[q] };

			crossing.set();
			fast_run_at(crossing.op, NULL, &point, 1);
			assert_int_equal(nr_refused, 0);
			finish();
		}
	}
}

/* Readers, whose writer goes on meanwhile. */
static void test_writer_everywhere_in_reader(void **state)
{
	static void (*const writers[])(void) = { irq_write, irq_page, irq_lap, irq_discard };
	static uint8_t *insns[MAX_INSNS];

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(read_scenes); s++) {
		size_t nr = insns_of(&read_scenes[s], insns);

		for (size_t i = 0; i < nr; i++)
			for (size_t q = 0; q < NR(writers); q++)
				run(&read_scenes[s], insns[i], writers[q]);
	}
	print_message("%lu runs\n", nr_runs);
}

/* ---- A ring that is emptied under an iterator ---- */

static struct ring_iter *iter;
static bool was_emptied;
static uint32_t first_new; /* id */
static uint32_t next_id;   /* that the iterator is to show */
static bool has_shown, has_shown_new;

static void scene_iterated(void)
{
	scene_two_pages_unread();
	was_emptied = false;
	has_shown = false;
	has_shown_new = false;
	iter = ring_buffer_read_start(ring, 0);
}

/* Show one event: the next of the old ones, or of those that came when the ring was empty. */
static bool iterate_one(void)
{
	struct ring_event event;
	uint32_t id;

	if (!ring_buffer_iter_peek(iter, &event))
		return false;
	id = *(const uint32_t *)event.data;
	if (was_emptied && id >= first_new && !has_shown_new) {
		assert_int_equal(event.lost, 0);
		next_id = id;
		has_shown_new = true;
	}
	if (has_shown && id != next_id + event.lost)
		fail_msg("iterator: %u after %u, %lu lost", id, next_id, event.lost);
	next_id = id + 1;
	has_shown = true;
	ring_buffer_iter_advance(iter);
	return true;
}

static void scene_iterated_for_a_while(void)
{
	scene_iterated();
	for (int i = 0; i < 50; i++)
		iterate_one();
}

static void scene_iterated_to_the_end(void)
{
	scene_iterated();
	while (iterate_one())
		;
}

static void op_iterate(void *arg)
{
	(void)arg;
	while (iterate_one())
		;
	ring_buffer_read_finish(iter);
	iter = NULL;
}

static void empty(void)
{
	ring_buffer_reset(ring);
	nr_committed = 0;
	nr_seen = 0;
	lost_seen = 0;
	memset(seen, 0, sizeof(seen));
	first_new = (uint32_t)nr_ids;
	was_emptied = true;
}

/* Another thread empties the ring; whoever has its lock goes first. */
static void irq_empty(void)
{
	if (ring->cpu[0]->lock.opaque[0])
		return;
	empty();
	write_len(16);
	write_len(16);
}

static void irq_empty_and_lap(void)
{
	if (ring->cpu[0]->lock.opaque[0])
		return;
	empty();
	irq_lap();
}

static void test_emptied_everywhere_in_iterator(void **state)
{
	static const struct scene iterated[] = {
		SCENE(scene_iterated, op_iterate),
		SCENE(scene_iterated_for_a_while, op_iterate),
		SCENE(scene_iterated_to_the_end, op_iterate),
	};
	static uint8_t *insns[MAX_INSNS];

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(iterated); s++) {
		size_t nr = insns_of(&iterated[s], insns);

		for (size_t i = 0; i < nr; i++) {
			run(&iterated[s], insns[i], irq_empty);
			run(&iterated[s], insns[i], irq_empty_and_lap);
		}
	}
	print_message("%lu runs\n", nr_runs);
}

static void op_empty(void *arg)
{
	empty();
	op_iterate(arg);
}

/* An iterator elsewhere goes on, until it has to wait for the end of the reset. */
static void irq_iterate(void)
{
	while (iter && !trace_ring_is_outdated(iter->rc, &iter->cursor) && iterate_one())
		;
}

static void test_iterator_everywhere_in_reset(void **state)
{
	static const struct scene emptied[] = {
		SCENE(scene_iterated, op_empty),
		SCENE(scene_iterated_for_a_while, op_empty),
	};
	static uint8_t *insns[MAX_INSNS];

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(emptied); s++) {
		size_t nr = insns_of(&emptied[s], insns);

		for (size_t i = 0; i < nr; i++)
			run(&emptied[s], insns[i], irq_iterate);
	}
	print_message("%lu runs\n", nr_runs);
}

/* ---- The switch of recording against an exchange of twins ---- */

static struct ring_buffer *twin;

static void scene_on(void)
{
	start(4, true);
	twin = ring_buffer_alloc_twin(ring);
	assert_int_equal(ring_buffer_fit(twin), 0);
}

static void scene_off(void)
{
	scene_on();
	ring_buffer_record_off(ring);
}

static void op_off(void *arg)
{
	(void)arg;
	ring_buffer_record_off(ring);
}

static void op_on(void *arg)
{
	(void)arg;
	ring_buffer_record_on(ring);
}

static void op_swap(void *arg)
{
	(void)arg;
	ring_buffer_swap_cpu(ring, twin, 0);
}

static void irq_swap(void)
{
	op_swap(NULL);
}

static void irq_off(void)
{
	op_off(NULL);
}

static void irq_on(void)
{
	op_on(NULL);
}

static bool records(struct ring_buffer *buffer)
{
	void *payload = ring_buffer_lock_reserve(buffer, 8);

	if (payload)
		ring_buffer_unlock_commit(buffer, payload);
	return payload;
}

/* Both rings, wherever they are now, know what was switched last. */
static void finish_twins(void)
{
	bool is_on = ring_buffer_record_is_set_on(ring);

	assert_int_equal(records(ring), is_on);
	assert_int_equal(records(twin), is_on);
	assert_int_equal(ring_buffer_swap_cpu(ring, twin, 0), 0);
	assert_int_equal(records(ring), is_on);
	ring_buffer_free(ring);
	assert_int_equal(fast_alloc_out, 0);
}

static void test_switch_everywhere_in_swap(void **state)
{
	static const struct {
		struct scene scene;
		void (*irq)(void);
		bool is_on; /* then */
	} races[] = {
		{ SCENE(scene_on, op_off), irq_swap, false },
		{ SCENE(scene_off, op_on), irq_swap, true },
		{ SCENE(scene_on, op_swap), irq_off, false },
		{ SCENE(scene_off, op_swap), irq_on, true },
	};
	static uint8_t *insns[MAX_INSNS];
	size_t nr;

	(void)state;
	nr_runs = 0;
	for (size_t r = 0; r < NR(races); r++) {
		races[r].scene.set();
		fast_trace(races[r].scene.op, NULL, insns, MAX_INSNS, &nr);
		finish_twins();
		for (size_t i = 0; i < nr; i++, nr_runs++) {
			const struct fast_point point = { insns[i], races[r].irq };

			races[r].scene.set();
			if (!fast_run_at(races[r].scene.op, NULL, &point, 1))
				races[r].irq();
			assert_int_equal(ring_buffer_record_is_set_on(ring), races[r].is_on);
			finish_twins();
		}
	}
	print_message("%lu runs\n", nr_runs);
}

static size_t pair_stride(void)
{
	return unit_rounds(1) > 1 ? 1 : PAIR_STRIDE;
}

static uint8_t *inner_insn;
static void (*inner_irq)(void);

/* An interrupt that is itself interrupted. */
static void irq_nested(void)
{
	const struct fast_point point = { inner_insn, inner_irq };

	fast_run_at(op_write, NULL, &point, 1);
}

static void test_interrupt_in_interrupt(void **state)
{
	static void (*const inner[])(void) = { irq_write, irq_page, irq_read_and_write,
					       irq_discard };
	static uint8_t *outer_insns[MAX_INSNS], *inner_insns[MAX_INSNS];
	size_t nr_outer, nr_inner, stride = pair_stride();

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(scenes); s++) {
		nr_outer = insns_of(&scenes[s], outer_insns);
		/* Where the inner one takes the longest way. */
		nr_inner = insns_of(&nested_scene, inner_insns);
		for (size_t i = 0; i < nr_outer; i++) {
			for (size_t j = i % stride; j < nr_inner; j += stride) {
				inner_insn = inner_insns[j];
				inner_irq = inner[(i + j) % NR(inner)];
				run(&scenes[s], outer_insns[i], irq_nested);
			}
		}
	}
	print_message("%lu runs\n", nr_runs);
}

/* One interrupt after the other: what the first one changed may mislead us at the second. */
static void test_two_interrupts(void **state)
{
	static void (*const pairs[][2])(void) = {
		{ irq_write, irq_write },  { irq_discard, irq_write }, { irq_page, irq_discard },
		{ irq_lap, irq_write },	   { irq_read, irq_lap },      { irq_write, irq_read },
		{ irq_discard, irq_page }, { irq_late, irq_late },
	};
	static uint8_t *insns[MAX_INSNS];
	size_t n = 0, stride = pair_stride();

	(void)state;
	nr_runs = 0;
	for (size_t s = 0; s < NR(scenes); s++) {
		size_t nr = insns_of(&scenes[s], insns);

		for (size_t i = 0; i < nr; i++) {
			for (size_t j = i + 1 + i % stride; j < nr; j += stride, n++) {
				struct fast_point points[2] = {
					{ insns[i], pairs[n % NR(pairs)][0] },
					{ insns[j], pairs[n % NR(pairs)][1] }
				};

				scenes[s].set();
				fast_run_at(scenes[s].op, NULL, points, 2);
				finish();
				nr_runs++;
			}
		}
	}
	print_message("%lu runs\n", nr_runs);
}

static void reserve_16_commit(void *arg)
{
	uint64_t *payload = ring_buffer_lock_reserve(ring, 16);

	(void)arg;
	payload[0] = 1;
	payload[1] = 2;
	ring_buffer_unlock_commit(ring, payload);
}

static void inline_16_commit(void *arg)
{
	struct trace_ring_cpu *rc = arg;
	uint64_t *payload = trace_ring_reserve(rc, 16);

	payload[0] = 1;
	payload[1] = 2;
	trace_ring_commit(rc, payload);
}

static void nothing(void *arg)
{
	(void)arg;
}

/* The budget of the bench: 60 instructions for the pair of calls and the payload. */
static void test_instruction_count(void **state)
{
	uint64_t empty, calls, inlined;
	uint8_t *insn;
	size_t nr;

	(void)state;
	start(4, true);
	empty = fast_trace(nothing, NULL, &insn, 1, &nr);
	calls = fast_trace(reserve_16_commit, NULL, &insn, 1, &nr) - empty;
	inlined = fast_trace(inline_16_commit, ring->cpu[0], &insn, 1, &nr) - empty;
	ring_buffer_free(ring);
	print_message("16 bytes: %lu instructions by calls, %lu inline\n", calls, inlined);
	assert_in_range(calls, 20, 60);
	assert_in_range(inlined, 20, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instruction_count),
		cmocka_unit_test(test_interrupt_everywhere),
		cmocka_unit_test(test_crossing_refuses_nothing),
		cmocka_unit_test(test_writer_everywhere_in_reader),
		cmocka_unit_test(test_emptied_everywhere_in_iterator),
		cmocka_unit_test(test_iterator_everywhere_in_reset),
		cmocka_unit_test(test_switch_everywhere_in_swap),
		cmocka_unit_test(test_interrupt_in_interrupt),
		cmocka_unit_test(test_two_interrupts),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
