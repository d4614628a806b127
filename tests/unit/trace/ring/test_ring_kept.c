/*
 * Kept buffers: a second buffer is made on memory as a reset at some moment leaves it, whole or damaged.
 *
 * links: trace/ring/ring_*.c
 */
#include <trace/ring_kept.h>
#include "ring_help.h"
#include "ring/ring_private.h"

#define NR_CPUS	   3u
#define BYTES	   (NR_CPUS * 8 * SIZE)
#define NOTE_BYTES 128u
#define MAX_IMAGES 64

static uint8_t *memory, *image;
static struct ring_buffer *ring;
static struct ring_kept_report report;
static uint32_t nr_checked;

static bool is_sound(void *arg, const void *payload, uint32_t len)
{
	(void)payload;
	(void)len;
	nr_checked++;
	return !arg;
}

static struct ring_kept_memory kept = { .bytes = BYTES,
					.note_bytes = NOTE_BYTES,
					.is_sound = is_sound };

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	memory = aligned_alloc(64, BYTES);
	image = aligned_alloc(64, BYTES);
	memset(memory, 0, BYTES);
	kept.memory = memory;
	kept.arg = NULL;
	ring = ring_buffer_alloc_kept(&kept, RING_BUFFER_OVERWRITE, &report);
	return ring ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ring_buffer_free(ring);
	free(memory);
	free(image);
	assert_int_equal(fake_nr_bugs, 0);
	return fake_alloc_out ? -1 : 0;
}

/* The kernel ends: memory stays as it is now, all else is gone. */
static void end_kernel(void)
{
	memcpy(image, memory, BYTES);
	ring_buffer_free(ring);
	memcpy(memory, image, BYTES);
}

/* The next kernel makes its buffer. */
static void begin_kernel(void)
{
	ring = ring_buffer_alloc_kept(&kept, RING_BUFFER_OVERWRITE, &report);
	assert_non_null(ring);
}

static void ring_reset_machine(void)
{
	end_kernel();
	begin_kernel();
}

/* Events of all kinds on each CPU, `nr` in all, and one that stays open on CPU 1. */
static void fill(uint32_t nr)
{
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		fake_bind(cpu);
		for (uint32_t id = 0; id < nr; id++) {
			fake_clock += id % 97 ? 50 : 1ull << 30; /* with time extends */
			assert_true(put(ring, id, id % 31 ? 4 + id % 40 : 500));
			if (id % 13 == 0)
				ring_buffer_discard_commit(ring, ring_buffer_lock_reserve(ring, 20),
							   20);
		}
	}
	fake_bind(1);
	assert_non_null(ring_buffer_lock_reserve(ring, 40));
	trace_plat_preempt_enable();
	fake_bind(0);
}

/* All events up to `nr` from some on, in order. Returns the number of those that are there. */
static uint32_t expect_rest(uint32_t cpu, uint32_t nr)
{
	struct ring_event event;
	uint32_t seen = 0, first;

	while (ring_buffer_consume(ring, cpu, &event)) {
		if (!seen)
			first = id_of(&event);
		assert_int_equal(id_of(&event), first + seen);
		assert_int_equal(event.lost, 0);
		seen++;
	}
	assert_int_equal(seen ? first + seen : 0, nr);
	return seen;
}

static void test_first_time(void **state)
{
	(void)state;
	assert_false(report.is_found);
	assert_true(report.is_blank);
	assert_int_equal(report.nr_events, 0);
	assert_non_null(ring_kept_find(&kept));
	memcpy(ring_kept_note(ring), "note", 5);
	ring_reset_machine();
	assert_true(report.is_found);
	assert_int_equal(report.nr_events + report.nr_damaged, 0);
	assert_string_equal(ring_kept_note(ring), "note");
	assert_true(ring_buffer_empty(ring));
}

static void test_other_layouts(void **state)
{
	struct ring_kept_memory other = kept;

	(void)state;
	fill(10);
	other.note_bytes += 64;
	assert_null(ring_kept_find(&other));
	other = kept;
	other.bytes -= SIZE;
	assert_null(ring_kept_find(&other));
	fake_set_nr_cpus(NR_CPUS - 1);
	assert_null(ring_kept_find(&kept));
	fake_set_nr_cpus(NR_CPUS);
	assert_non_null(ring_kept_find(&kept));
	other.bytes = 3 * SIZE;
	assert_null(ring_buffer_alloc_kept(&other, 0, &report));
	end_kernel();
	memory[0] ^= 1;
	begin_kernel();
	assert_false(report.is_found || report.is_blank);
	assert_true(ring_buffer_empty(ring));
}

