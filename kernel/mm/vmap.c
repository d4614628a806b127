/*
 * vmalloc(): pages from anywhere in memory, mapped in a row in the vmap area; see <kernel/mm.h>.
 *
 * Areas are kept in a list in order of address; the first gap that is large enough is taken. One
 * page behind each area stays unmapped.
 */
#include <arch/paging.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include "page.h"
#include "slab.h"
#include "vmap.h"

#define AREA_BASE (VMAP_BASE + (1ull << 30)) /* the thread stacks of stack.c are below */

struct vmap_area {
	struct list link;
	uintptr_t start;
	size_t nr_pages;
};

static struct list areas = LIST_INIT(areas); /* guarded by areas_lock */
static struct mutex areas_lock;
static uint64_t nr_vmalloc_pages; /* guarded by areas_lock */

/* Link `area` into the first gap that is large enough. 0 or -ENOMEM. */
static int vmap_place_area_locked(struct vmap_area *area)
{
	size_t bytes = (area->nr_pages + 1) * PAGE_SIZE;
	uintptr_t start = AREA_BASE;
	struct list *pos;

	list_for_each(pos, &areas) {
		struct vmap_area *other = list_entry(pos, struct vmap_area, link);

		if (other->start - start >= bytes)
			break;
		start = other->start + (other->nr_pages + 1) * PAGE_SIZE;
	}
	if (VMAP_END - start < bytes)
		return -ENOMEM;
	area->start = start;
	list_add_tail(pos, &area->link);
	return 0;
}

void *vmalloc(size_t bytes)
{
	struct vmap_area *area;
	uint64_t total, nr_free, failures;

	page_get_counts(&total, &nr_free, &failures);
	if (bytes == 0 || bytes > nr_free * PAGE_SIZE)
		return NULL; /* too large: refused before it takes all the pages there are */
	area = kzalloc(sizeof(*area));
	if (!area)
		return NULL;
	area->nr_pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;

	mutex_lock(&areas_lock);
	if (vmap_place_area_locked(area))
		goto free_area;
	if (vmap_map(area->start, area->nr_pages))
		goto unlink;
	nr_vmalloc_pages += area->nr_pages;
	mutex_unlock(&areas_lock);
	return (void *)area->start;

unlink:
	list_remove(&area->link);
free_area:
	mutex_unlock(&areas_lock);
	kfree(area);
	return NULL;
}

static struct vmap_area *vmap_find_area_locked(uintptr_t start)
{
	struct list *pos;

	list_for_each(pos, &areas) {
		struct vmap_area *area = list_entry(pos, struct vmap_area, link);

		if (area->start == start)
			return area;
	}
	return NULL;
}

void vfree(void *memory)
{
	struct vmap_batch batch = { 0 };
	struct vmap_area *area;

	if (!memory)
		return;
	mutex_lock(&areas_lock);
	area = vmap_find_area_locked((uintptr_t)memory);
	if (!area)
		panic("vfree(%p): not from vmalloc", memory);
	vmap_unmap(&batch, area->start, area->nr_pages);
	vmap_release(&batch);
	nr_vmalloc_pages -= area->nr_pages;
	list_remove(&area->link);
	mutex_unlock(&areas_lock);
	kfree(area);
}

uint64_t vmalloc_nr_pages(void)
{
	uint64_t nr;

	mutex_lock(&areas_lock);
	nr = nr_vmalloc_pages;
	mutex_unlock(&areas_lock);
	return nr;
}
