/*
 * The metadata of each physical page, which page.c shares with the rest of the memory code.
 *
 * Context, locking: as <kernel/mm.h>. The metadata of a page that is in use belongs to its user.
 */
#ifndef KERNEL_PAGE_H
#define KERNEL_PAGE_H

#include <kernel/base.h>

enum page_state {
	PAGE_STATE_NONE = 0, /* inside a block, or not managed */
	PAGE_STATE_FREE = 1, /* head of a free block */
	PAGE_STATE_BUSY = 2, /* head of a block in use */
	PAGE_STATE_SLAB = 3, /* each page of a slab; order is the slab's */
};

struct page {
	uint32_t next; /* page numbers in the free list, PAGE_LIST_END at the ends */
	uint32_t prev;
	uint8_t order;	     /* of the block or slab */
	uint8_t state;	     /* enum page_state */
	uint8_t is_poisoned; /* debug builds: filled with the pattern of free memory */
	uint8_t unused[5];
};

void page_init(void);
/* Metadata of the page at an address; NULL when that is not in the direct map or not managed. */
struct page *page_of(const void *memory);
/* Pages managed, pages free, and allocations that failed for want of a block. */
void page_get_counts(uint64_t *out_total, uint64_t *out_free, uint64_t *out_failures);
/* Number of pages given to arch/ for page tables. */
uint64_t page_nr_tables(void);
/* Smallest order that holds `bytes`. */
unsigned int page_order_of(size_t bytes);

/*
 * Only the test kernel has this function: does this allocation fail on purpose? It is called once
 * for each allocation of pages or objects.
 */
bool mm_test_fails_now(void) __attribute__((weak));

static inline bool mm_fails_now(void)
{
	return mm_test_fails_now && mm_test_fails_now();
}

#endif