static void test_found(void **state)
{
	(void)state;
	for (uint32_t nr = 1; nr < 3000; nr = nr * 3 + 1) {
		fill(nr);
		for (int i = 0; i < 2; i++) {
			ring_reset_machine();
			assert_true(report.is_found);
			assert_int_equal(report.nr_damaged, 0);
			assert_int_equal(report.nr_events, ring_buffer_entries(ring));
			assert_int_equal(ring_buffer_overruns(ring), 0);
		}
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			assert_in_range(expect_rest(cpu, nr), nr < 100 ? nr : 100, nr);
		ring_buffer_reset(ring);
	}
}

/* A reader has taken some: they are there again. */
static void test_taken(void **state)
{
	struct ring_event event;

	(void)state;
	for (uint32_t id = 0; id < 20; id++)
		put(ring, id, 8);
	assert_true(ring_buffer_consume(ring, 0, &event));
	ring_reset_machine();
	expect_ids(ring, 0, 0, 20);
}

/* After a reset of the buffer it has what came since; further events follow those that were found. */
static void test_goes_on(void **state)
{
	(void)state;
	fill(500);
	ring_buffer_reset(ring);
	ring_reset_machine();
	assert_int_equal(report.nr_events + report.nr_damaged, 0);
	for (uint32_t id = 0; id < 10; id++)
		put(ring, id, 8);
	ring_reset_machine();
	assert_int_equal(report.nr_events, 10);
	for (uint32_t id = 10; id < 20; id++)
		put(ring, id, 8);
	ring_reset_machine();
	assert_int_equal(report.nr_events, 20);
	expect_ids(ring, 0, 0, 20);
}

/* Dropped events, in drop mode, are still told of. */
static void test_dropped(void **state)
{
	struct ring_event event;
	uint32_t nr = 0, id = 0;

	(void)state;
	ring_buffer_change_overwrite(ring, false);
	while (put(ring, nr, 500))
		nr++;
	for (int i = 0; i < 6; i++)
		put(ring, 0, 500);
	for (int i = 0; i < 8; i++)
		assert_true(ring_buffer_consume(ring, 0, &event));
	assert_true(put(ring, nr, 500));
	ring_reset_machine();
	while (ring_buffer_consume(ring, 0, &event)) {
		id = id_of(&event);
		assert_int_equal(event.lost, id == nr ? 7 : 0);
	}
	assert_int_equal(id, nr);
}

static struct {
	uint8_t *at[MAX_IMAGES];
	int nr;
} images;

static void take_image(void)
{
	if (images.nr == MAX_IMAGES)
		return;
	images.at[images.nr] = malloc(BYTES);
	memcpy(images.at[images.nr++], memory, BYTES);
}

/* The machine is reset again at moments of the check. */
static void test_reset_in_check(void **state)
{
	uint64_t nr;

	(void)state;
	fill(1000);
	ring_reset_machine();
	nr = report.nr_events;
	end_kernel();
	fake_on_alloc = take_image;
	fake_on_lock = take_image;
	begin_kernel();
	fake_on_alloc = NULL;
	fake_on_lock = NULL;
	assert_true(images.nr > 6);
	while (images.nr) {
		end_kernel();
		memcpy(memory, images.at[--images.nr], BYTES);
		free(images.at[images.nr]);
		begin_kernel();
		assert_int_equal(report.nr_events, nr);
		assert_int_equal(report.nr_damaged, 0);
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			expect_rest(cpu, 1000);
	}
}

/* Where `event` number `id` of CPU 0 lies in the memory. */
static uint8_t *kept_event(uint32_t id)
{
	for (uint8_t *at = memory; at < memory + BYTES - 8; at += 4)
		if (memcmp(at, &id, 4) == 0 && at[4] == (uint8_t)id && at[5] == (uint8_t)id)
			return at;
	fail_msg("event %u is not there", id);
	return NULL;
}

static void test_damaged(void **state)
{
	struct ring_event event;
	uint64_t lost = 0, seen = 0;

	(void)state;
	for (uint32_t id = 1; id <= 1200; id++) {
		fake_clock += 10;
		put(ring, id, 12);
	}
	memset(kept_event(700) - 4, 0xff, 4);
	for (int i = 0; i < 2; i++) {
		ring_reset_machine();
		assert_int_equal(report.nr_damaged, !i);
		assert_int_equal(report.nr_events, 1200 - 255);
	}
	while (ring_buffer_consume(ring, 0, &event)) {
		lost += event.lost;
		seen++;
		if (event.lost)
			assert_int_equal(event.lost, 255);
		id_of(&event);
	}
	assert_int_equal(lost, 255);
	assert_int_equal(seen, 1200 - 255);
}

