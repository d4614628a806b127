/*
 * Physical pages: a buddy allocator, see <kernel/mm.h>.
 *
 * RAM is cut into chunks of 4 MiB, the largest block. The metadata array covers all of it but is
 * not cleared at boot: entries of a chunk are set up when the chunk is split for the first time,
 * so that boot time does not grow with the size of memory.
 */
#include <stdatomic.h>
#include <arch/memory.h>
#include <arch/paging.h>
#include <kernel/config.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/upcall.h>
#include <trace/events/kmem.h>
#include "page.h"

#define CHUNK_PAGES   (1u << PAGE_MAX_ORDER)
#define MAX_CHUNKS    16384u	 /* 64 GiB; memory above is not used */
#define PAGE_LIST_END UINT32_MAX /* no page number */
#define POISON_FREE   0x6b

static struct {
	struct spinlock lock; /* guards the fields from free_head on; the others are set at boot */
	struct page *pages;   /* index: page number - first_pfn */
	uint32_t first_pfn;   /* page number, a multiple of CHUNK_PAGES */
	uint32_t end_pfn;     /* behind the last page, a multiple as well */
	uint32_t free_head[PAGE_MAX_ORDER + 1]; /* first free block of each order */
	uint64_t nr_total;			/* pages */
	uint64_t nr_free;
	uint64_t nr_failures;
	uint64_t chunk_ready[MAX_CHUNKS / 64]; /* bit per chunk: its metadata is set up */
} zone;

static _Atomic uint64_t nr_page_tables;

static struct page *page_at(uint32_t pfn)
{
	return &zone.pages[pfn - zone.first_pfn];
}

static void *page_pfn_address(uint32_t pfn)
{
	return arch_phys_to_virt((uint64_t)pfn << PAGE_SHIFT);
}

/* Set up the metadata of the chunk that page `pfn` is in, if that was not done yet. */
static void page_chunk_prepare(uint32_t pfn)
{
	uint32_t chunk = (pfn - zone.first_pfn) / CHUNK_PAGES;
	uint64_t bit = 1ull << (chunk % 64);

	if (zone.chunk_ready[chunk / 64] & bit)
		return;
	zone.chunk_ready[chunk / 64] |= bit;
	memset(&zone.pages[(size_t)chunk * CHUNK_PAGES], 0, CHUNK_PAGES * sizeof(struct page));
}

static void page_free_list_add(uint32_t pfn, unsigned int order)
{
	struct page *page = page_at(pfn);
	uint32_t head = zone.free_head[order];

	page->state = PAGE_STATE_FREE;
	page->order = (uint8_t)order;
	page->prev = PAGE_LIST_END;
	page->next = head;
	if (head != PAGE_LIST_END)
		page_at(head)->prev = pfn;
	zone.free_head[order] = pfn;
}

static void page_free_list_remove(uint32_t pfn)
{
	struct page *page = page_at(pfn);

	if (page->prev != PAGE_LIST_END)
		page_at(page->prev)->next = page->next;
	else
		zone.free_head[page->order] = page->next;
	if (page->next != PAGE_LIST_END)
		page_at(page->next)->prev = page->prev;
	page->state = PAGE_STATE_NONE;
}

/* Give a block back and join it with its free buddies. Lock held. */
static void page_free_block_locked(uint32_t pfn, unsigned int order)
{
	zone.nr_free += 1ull << order;
	for (; order < PAGE_MAX_ORDER; order++) {
		uint32_t buddy = pfn ^ (1u << order);
		struct page *page = page_at(buddy);

		if (page->state != PAGE_STATE_FREE || page->order != order)
			break;
		page_free_list_remove(buddy);
		pfn &= ~(1u << order);
	}
	page_free_list_add(pfn, order);
}

