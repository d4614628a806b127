/* Ranges of an address space: finding, adding, cutting. See mm.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <trace/uprobe.h>
#include "mm.h"

struct vma *find_vma(struct mm *mm, uintptr_t addr)
{
	struct list *pos;

	list_for_each(pos, &mm->vmas) {
		struct vma *vma = list_entry(pos, struct vma, link);

		if (vma->end > addr)
			return vma;
	}
	return NULL;
}

static struct vma *vma_next(struct mm *mm, struct vma *vma)
{
	struct list *next = vma->link.next;

	return next == &mm->vmas ? NULL : list_entry(next, struct vma, link);
}

uint32_t vma_page_flags(const struct vma *vma)
{
	if (!(vma->flags & VM_PROT))
		return USER_PAGE_NONE;
	return (vma->flags & VM_WRITE ? USER_PAGE_WRITE : 0) |
	       (vma->flags & VM_EXEC ? USER_PAGE_EXEC : 0);
}

static bool vma_can_join(const struct vma *vma, const struct vma *range)
{
	return vma->end == range->start && vma->flags == range->flags && !vma->file && !range->file;
}

static int vma_insert(struct mm *mm, struct list *before, const struct vma *range)
{
	struct vma *vma = mm->nr_vmas < MM_MAX_VMAS ? kmalloc(sizeof(*vma)) : NULL;

	if (!vma)
		return -ENOMEM;
	*vma = *range;
	if (vma->file)
		get_file(vma->file);
	if (vma->file && vma->flags & VM_EXEC)
		unwind_changed(&mm->unwind);
	list_add_tail(before, &vma->link);
	mm->nr_vmas++;
	return 0;
}

int vma_add(struct mm *mm, const struct vma *range)
{
	struct vma *next = find_vma(mm, range->start);
	struct list *place = next ? &next->link : &mm->vmas;

	if (!may_expand_vm(mm, range))
		return -ENOMEM;
	if (place->prev != &mm->vmas) {
		struct vma *prev = list_entry(place->prev, struct vma, link);

		if (vma_can_join(prev, range)) {
			prev->end = range->end;
			return 0;
		}
	}
	return vma_insert(mm, place, range);
}

/* Cut a range in two at `at`, if that is inside. 0 or -ENOMEM. */
static int vma_split(struct mm *mm, uintptr_t at)
{
	struct vma *vma = find_vma(mm, at);
	struct vma low;
	int err;

	if (!vma || vma->start >= at)
		return 0;
	low = *vma;
	low.end = at;
	err = vma_insert(mm, &vma->link, &low);
	if (err)
		return err;
	vma->offset += at - vma->start;
	vma->start = at;
	return 0;
}

static int vma_drop_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	void *page = arch_phys_to_virt(arch_user_entry_phys(entry));
	struct mm *mm = arg;

	(void)virt;
	arch_user_entry_clear(entry);
	mm->nr_pages--;
	put_page(page);
	return 0;
}

static int vma_hide_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	(void)virt;
	(void)arg;
	arch_user_entry_set(entry, USER_PAGE_NONE);
	return 0;
}

/*
 * Give up the pages. Those that another thread may reach through the TLB of its CPU are hidden first, and wait for the
 * flush of that; the caller flushes its own.
 */
static void vma_drop_range(struct mm *mm, uintptr_t start, uintptr_t end)
{
	if (mm_is_shared(mm)) {
		arch_user_each(mm->root, start, end, vma_hide_page, NULL);
		mm_flush_tlb(mm);
	}
	arch_user_each(mm->root, start, end, vma_drop_page, mm);
}

static void vma_free(struct mm *mm, struct vma *vma)
{
	list_remove(&vma->link);
	mm->nr_vmas--;
	fput(vma->file);
	kfree(vma);
}

int vma_remove_range(struct mm *mm, uintptr_t start, uintptr_t end)
{
	int err = vma_split(mm, start);
	struct vma *vma, *next;

	if (!err)
		err = vma_split(mm, end);
	if (err)
		return err;
	mm->max_pages = mm_max_pages(mm);
	for (vma = find_vma(mm, start); vma && vma->start < end; vma = next) {
		next = vma_next(mm, vma);
		vma_drop_range(mm, vma->start, vma->end);
		vma_free(mm, vma);
	}
	uprobe_maps_changed();
	mm_flush_tlb(mm);
	return 0;
}

/* A page keeps no right that its range has not. It gets new ones by a fault, because it may be shared. */
static int vma_protect_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	uint32_t flags = vma_page_flags(arg);

	(void)virt;
	if (!arch_user_entry_is_writable(entry))
		flags &= ~USER_PAGE_WRITE;
	arch_user_entry_set(entry, flags);
	return 0;
}

bool vma_is_covered(struct mm *mm, uintptr_t start, uintptr_t end)
{
	while (start < end) {
		const struct vma *vma = find_vma(mm, start);

		if (!vma || vma->start > start)
			return false;
		start = vma->end;
	}
	return true;
}

void vma_drop_pages(struct mm *mm, uintptr_t start, uintptr_t end)
{
	mm->max_pages = mm_max_pages(mm);
	vma_drop_range(mm, start, end);
	mm_flush_tlb(mm);
}

/* Was each file that is shared there opened for writing? */
static bool vma_may_write(struct mm *mm, uintptr_t start, uintptr_t end)
{
	const struct vma *vma = find_vma(mm, start);

	for (; vma && vma->start < end; vma = find_vma(mm, vma->end)) {
		if (vma->flags & VM_SHARED && !(vma->file->flags & VFS_WRITE))
			return false;
	}
	return true;
}

int vma_protect(struct mm *mm, uintptr_t start, uintptr_t end, uint32_t prot)
{
	int err = vma_is_covered(mm, start, end) ? 0 : -ENOMEM;

	if (!err && prot & VM_WRITE && !vma_may_write(mm, start, end))
		err = -EACCES;
	if (!err)
		err = vma_split(mm, start);
	if (!err)
		err = vma_split(mm, end);
	for (uintptr_t at = start; at < end && !err;) {
		struct vma *vma = find_vma(mm, at);

		if (vma->file && prot & VM_EXEC && !(vma->flags & VM_EXEC))
			unwind_changed(&mm->unwind);
		vma->flags = (vma->flags & ~VM_PROT) | prot;
		arch_user_each(mm->root, vma->start, vma->end, vma_protect_page, vma);
		at = vma->end;
	}
	mm_flush_tlb(mm);
	return err;
}

uintptr_t vma_find_free(struct mm *mm, size_t bytes)
{
	uintptr_t end = mm->mmap_base;

	for (struct list *pos = mm->vmas.prev; pos != &mm->vmas; pos = pos->prev) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		if (vma->start >= end)
			continue;
		if (vma->end <= end && end - vma->end >= bytes)
			break;
		end = vma->start;
	}
	return end >= MM_LOWEST && end - MM_LOWEST >= bytes ? end - bytes : 0;
}