/* A time that cannot be, before and after the others. */
static void test_damaged_time(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		uint8_t *base = ring->cpu[0]->base;
		uint64_t time = late ? 1ull << 50 : 0;

		ring_buffer_reset(ring);
		fake_clock = 1000;
		for (uint32_t id = 1; id <= 1200; id++) {
			fake_clock += 10;
			put(ring, id, 12);
		}
		memcpy(base + (size_t)(kept_event(700) - base) / SIZE * SIZE, &time, sizeof(time));
		ring_reset_machine();
		assert_in_range(report.nr_damaged, 1, 2);
		assert_in_range(report.nr_events, 1200 - 2 * 255, 1200 - 255);
	}
}

/* The caller does not want these. */
static void test_unsound(void **state)
{
	(void)state;
	fill(10);
	nr_checked = 0;
	kept.arg = &kept;
	ring_reset_machine();
	assert_int_equal(nr_checked, NR_CPUS);
	assert_int_equal(report.nr_damaged, NR_CPUS);
	assert_true(ring_buffer_empty(ring));
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(ring_buffer_resize(ring, 10 * SIZE, RING_BUFFER_ALL_CPUS), -EOPNOTSUPP);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 1), -EOPNOTSUPP);
	assert_int_equal(ring_buffer_subbuf_order_set(ring, 0), 0);
	assert_null(ring_buffer_alloc_twin(ring));
	assert_int_equal(ring_buffer_add_cpu(ring, 1), 0);
}

static void test_no_memory(void **state)
{
	(void)state;
	fill(100);
	for (long budget = 0; budget < 1 + (long)NR_CPUS; budget++) {
		end_kernel();
		fake_alloc_budget = budget;
		ring = ring_buffer_alloc_kept(&kept, RING_BUFFER_OVERWRITE, &report);
		assert_null(ring);
		fake_alloc_budget = -1;
		begin_kernel();
		assert_int_equal(report.nr_events, 3 * 100);
	}
}

static void test_copy(void **state)
{
	struct ring_buffer *to =
		ring_buffer_alloc(SIZE, RING_BUFFER_OVERWRITE | RING_BUFFER_NO_CPUS);
	struct ring_buffer *from;

	(void)state;
	fill(1000);
	ring_reset_machine();
	assert_int_equal(ring_kept_copy(to, ring), 0);
	assert_int_equal(ring_buffer_entries(to), ring_buffer_entries(ring));
	ring_buffer_reset(ring);
	from = ring;
	ring = to;
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		expect_rest(cpu, 1000);
	assert_true(put(ring, 0, 8));
	expect_ids(ring, 0, 0, 1);
	ring = from;
	ring_buffer_free(to);
}

/* Whatever is found in damaged memory can be read, counted, emptied and written to. */
static void use_damaged(void)
{
	struct ring_event event;
	uint64_t nr = 0;

	begin_kernel();
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		struct ring_iter *iter = ring_buffer_read_start(ring, cpu);

		for (; ring_buffer_iter_peek(iter, &event); ring_buffer_iter_advance(iter))
			nr++;
		ring_buffer_read_finish(iter);
		assert_true(stats_of(ring, cpu).entries <= report.nr_events);
	}
	assert_int_equal(nr, report.nr_events);
	assert_true(put(ring, 0, 8));
	ring_buffer_reset(ring);
	end_kernel();
}

/* Each byte of the heads and words, and random ones anywhere. */
static void test_flips(void **state)
{
	static uint8_t good[BYTES];
	size_t words, slots_end;

	(void)state;
	fill(1000);
	words = (size_t)((uint8_t *)ring->cpu[0] - memory);
	slots_end = (size_t)(ring->cpu[0]->base - memory);
	memcpy(good, memory, BYTES);
	end_kernel();
	for (size_t at = 0; at < BYTES; at += at < slots_end ? 1 : 97) {
		if (at > words + 256 && at < words + sizeof(struct trace_ring_cpu))
			continue;
		memcpy(memory, good, BYTES);
		memory[at] ^= (uint8_t)(1u << at % 8);
		use_damaged();
	}
	srand(3);
	for (int round = 0; round < unit_rounds(2000); round++) {
		memcpy(memory, good, BYTES);
		for (int i = rand() % 20; i >= 0; i--)
			memory[(size_t)rand() % BYTES] = (uint8_t)rand();
		if (round % 3 == 0)
			memcpy(memory, good, 64); /* else most heads are damaged */
		use_damaged();
	}
	begin_kernel();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_layouts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset_in_check, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unsound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flips, setup, teardown),
	};

	return cmocka_run_group_tests_name("ring_kept", tests, NULL, NULL);
}