/* Take a block of `order`: its first page's number, or PAGE_LIST_END. Lock held. */
static uint32_t page_take_block_locked(unsigned int order)
{
	unsigned int have = order;
	uint32_t pfn;

	while (have <= PAGE_MAX_ORDER && zone.free_head[have] == PAGE_LIST_END)
		have++;
	if (have > PAGE_MAX_ORDER)
		return PAGE_LIST_END;

	pfn = zone.free_head[have];
	page_free_list_remove(pfn);
	if (have > order && have == PAGE_MAX_ORDER)
		page_chunk_prepare(pfn);
	while (have > order) {
		have--;
		page_free_list_add(pfn + (1u << have), have);
	}
	page_at(pfn)->state = PAGE_STATE_BUSY;
	page_at(pfn)->order = (uint8_t)order;
	zone.nr_free -= 1ull << order;
	return pfn;
}

/*
 * Debug builds fill memory that is freed with a pattern. When it is allocated again they check that
 * the pattern is still there. Blocks of the largest order are left alone, because the metadata of
 * their pages may not be set up.
 */
static void page_poison(void *memory, unsigned int order)
{
	struct page *page = page_of(memory);

	if (order == PAGE_MAX_ORDER)
		return;
	memset(memory, POISON_FREE, PAGE_SIZE << order);
	for (uint32_t i = 0; i < 1u << order; i++)
		page[i].is_poisoned = 1;
}

static void page_check_poison(const uint8_t *memory, unsigned int order)
{
	struct page *page = page_of(memory);

	if (order == PAGE_MAX_ORDER)
		return;
	for (size_t i = 0; i < PAGE_SIZE << order; i++) {
		if (page[i / PAGE_SIZE].is_poisoned && memory[i] != POISON_FREE)
			panic("page %p: byte %zu was written after it was freed", memory, i);
	}
	for (uint32_t i = 0; i < 1u << order; i++)
		page[i].is_poisoned = 0;
}

void *alloc_pages(unsigned int order)
{
	uint64_t flags;
	uint32_t pfn;

	ASSERT(order <= PAGE_MAX_ORDER);
	if (mm_fails_now())
		return NULL;
	flags = spin_lock_irqsave(&zone.lock);
	pfn = page_take_block_locked(order);
	if (pfn == PAGE_LIST_END)
		zone.nr_failures++;
	spin_unlock_irqrestore(&zone.lock, flags);
	if (pfn == PAGE_LIST_END)
		return NULL;
	if (KERNEL_DEBUG)
		page_check_poison(page_pfn_address(pfn), order);
	trace_mm_page_alloc(page_at(pfn), pfn, order);
	return page_pfn_address(pfn);
}

void *page_alloc_zeroed(unsigned int order)
{
	void *memory = alloc_pages(order);

	if (memory)
		memset(memory, 0, PAGE_SIZE << order);
	return memory;
}

void free_pages(void *memory, unsigned int order)
{
	struct page *page = memory ? page_of(memory) : NULL;
	uint64_t flags;
	uint32_t pfn;

	if (!memory)
		return;
	if (!page || page->state != PAGE_STATE_BUSY || page->order != order ||
	    (uintptr_t)memory % (PAGE_SIZE << order))
		panic("free_pages(%p, %u): not an allocated block of that order", memory, order);
	if (KERNEL_DEBUG)
		page_poison(memory, order);
	pfn = (uint32_t)(page - zone.pages) + zone.first_pfn;
	trace_mm_page_free(page, pfn, order);
	flags = spin_lock_irqsave(&zone.lock);
	page_free_block_locked(pfn, order);
	spin_unlock_irqrestore(&zone.lock, flags);
}

struct page *page_of(const void *memory)
{
	uint64_t pfn = arch_virt_to_phys(memory) >> PAGE_SHIFT;

	if ((uintptr_t)memory < DIRECT_MAP_BASE || (uintptr_t)memory >= VMAP_BASE)
		return NULL;
	if (pfn < zone.first_pfn || pfn >= zone.end_pfn)
		return NULL;
	return page_at((uint32_t)pfn);
}

unsigned int page_order_of(size_t bytes)
{
	unsigned int order = 0;

	while (PAGE_SIZE << order < bytes)
		order++;
	return order;
}

