/* Physical memory before the page allocator: see <arch/memory.h>. */
#include <arch/memory.h>
#include <arch/paging.h>
#include <kernel/base.h>

#include "refuse.h"

#define MAX_RANGES	  256
#define LOW_MEMORY	  (1ull << 20) /* below: for the firmware and the start of other CPUs */
#define LOW_AP_FROM	  0x8000ull
#define LOW_AP_END	  0xa0000ull
#define EARLY_LIMIT	  (4ull << 30) /* boot/ has mapped no more */
#define EARLY_EXTRA_PAGES 96

static struct {
	struct memory_range ranges[MAX_RANGES];
	size_t nr_ranges;
	uint64_t total_bytes;
	uint64_t top;
	uint64_t low_page;
	uint64_t early_next; /* [early_next, early_end) is left for memory_early_page() */
	uint64_t early_end;
} memory;

static void memory_range_add(uint64_t start, uint64_t end)
{
	size_t i = memory.nr_ranges;

	start = ALIGN_UP(start, PAGE_SIZE);
	end = ALIGN_DOWN(end, PAGE_SIZE);
	if (start >= end || i == MAX_RANGES)
		return;
	for (; i > 0 && memory.ranges[i - 1].start > start; i--)
		memory.ranges[i] = memory.ranges[i - 1];
	memory.ranges[i] = (struct memory_range){ .start = start, .end = end };
	memory.nr_ranges++;
}

static void memory_range_remove(size_t index)
{
	memory.nr_ranges--;
	for (size_t i = index; i < memory.nr_ranges; i++)
		memory.ranges[i] = memory.ranges[i + 1];
}

/* Take [start, end) out of every range. */
static void memory_ranges_subtract(uint64_t start, uint64_t end)
{
	start = ALIGN_DOWN(start, PAGE_SIZE);
	end = ALIGN_UP(end, PAGE_SIZE);
	for (size_t i = 0; i < memory.nr_ranges;) {
		struct memory_range old = memory.ranges[i];

		if (old.end <= start || old.start >= end) {
			i++;
			continue;
		}
		memory_range_remove(i);
		memory_range_add(old.start, old.start < start ? start : old.start);
		memory_range_add(old.end > end ? end : old.end, old.end);
		i = 0;
	}
}

/* Ranges that touch or overlap become one. */
static void memory_ranges_merge(void)
{
	for (size_t i = 0; i + 1 < memory.nr_ranges;) {
		struct memory_range *a = &memory.ranges[i], *b = a + 1;

		if (a->end < b->start) {
			i++;
			continue;
		}
		if (b->end > a->end)
			a->end = b->end;
		memory_range_remove(i + 1);
	}
}

static void memory_read_map(void)
{
	size_t nr;
	const struct memory_map_entry *map = boot_info_memory_map(&nr);

	for (size_t i = 0; i < nr; i++) {
		if (map[i].kind == MEMORY_USABLE)
			memory_range_add(map[i].range.start, map[i].range.end);
	}
	memory_ranges_merge();
	for (size_t i = 0; i < nr; i++) {
		if (map[i].kind != MEMORY_USABLE)
			memory_ranges_subtract(map[i].range.start, map[i].range.end);
	}
}

static void memory_measure(void)
{
	memory.total_bytes = memory.top = memory.low_page = 0;
	for (size_t i = 0; i < memory.nr_ranges; i++) {
		const struct memory_range *r = &memory.ranges[i];

		memory.total_bytes += r->end - r->start;
		memory.top = r->end;
	}
}

/* Of the usable pages from 32 KiB to 640 KiB, take the last. */
static void memory_find_low_page(void)
{
	for (size_t i = 0; i < memory.nr_ranges; i++) {
		const struct memory_range *r = &memory.ranges[i];
		uint64_t end = r->end < LOW_AP_END ? r->end : LOW_AP_END;

		if (r->start < LOW_AP_END && end >= LOW_AP_FROM + PAGE_SIZE &&
		    end - PAGE_SIZE >= r->start)
			memory.low_page = end - PAGE_SIZE;
	}
}

/*
 * For each 2 MiB of the kernel's image there are up to 3 tables of 4 KiB pages: of the image, of
 * its place in the direct map, of the alias. For each GiB of memory there is one table of 2 MiB
 * pages in the direct map, and another page to spare. EARLY_EXTRA_PAGES are for the rest.
 */
static void memory_claim_early_pool(uint64_t kernel_bytes)
{
	uint64_t pages = EARLY_EXTRA_PAGES + (kernel_bytes >> 21) * 3 + (memory.top >> 30) * 2;
	uint64_t bytes = pages * PAGE_SIZE;

	for (size_t i = 0; i < memory.nr_ranges; i++) {
		const struct memory_range *r = &memory.ranges[i];

		if (r->end - r->start >= bytes && r->start + bytes <= EARLY_LIMIT) {
			memory.early_next = r->start;
			memory.early_end = r->start + bytes;
			memory_ranges_subtract(memory.early_next, memory.early_end);
			return;
		}
	}
	arch_refuse("no room for page tables below 4 GiB");
}

void memory_init(const struct handover *handover)
{
	const struct memory_range module = boot_info_module();

	memory.nr_ranges = 0;
	memory_read_map();
	memory_measure();
	if (memory.total_bytes < MEMORY_MIN_BYTES)
		arch_refuse("too little memory, 12 MiB are needed");
	memory_find_low_page();
	memory_ranges_subtract(0, LOW_MEMORY);
	memory_ranges_subtract(handover->kernel_phys_start, handover->kernel_phys_end);
	memory_ranges_subtract(module.start, module.end);
	memory_claim_early_pool(handover->kernel_phys_end - handover->kernel_phys_start);
}

uint64_t memory_early_page(void)
{
	uint64_t phys = memory.early_next;
	uint64_t *words = arch_phys_to_virt(phys);

	if (phys >= memory.early_end)
		panic("out of pages for the first page tables");
	memory.early_next += PAGE_SIZE;
	for (size_t i = 0; i < PAGE_SIZE / sizeof(*words); i++)
		words[i] = 0;
	return phys;
}

int memory_reserve(uint64_t bytes, uint64_t align, struct memory_range *out)
{
	for (size_t i = 0; i < memory.nr_ranges; i++) {
		const struct memory_range *r = &memory.ranges[i];
		uint64_t start = r->start > MEMORY_RESERVE_FROM ? r->start : MEMORY_RESERVE_FROM;

		start = ALIGN_UP(start, align);
		if (start >= r->end || r->end - start < bytes)
			continue;
		*out = (struct memory_range){ .start = start, .end = start + bytes };
		memory_ranges_subtract(out->start, out->end);
		return 0;
	}
	return -ENOMEM;
}

const struct memory_range *memory_free_ranges(size_t *out_nr)
{
	if (memory.early_next < memory.early_end) { /* the pages that the page tables left over */
		memory_range_add(memory.early_next, memory.early_end);
		memory_ranges_merge();
		memory.early_next = memory.early_end;
	}
	*out_nr = memory.nr_ranges;
	return memory.ranges;
}

uint64_t memory_total_bytes(void)
{
	return memory.total_bytes;
}

uint64_t memory_top(void)
{
	return memory.top;
}

uint64_t memory_low_page(void)
{
	return memory.low_page;
}
