/*
 * Pages with several users, such as a page of a file that programs have mapped: see <kernel/mm.h>. A
 * page in use has no place in a free list, so the count lies where its links would be.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "page.h"

static uint32_t *page_refs(void *page)
{
	return &page_of(page)->next;
}

void *alloc_shared_page(void)
{
	void *page = alloc_pages(0);

	if (page)
		__atomic_store_n(page_refs(page), 1, __ATOMIC_RELAXED);
	return page;
}

void *alloc_shared_page_zeroed(void)
{
	void *page = alloc_shared_page();

	if (page)
		memset(page, 0, PAGE_SIZE);
	return page;
}

void *get_page(void *page)
{
	__atomic_add_fetch(page_refs(page), 1, __ATOMIC_RELAXED);
	return page;
}

void put_page(void *page)
{
	if (page && __atomic_sub_fetch(page_refs(page), 1, __ATOMIC_ACQ_REL) == 0)
		free_pages(page, 0);
}

uint32_t page_count(void *page)
{
	return __atomic_load_n(page_refs(page), __ATOMIC_ACQUIRE);
}

bool page_is_memory_short(void)
{
	uint64_t total, nr_free, failures;

	page_get_counts(&total, &nr_free, &failures);
	return nr_free < PAGE_RESERVE;
}