void page_get_counts(uint64_t *out_total, uint64_t *out_free, uint64_t *out_failures)
{
	uint64_t flags = spin_lock_irqsave(&zone.lock);

	*out_total = zone.nr_total;
	*out_free = zone.nr_free;
	*out_failures = zone.nr_failures;
	spin_unlock_irqrestore(&zone.lock, flags);
}

/* Hand [pfn, end) to the free lists, in aligned blocks as large as possible. Lock held, or boot. */
static void page_add_range(uint32_t pfn, uint32_t end)
{
	zone.nr_total += end - pfn;
	while (pfn < end) {
		unsigned int order = PAGE_MAX_ORDER;

		while (pfn % (1u << order) || (1u << order) > end - pfn)
			order--;
		if (order < PAGE_MAX_ORDER)
			page_chunk_prepare(pfn);
		page_free_block_locked(pfn, order);
		pfn += 1u << order;
	}
}

void free_reserved_area(void *start, void *end)
{
	uint64_t pfn = ALIGN_UP(arch_virt_to_phys(start), PAGE_SIZE) >> PAGE_SHIFT;
	uint64_t end_pfn = arch_virt_to_phys(end) >> PAGE_SHIFT, flags;

	if (pfn < zone.first_pfn)
		pfn = zone.first_pfn;
	if (end_pfn > zone.end_pfn)
		end_pfn = zone.end_pfn;
	flags = spin_lock_irqsave(&zone.lock);
	if (pfn < end_pfn)
		page_add_range((uint32_t)pfn, (uint32_t)end_pfn);
	spin_unlock_irqrestore(&zone.lock, flags);
}

/* Place the metadata array at the start of the first range with room for it; return that range. */
static const struct memory_range *page_place_metadata(const struct memory_range *ranges, size_t nr,
						      size_t bytes)
{
	for (size_t i = 0; i < nr; i++) {
		if (ranges[i].end - ranges[i].start >= bytes) {
			zone.pages = arch_phys_to_virt(ranges[i].start);
			return &ranges[i];
		}
	}
	panic("no room for %zu bytes of page metadata", bytes);
}

void page_init(void)
{
	uint64_t max_pfn = (uint64_t)MAX_CHUNKS * CHUNK_PAGES;
	const struct memory_range *ranges, *home;
	size_t nr, bytes;

	ranges = memory_free_ranges(&nr);
	ASSERT(nr > 0);
	for (unsigned int i = 0; i <= PAGE_MAX_ORDER; i++)
		zone.free_head[i] = PAGE_LIST_END;
	zone.first_pfn = (uint32_t)ALIGN_DOWN(ranges[0].start >> PAGE_SHIFT, CHUNK_PAGES);
	if (ranges[nr - 1].end >> PAGE_SHIFT < max_pfn)
		max_pfn = ranges[nr - 1].end >> PAGE_SHIFT;
	zone.end_pfn = (uint32_t)ALIGN_UP(max_pfn, CHUNK_PAGES);
	bytes = ALIGN_UP((zone.end_pfn - zone.first_pfn) * sizeof(struct page), PAGE_SIZE);
	home = page_place_metadata(ranges, nr, bytes);

	for (size_t i = 0; i < nr; i++) {
		uint64_t start = ranges[i].start + (&ranges[i] == home ? bytes : 0);
		uint64_t end = ranges[i].end >> PAGE_SHIFT;

		if (end > zone.end_pfn)
			end = zone.end_pfn;
		if (start >> PAGE_SHIFT < end)
			page_add_range((uint32_t)(start >> PAGE_SHIFT), (uint32_t)end);
	}
}

void *upcall_page_table_alloc(void)
{
	void *table = page_alloc_zeroed(0);

	if (table)
		atomic_fetch_add(&nr_page_tables, 1);
	return table;
}

void upcall_page_table_free(void *table)
{
	atomic_fetch_sub(&nr_page_tables, 1);
	free_pages(table, 0);
}

uint64_t page_nr_tables(void)
{
	return atomic_load(&nr_page_tables);
}
