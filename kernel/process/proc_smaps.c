/* The files smaps and statm of /proc/PID: pages of its ranges, and who else has them. See proc_text.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "proc_text.h"

#define SMAPS_KIB   (PAGE_SIZE / 1024)
#define SMAPS_SHIFT 12 /* shares of pages are counted in bytes times this power of two */

/* Pages of a range that are there. Those of its own are all written to; those of a file are the file's. */
struct smaps_sums {
	const struct vma *vma;
	uint64_t nr, nr_shared, nr_own, nr_own_shared;
	uint64_t share,
		own_share; /* in bytes << SMAPS_SHIFT: a page that two have is half of each */
};

/* Is the page the file's, and not a copy that the program has made? */
static bool smaps_is_of_file(const struct vma *vma, uintptr_t virt, const void *page)
{
	void *there;

	if (!vma->file)
		return false;
	there = vma->file->ops->map_page(vma->file,
					 (vma->offset + (virt - vma->start)) / PAGE_SIZE);
	if (there)
		put_page(there);
	return there == page;
}

static int smaps_count_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	struct smaps_sums *sums = arg;
	void *page = arch_phys_to_virt(arch_user_entry_phys(entry));
	bool is_own = !smaps_is_of_file(sums->vma, virt, page);
	uint32_t users = page_count(page);
	uint64_t share;

	if (!is_own && users > 1)
		users--; /* the file itself */
	share = (PAGE_SIZE << SMAPS_SHIFT) / users;
	sums->nr++;
	sums->nr_shared += users > 1;
	sums->share += share;
	if (is_own) {
		sums->nr_own++;
		sums->nr_own_shared += users > 1;
		sums->own_share += share;
	}
	return 0;
}

static void smaps_add_sums(struct mm *mm, const struct vma *vma, struct smaps_sums *sums)
{
	sums->vma = vma;
	arch_user_each(mm->root, vma->start, vma->end, smaps_count_page, sums);
}

static void smaps_show_kib(struct text *text, const char *name, uint64_t kib)
{
	text_add(text, "%-15s %8lu kB\n", name, kib);
}

static void smaps_show_sums(struct text *text, const struct smaps_sums *sums)
{
	uint64_t nr_file = sums->nr - sums->nr_own;
	uint64_t nr_file_shared = sums->nr_shared - sums->nr_own_shared;

	smaps_show_kib(text, "Rss:", sums->nr * SMAPS_KIB);
	smaps_show_kib(text, "Pss:", sums->share >> SMAPS_SHIFT >> 10);
	smaps_show_kib(text, "Pss_Dirty:", sums->own_share >> SMAPS_SHIFT >> 10);
	smaps_show_kib(text, "Shared_Clean:", nr_file_shared * SMAPS_KIB);
	smaps_show_kib(text, "Shared_Dirty:", sums->nr_own_shared * SMAPS_KIB);
	smaps_show_kib(text, "Private_Clean:", (nr_file - nr_file_shared) * SMAPS_KIB);
	smaps_show_kib(text, "Private_Dirty:", (sums->nr_own - sums->nr_own_shared) * SMAPS_KIB);
	smaps_show_kib(text, "Referenced:", sums->nr * SMAPS_KIB);
	smaps_show_kib(text, "Anonymous:", sums->nr_own * SMAPS_KIB);
}

/* Flags by Linux's two letters: rights, rights that it may get, the stack's growth. */
static void smaps_show_flags(struct text *text, const struct vma *vma)
{
	text_add(text, "VmFlags: %s%s%s%smr mw me %s%s\n", vma->flags & VM_READ ? "rd " : "",
		 vma->flags & VM_WRITE ? "wr " : "", vma->flags & VM_EXEC ? "ex " : "",
		 vma->flags & VM_SHARED ? "sh " : "", vma->flags & VM_SHARED ? "ms " : "",
		 vma->flags & VM_STACK ? "gd " : "");
}

static void smaps_show_range(struct text *text, struct mm *mm, const struct vma *vma)
{
	static const char *const never[] = {
		/* kinds of memory that there are not */
		"LazyFree:",	  "AnonHugePages:",  "ShmemPmdMapped:",
		"FilePmdMapped:", "Shared_Hugetlb:", "Private_Hugetlb:",
		"Swap:",	  "SwapPss:",	     "Locked:"
	};
	struct smaps_sums sums = { 0 };

	proc_show_map(text, vma);
	smaps_show_kib(text, "Size:", (vma->end - vma->start) / 1024);
	smaps_show_kib(text, "KernelPageSize:", SMAPS_KIB);
	smaps_show_kib(text, "MMUPageSize:", SMAPS_KIB);
	smaps_add_sums(mm, vma, &sums);
	smaps_show_sums(text, &sums);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		smaps_show_kib(text, never[i], 0);
	text_add(text, "THPeligible:    0\n");
	smaps_show_flags(text, vma);
}

void proc_show_smaps(struct text *text, struct mm *mm)
{
	struct list *pos;

	mutex_lock(&mm->lock);
	list_for_each(pos, &mm->vmas)
		smaps_show_range(text, mm, list_entry(pos, struct vma, link));
	mutex_unlock(&mm->lock);
}

/* In pages: all, those there, those of files; the program's code; private memory that can be written to. */
void proc_show_statm(struct text *text, struct mm *mm)
{
	struct smaps_sums sums = { 0 };
	uint64_t all = 0, code = 0, data = 0;
	struct list *pos;

	mutex_lock(&mm->lock);
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);
		uint64_t nr = (vma->end - vma->start) / PAGE_SIZE;

		smaps_add_sums(mm, vma, &sums);
		all += nr;
		if ((vma->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE)
			data += nr;
		if (vma->flags & VM_EXEC && vma->file && vma->file->path &&
		    strcmp(vma->file->path, mm->exe) == 0)
			code += nr;
	}
	mutex_unlock(&mm->lock);
	text_add(text, "%lu %lu %lu %lu 0 %lu 0\n", all, sums.nr, sums.nr - sums.nr_own, code,
		 data);
}
