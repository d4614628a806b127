/* The work of mremap(), madvise(), msync() and mincore(): see mm.h. */
#include <arch/paging.h>
#include "process.h"

#define MREMAP_MAYMOVE 1u
#define MREMAP_FIXED   2u

#define MADV_NORMAL	0
#define MADV_DONTNEED	4
#define MADV_FREE	8
#define MADV_HUGEPAGE	14
#define MADV_NOHUGEPAGE 15

/* A page on its way to another address of the same program. */
struct mremap_move {
	struct mm *mm;
	uintptr_t by; /* what is added to its address */
	const struct vma *to;
};

/* The page keeps its user. One that may be shared is not writable until a fault has looked. */
static int mremap_move_page(uintptr_t virt, uint64_t *entry, void *arg)
{
	const struct mremap_move *move = arg;
	uint32_t flags = vma_page_flags(move->to);
	int err;

	if (!arch_user_entry_is_writable(entry))
		flags &= ~USER_PAGE_WRITE;
	err = arch_user_map(move->mm->root, virt + move->by, arch_user_entry_phys(entry), flags);
	if (!err)
		arch_user_entry_clear(entry);
	return err;
}

/*
 * Move pages to a range that has been made for them. -ENOMEM: those that are in their new place already
 * are moved back; for that there are tables.
 */
static int mremap_move_pages(struct mm *mm, uintptr_t old, size_t bytes, uintptr_t addr)
{
	struct mremap_move move = { .mm = mm, .by = addr - old, .to = find_vma(mm, addr) };
	int err = arch_user_each(mm->root, old, old + bytes, mremap_move_page, &move);

	if (err) {
		move.by = old - addr;
		arch_user_each(mm->root, addr, addr + bytes, mremap_move_page, &move);
	}
	mm_flush_tlb(mm);
	return err;
}

static long mremap_move_to(struct mm *mm, uintptr_t old, size_t old_bytes, uintptr_t addr,
			   size_t bytes)
{
	struct vma range = *find_vma(mm, old);
	int err;

	range.offset += range.file ? old - range.start : 0;
	range.start = addr;
	range.end = addr + bytes;
	err = uprobe_calls_end(mm, old, old + old_bytes);
	if (!err)
		err = vma_add(mm, &range);
	if (err)
		return err;
	err = mremap_move_pages(mm, old, old_bytes < bytes ? old_bytes : bytes, addr);
	vma_remove_range(mm, err ? addr : old, err ? addr + bytes : old + old_bytes);
	return err ? err : (long)addr;
}

/* Let the range that ends at `end` reach further, if nothing is in the way. */
static bool mremap_grow(struct mm *mm, struct vma *vma, uintptr_t end, size_t by)
{
	const struct vma *next = find_vma(mm, vma->end);

	if (vma->end != end || by > TASK_SIZE_MAX - end || (next && next->start < end + by))
		return false;
	vma->end += by;
	return true;
}

static long mremap_fixed(struct mm *mm, uintptr_t old, size_t old_bytes, uintptr_t addr,
			 size_t bytes)
{
	int err;

	if (addr % PAGE_SIZE || addr < MM_LOWEST || !access_ok(addr, bytes) ||
	    ranges_overlap(old, old_bytes, addr, bytes))
		return -EINVAL;
	err = vma_remove_range(mm, addr, addr + bytes);
	return err ? err : mremap_move_to(mm, old, old_bytes, addr, bytes);
}

static long mremap_locked(struct mm *mm, const struct mremap_args *args)
{
	struct vma *vma = find_vma(mm, args->old);
	uintptr_t addr;

	if (!vma || vma->start > args->old || vma->end - args->old < args->old_bytes)
		return -EFAULT;
	if (args->flags & MREMAP_FIXED)
		return mremap_fixed(mm, args->old, args->old_bytes, args->new_addr, args->bytes);
	if (args->bytes <= args->old_bytes) {
		int err = args->bytes == args->old_bytes
				  ? 0
				  : vma_remove_range(mm, args->old + args->bytes,
						     args->old + args->old_bytes);

		return err ? err : (long)args->old;
	}
	if (mremap_grow(mm, vma, args->old + args->old_bytes, args->bytes - args->old_bytes))
		return (long)args->old;
	addr = args->flags & MREMAP_MAYMOVE ? vma_find_free(mm, args->bytes) : 0;
	return addr ? mremap_move_to(mm, args->old, args->old_bytes, addr, args->bytes) : -ENOMEM;
}

long do_mremap(struct mm *mm, const struct mremap_args *args)
{
	struct mremap_args whole = *args;
	long result;

	if (args->flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED) || args->old % PAGE_SIZE ||
	    !args->bytes || !args->old_bytes || args->bytes > TASK_SIZE_MAX ||
	    args->old_bytes > TASK_SIZE_MAX ||
	    (args->flags & MREMAP_FIXED && !(args->flags & MREMAP_MAYMOVE)))
		return -EINVAL;
	whole.bytes = ALIGN_UP(args->bytes, PAGE_SIZE);
	whole.old_bytes = ALIGN_UP(args->old_bytes, PAGE_SIZE);
	mutex_lock(&mm->lock);
	result = mremap_locked(mm, &whole);
	mutex_unlock(&mm->lock);
	return result;
}

static bool mremap_knows_advice(int advice)
{
	return (advice >= MADV_NORMAL && advice <= MADV_DONTNEED) || advice == MADV_FREE ||
	       advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE;
}

int do_madvise(struct mm *mm, uintptr_t addr, size_t bytes, int advice)
{
	int err;

	if (addr % PAGE_SIZE || !mremap_knows_advice(advice))
		return -EINVAL;
	if (!bytes)
		return 0;
	bytes = ALIGN_UP(bytes, PAGE_SIZE);
	if (!bytes || !access_ok(addr, bytes))
		return -ENOMEM;
	mutex_lock(&mm->lock);
	err = vma_is_covered(mm, addr, addr + bytes) ? 0 : -ENOMEM;
	if (!err && advice == MADV_DONTNEED)
		vma_drop_pages(mm, addr, addr + bytes);
	mutex_unlock(&mm->lock);
	return err;
}

int do_msync(struct mm *mm, uintptr_t addr, size_t bytes)
{
	bool is_covered;

	if (addr % PAGE_SIZE)
		return -EINVAL;
	bytes = ALIGN_UP(bytes, PAGE_SIZE);
	if (!access_ok(addr, bytes))
		return -ENOMEM;
	mutex_lock(&mm->lock);
	is_covered = vma_is_covered(mm, addr, addr + bytes);
	mutex_unlock(&mm->lock);
	return is_covered ? 0 : -ENOMEM;
}

int do_mincore(struct mm *mm, uintptr_t addr, size_t nr, uint8_t *out)
{
	bool is_covered, is_writable;
	uint64_t phys;

	mutex_lock(&mm->lock);
	is_covered = vma_is_covered(mm, addr, addr + nr * PAGE_SIZE);
	for (size_t i = 0; i < nr && is_covered; i++)
		out[i] = arch_user_lookup(mm->root, addr + i * PAGE_SIZE, &phys, &is_writable);
	mutex_unlock(&mm->lock);
	return is_covered ? 0 : -ENOMEM;
}
