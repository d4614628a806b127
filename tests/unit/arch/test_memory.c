/*
 * Free memory from the firmware's map: against a bit map of pages, for maps as firmware makes them
 * and for maps that overlap.
 * links: arch/x86_64/memory.c
 */
#include "unit.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arch/memory.h>
#include <kernel/base.h>

#include "../../../arch/x86_64/refuse.h"

#define MAX_ENTRIES 16
#define NR_PAGES    16384 /* the tests' machine ends at 64 MiB */

static struct memory_map_entry map[MAX_ENTRIES];
static size_t nr_map;
static jmp_buf refused;
static char reason[128];

static struct memory_range module;

struct memory_range boot_info_module(void)
{
	return module;
}

const struct memory_map_entry *boot_info_memory_map(size_t *out_nr)
{
	*out_nr = nr_map;
	return map;
}

void arch_refuse(const char *why)
{
	snprintf(reason, sizeof(reason), "%s", why);
	longjmp(refused, 1);
}

void panic(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

static void add(uint64_t from, uint64_t to, enum memory_kind kind)
{
	map[nr_map++] = (struct memory_map_entry){ .range = { from, to }, .kind = kind };
}

static const struct handover handover = {
	.kernel_phys_start = 0x100000,
	.kernel_phys_end = 0x234567,
};

/* Which pages may be given away, the early pool aside. */
static void expected_pages(bool *usable)
{
	memset(usable, 0, NR_PAGES);
	for (uint64_t page = 256; page < NR_PAGES; page++) {
		uint64_t start = page * PAGE_SIZE, end = start + PAGE_SIZE;

		/* usable: covered by one or several usable entries, touched by no other */
		for (uint64_t at = start; at < end; at += 512) {
			usable[page] = false;
			for (size_t i = 0; i < nr_map; i++)
				usable[page] |= map[i].kind == MEMORY_USABLE &&
						map[i].range.start <= at &&
						map[i].range.end >= at + 512;
			if (!usable[page])
				break;
		}
		for (size_t i = 0; i < nr_map; i++) {
			if (map[i].kind != MEMORY_USABLE && map[i].range.start < end &&
			    map[i].range.end > start)
				usable[page] = false;
		}
		if (start < handover.kernel_phys_end)
			usable[page] = false;
	}
}

/* Every free page is expected; what is expected and not free is the pool, a single run. */
static void check_map(void)
{
	static bool usable[NR_PAGES], is_free[NR_PAGES];
	const struct memory_range *ranges;
	size_t nr, runs = 0;
	uint64_t last = 0;

	memset(is_free, 0, sizeof(is_free));
	expected_pages(usable);
	memory_init(&handover);
	ranges = memory_free_ranges(&nr);
	for (size_t i = 0; i < nr; i++) {
		assert_true(ranges[i].start < ranges[i].end);
		assert_true(ranges[i].start >= last);	       /* ascending */
		assert_true(i == 0 || ranges[i].start > last); /* and not touching */
		last = ranges[i].end;
		for (uint64_t at = ranges[i].start; at < ranges[i].end; at += PAGE_SIZE)
			is_free[at / PAGE_SIZE] = true;
	}
	for (size_t page = 0; page < NR_PAGES; page++) {
		assert_true(usable[page] || !is_free[page]);
		if (usable[page] && !is_free[page] &&
		    (page == 0 || is_free[page - 1] || !usable[page - 1]))
			runs++;
	}
	assert_int_equal(runs, 0); /* nothing was taken: all of the pool came back */
}

static void test_pc(void **state)
{
	(void)state;
	nr_map = 0;
	add(0, 0x9fc00, MEMORY_USABLE);
	add(0x9fc00, 0xa0000, MEMORY_RESERVED);
	add(0xf0000, 0x100000, MEMORY_RESERVED);
	add(0x100000, 0x3fe0000, MEMORY_USABLE);
	add(0x3fe0000, 0x4000000, MEMORY_RESERVED);
	check_map();
	assert_int_equal(memory_low_page(), 0x9e000);
	assert_int_equal(memory_top(), 0x3fe0000);
}

/* Either refused with a reason, or right. */
static void check_map_or_refused(void)
{
	if (setjmp(refused) == 0)
		check_map();
	else
		assert_string_not_equal(reason, "");
}

static void test_overlaps(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < unit_rounds(30); round++) {
		nr_map = 0;
		add(0x100000, 0x3000000, MEMORY_USABLE);
		for (int i = rand() % 12; i > 0; i--) {
			uint64_t from = 0x300000 + 512ull * (uint64_t)(rand() % 90000);

			add(from, from + 512ull * (uint64_t)(1 + rand() % 4000),
			    rand() % 2 ? MEMORY_USABLE : MEMORY_RESERVED);
		}
		check_map_or_refused();
	}
}

static void test_too_little(void **state)
{
	(void)state;
	nr_map = 0;
	add(0x100000, 0xb00000, MEMORY_USABLE);
	reason[0] = '\0';
	if (setjmp(refused) == 0)
		memory_init(&handover);
	assert_non_null(strstr(reason, "too little memory"));
}

static bool is_free(uint64_t start, uint64_t end)
{
	size_t nr;
	const struct memory_range *ranges = memory_free_ranges(&nr);

	for (size_t i = 0; i < nr; i++) {
		if (ranges[i].start < end && ranges[i].end > start)
			return true;
	}
	return false;
}

/* The same places in machines of two sizes, in none of which the page allocator finds them. */
static void test_reserve(void **state)
{
	(void)state;
	for (uint64_t top = 128; top <= 4096; top *= 32) {
		struct memory_range a, b, c;

		nr_map = 0;
		add(0x100000, top << 20, MEMORY_USABLE);
		add(0x4101000, 0x4102000, MEMORY_RESERVED);
		memory_init(&handover);
		assert_int_equal(memory_reserve(0x100000, PAGE_SIZE, &a), 0);
		assert_int_equal(memory_reserve(0x100000, 0x200000, &b), 0);
		assert_int_equal(memory_reserve(top << 20, PAGE_SIZE, &c), -ENOMEM);
		assert_int_equal(memory_reserve(PAGE_SIZE, PAGE_SIZE, &c), 0);
		assert_int_equal(a.start, 0x4000000);
		assert_int_equal(a.end, 0x4100000);
		assert_int_equal(b.start, 0x4200000);
		assert_int_equal(c.start, 0x4100000);
		assert_false(is_free(a.start, c.end));
		assert_false(is_free(b.start, b.end));
		assert_true(is_free(b.end, b.end + PAGE_SIZE));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pc),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
