/* Start of the memory code and its counters, see <kernel/mm.h>. */
#include <arch/memory.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include "page.h"
#include "reserve.h"
#include "slab.h"
#include "vmap.h"

void mm_init(void)
{
	uint64_t total, nr_free, failures;

	reserve_init();
	page_init();
	slab_init();
	page_get_counts(&total, &nr_free, &failures);
	stack_init(nr_free);
	pr_info("Memory: %luK/%luK available\n", nr_free * PAGE_SIZE >> 10,
		memory_total_bytes() >> 10);
}

void mm_stats_get(struct mm_stats *out)
{
	uint64_t failures;

	thread_reap();
	stack_shrink();
	slab_shrink();
	*out = (struct mm_stats){ .ram_bytes = memory_total_bytes() };
	slab_get_counts(&out->slab_pages, &out->slab_objects);
	out->vmalloc_pages = vmalloc_nr_pages();
	out->stack_pages = stack_nr_pages();
	out->page_table_pages = page_nr_tables();
	page_get_counts(&out->total_pages, &out->free_pages, &failures);
	out->used_pages = out->total_pages - out->free_pages;
	out->alloc_failures = failures;
}
