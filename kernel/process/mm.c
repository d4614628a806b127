/* Making, copying and freeing address spaces: see mm.h. */
#include <stdatomic.h>
#include <arch/paging.h>
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "mm.h"

struct mutex mm_list_lock;
struct list mm_list = LIST_INIT(mm_list);
uint64_t mm_list_seq;

struct mm *mm_create(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));

	if (!mm)
		return NULL;
	mm->root = arch_user_root_create();
	if (!mm->root) {
		kfree(mm);
		return NULL;
	}
	atomic_store(&mm->users, 1);
	list_init(&mm->vmas);
	mutex_lock(&mm_list_lock);
	mm->uprobe_seq = mm_list_seq;
	list_add_tail(&mm_list, &mm->all_link);
	mutex_unlock(&mm_list_lock);
	return mm;
}

void mm_flush_tlb(struct mm *mm)
{
	/* Entries are written before the CPUs are read: one that is not among them yet loads them anew. */
	atomic_thread_fence(memory_order_seq_cst);
	arch_user_flush_tlb(mm_is_shared(mm) ? atomic_load(&mm->cpus) : 0);
}

struct mm *mm_get(struct mm *mm)
{
	atomic_fetch_add(&mm->users, 1);
	return mm;
}

void mm_put(struct mm *mm)
{
	if (!mm || atomic_fetch_sub(&mm->users, 1) > 1)
		return;
	mutex_lock(&mm_list_lock);
	list_remove(&mm->all_link);
	mutex_unlock(&mm_list_lock);
	mutex_lock(&mm->lock);
	vma_remove_range(mm, 0, TASK_SIZE_MAX);
	mutex_unlock(&mm->lock);
	uprobe_areas_free(mm);
	user_enablers_free(mm);
	unwind_free(&mm->unwind);
	arch_user_root_free(mm->root);
	kfree(mm);
}

/* One page for the other side, too. Neither may write to it any more, unless the range is shared. */
static int mm_share_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	uint64_t phys = arch_user_entry_phys(entry);
	struct mm *to = arg;
	const struct vma *vma = find_vma(to, virt);
	uint32_t flags = vma_page_flags(vma);
	int err;

	if (!(vma->flags & VM_SHARED))
		flags &= ~USER_PAGE_WRITE;
	err = arch_user_map(to->root, virt, phys, flags);

	if (err)
		return err;
	get_page(arch_phys_to_virt(phys));
	arch_user_entry_set(entry, flags);
	return 0;
}

static int mm_copy_locked(struct mm *to, struct mm *from)
{
	struct list *pos;
	int err = 0;

	list_for_each(pos, &from->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		if (!err)
			err = vma_add(to, vma);
		if (!err)
			err = arch_user_each(from->root, vma->start, vma->end, mm_share_page, to);
	}
	mm_flush_tlb(from);
	to->nr_pages = from->nr_pages;
	return err;
}

struct mm *mm_copy(struct mm *from)
{
	struct mm *to = mm_create();
	int err;

	if (!to)
		return NULL;
	mutex_lock(&from->lock);
	to->start_brk = from->start_brk;
	to->brk = from->brk;
	to->mmap_base = from->mmap_base;
	to->stack_top = from->stack_top;
	to->arg_start = from->arg_start;
	to->arg_end = from->arg_end;
	to->env_end = from->env_end;
	to->aux_start = from->aux_start;
	to->aux_end = from->aux_end;
	strlcpy(to->exe, from->exe, sizeof(to->exe));
	to->is_dumpable = from->is_dumpable;
	to->membarriers = from->membarriers;
	mutex_lock(&to->lock);
	to->uprobe_seq = from->uprobe_seq;
	to->uprobe_trampoline = from->uprobe_trampoline;
	memcpy(to->uprobe_calls, from->uprobe_calls, sizeof(to->uprobe_calls));
	err = uprobe_areas_copy(to, from);
	if (!err)
		err = user_enablers_copy(to, from);
	if (!err)
		err = mm_copy_locked(to, from);
	if (!err)
		unwind_copy(&to->unwind, &from->unwind);
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
	if (!err)
		return to;
	mm_put(to);
	return NULL;
}

void *mm_page_locked(struct mm *mm, uintptr_t addr, uint32_t access, enum fault_result *out_result)
{
	bool is_writable;
	uint64_t phys;

	ASSERT(mutex_held(&mm->lock));
	*out_result = addr < TASK_SIZE_MAX ? handle_mm_fault(mm, addr, access) : FAULT_NOT_MAPPED;
	if (*out_result != FAULT_DONE || !arch_user_lookup(mm->root, addr, &phys, &is_writable))
		return NULL;
	return (char *)arch_phys_to_virt(phys) + addr % PAGE_SIZE;
}

/* The part of a page, in memory that has a page. */
static int mm_write_part(struct mm *mm, uintptr_t to, const void *from, size_t bytes)
{
	enum fault_result result;
	void *at;

	mutex_lock(&mm->lock);
	at = mm_page_locked(mm, to, VM_WRITE, &result);
	if (at && from)
		memcpy(at, from, bytes);
	else if (at)
		memset(at, 0, bytes);
	mutex_unlock(&mm->lock);
	if (at)
		return 0;
	return result == FAULT_NO_MEMORY ? -ENOMEM : -EFAULT;
}

int mm_write(struct mm *mm, uintptr_t to, const void *from, size_t bytes)
{
	const char *next = from;
	int err = 0;

	while (bytes && !err) {
		size_t part = PAGE_SIZE - to % PAGE_SIZE;

		if (part > bytes)
			part = bytes;
		err = mm_write_part(mm, to, next, part);
		to += part;
		bytes -= part;
		if (next)
			next += part;
	}
	return err;
}

/* The part of a page. Its program may take the page away at any time: so the lock is held. */
static bool mm_read_part(struct mm *mm, uintptr_t from, void *to, size_t bytes)
{
	enum fault_result result;
	const void *at;

	mutex_lock(&mm->lock);
	at = mm_page_locked(mm, from, VM_READ, &result);
	if (at)
		memcpy(to, at, bytes);
	mutex_unlock(&mm->lock);
	return at;
}

size_t mm_read(struct mm *mm, uintptr_t from, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t part = PAGE_SIZE - (from + done) % PAGE_SIZE;

		if (part > bytes - done)
			part = bytes - done;
		if (!mm_read_part(mm, from + done, (char *)to + done, part))
			break;
		done += part;
	}
	return done;
}
