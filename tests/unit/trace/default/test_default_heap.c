/*
 * The default memory: a block is aligned, zeroed, and has one owner; what is freed is one
 * region again in the end, in whatever order.
 *
 * links: trace/default/heap.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <trace/heap.h>
#include <trace/platform.h>
#include "fake/fake.h"

#define REGION_BYTES (64u * 4096u)
#define NR_PIECES    200u
#define NR_STEPS     20000u

static uint8_t region[REGION_BYTES] __attribute__((aligned(4096)));
static struct piece {
	uint8_t *memory;
	size_t bytes;
	uint8_t mark;
} pieces[NR_PIECES];

static void check_fresh(const struct piece *piece)
{
	uintptr_t addr = (uintptr_t)piece->memory;
	uintptr_t align = piece->bytes >= 4096 ? 4096 : piece->bytes % 64 == 0 ? 64 : 16;

	assert_int_equal(addr % align, 0);
	assert_true(addr >= (uintptr_t)region &&
		    addr + piece->bytes <= (uintptr_t)region + REGION_BYTES);
	for (size_t i = 0; i < piece->bytes; i++)
		assert_int_equal(piece->memory[i], 0);
}

/* Others have not written to it since. */
static void give_back(struct piece *piece)
{
	for (size_t i = 0; i < piece->bytes; i++)
		assert_int_equal(piece->memory[i], piece->mark);
	trace_heap_free(piece->memory, piece->bytes);
	*piece = (struct piece){ 0 };
}

static void take(struct piece *piece, uint8_t mark)
{
	size_t bytes = (size_t)rand() % (rand() % 4 ? 300 : 20000);

	*piece = (struct piece){ trace_heap_alloc(bytes), bytes, mark };
	if (!piece->memory)
		return;
	check_fresh(piece);
	memset(piece->memory, mark, bytes);
}

static void test_nothing_was_given(void **state)
{
	(void)state;
	fake_reset();
	assert_null(trace_heap_alloc(1));
	assert_non_null(strstr(fake_log(), "trace_heap_give()"));
	fake_reset();
	assert_null(trace_heap_alloc(1)); /* and says it once */
	assert_null(strstr(fake_log(), "trace_heap_give()"));
	trace_heap_give(region + 1, 62); /* no whole unit */
	assert_int_equal(trace_heap_left(), 0);
}

static void test_random(void **state)
{
	uint32_t nr_refused = 0;

	(void)state;
	srand(1);
	trace_heap_give(region + REGION_BYTES / 2, REGION_BYTES / 2);
	trace_heap_give(region, REGION_BYTES / 2);
	assert_int_equal(trace_heap_left(), REGION_BYTES);
	for (uint32_t step = 0; step < NR_STEPS; step++) {
		struct piece *piece = &pieces[(size_t)rand() % NR_PIECES];

		if (piece->memory)
			give_back(piece);
		else
			take(piece, (uint8_t)(1 + step % 255));
		nr_refused += !piece->memory && piece->bytes;
	}
	assert_true(nr_refused > 0); /* it was full now and then */
	for (uint32_t i = 0; i < NR_PIECES; i++) {
		if (pieces[i].memory)
			give_back(&pieces[i]);
	}
	assert_int_equal(trace_heap_left(), REGION_BYTES);
}

/* All of it is one hole: nothing was lost to holes that were not joined. */
static void test_whole(void **state)
{
	void *all = trace_heap_alloc(REGION_BYTES);

	(void)state;
	assert_ptr_equal(all, region);
	assert_null(trace_heap_alloc(1));
	assert_null(trace_heap_alloc((size_t)-1));
	trace_heap_free(NULL, 1);
	assert_int_equal(trace_heap_left(), 0);
	trace_heap_free(all, REGION_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_nothing_was_given),
					    cmocka_unit_test(test_random),
					    cmocka_unit_test(test_whole) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
