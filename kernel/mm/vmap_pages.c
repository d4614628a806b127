/* Pages of the vmap area, see vmap.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include "vmap.h"

int vmap_map(uintptr_t start, size_t nr)
{
	struct vmap_batch batch = { 0 };

	for (size_t i = 0; i < nr; i++) {
		void *page = page_alloc_zeroed(0);

		if (page && !arch_map(start + i * PAGE_SIZE, arch_virt_to_phys(page), PAGE_WRITE))
			continue;
		free_pages(page, 0);
		vmap_unmap(&batch, start, i);
		vmap_release(&batch);
		return -ENOMEM;
	}
	return 0;
}

void vmap_unmap(struct vmap_batch *batch, uintptr_t start, size_t nr)
{
	uint64_t phys;

	for (size_t i = 0; i < nr; i++) {
		void **page;

		if (!arch_lookup(start + i * PAGE_SIZE, &phys))
			panic("vmap: %#lx is not mapped", start + i * PAGE_SIZE);
		arch_unmap(start + i * PAGE_SIZE);
		page = arch_phys_to_virt(phys);
		*page = batch->pages;
		batch->pages = page;
	}
	if (nr && (batch->end == 0 || start < batch->start))
		batch->start = start;
	if (nr && start + nr * PAGE_SIZE > batch->end)
		batch->end = start + nr * PAGE_SIZE;
}

void vmap_release(struct vmap_batch *batch)
{
	if (batch->end == 0)
		return;
	/* First the TLBs: no CPU may still reach a page that has got another owner. */
	arch_flush_tlb_all_cpus(batch->start, (batch->end - batch->start) / PAGE_SIZE);
	while (batch->pages) {
		void **page = batch->pages;

		batch->pages = *page;
		free_pages(page, 0);
	}
	*batch = (struct vmap_batch){ 0 };
}
