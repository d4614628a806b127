/* The work of mmap(), munmap(), mprotect() and brk(): see mm.h. */
#include "process.h"

#define PROT_GROWSDOWN 0x01000000u
#define PROT_GROWSUP   0x02000000u

static bool mmap_is_range(uintptr_t addr, size_t bytes)
{
	return addr % PAGE_SIZE == 0 && bytes && access_ok(addr, bytes);
}

/* The address that a mapping gets; 0 when there is no room. */
static uintptr_t mmap_place(struct mm *mm, uintptr_t hint, size_t bytes)
{
	const struct vma *vma;

	hint = ALIGN_DOWN(hint, PAGE_SIZE);
	if (hint >= MM_LOWEST && mmap_is_range(hint, bytes)) {
		vma = find_vma(mm, hint);
		if (!vma || vma->start >= hint + bytes)
			return hint;
	}
	return vma_find_free(mm, bytes);
}

/* Make the addresses of a range free, unless it will not be mapped there: then all stays as it is. 0 or -errno. */
static int mmap_clear(struct mm *mm, const struct vma *range, uint32_t flags)
{
	const struct vma *vma = find_vma(mm, range->start);

	if (!vma || vma->start >= range->end)
		return 0;
	if (flags & MAP_FIXED_NOREPLACE)
		return -EEXIST;
	/* Two more where ranges are cut, and the new one. */
	if (!may_expand_vm(mm, range) || mm->nr_vmas + 3 > MM_MAX_VMAS)
		return -ENOMEM;
	return vma_remove_range(mm, range->start, range->end);
}

/* Choose the address of a range of so many bytes, and make it free. 0 or -errno. */
static int mmap_make_room(struct mm *mm, struct vma *range, size_t bytes, uint32_t flags)
{
	bool is_fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);

	if (!is_fixed) {
		range->start = mmap_place(mm, range->start, bytes);
		if (!range->start)
			return -ENOMEM;
	} else if (!mmap_is_range(range->start, bytes)) {
		return range->start % PAGE_SIZE ? -EINVAL : -ENOMEM;
	} else if (range->start < MM_LOWEST) {
		return -EPERM;
	}
	range->end = range->start + bytes;
	return is_fixed ? mmap_clear(mm, range, flags) : 0;
}

static int mmap_check(size_t bytes, uint32_t prot, uint32_t flags, uint64_t offset)
{
	uint32_t type = flags & MAP_TYPE;

	if (!bytes || prot & ~VM_PROT || offset % PAGE_SIZE || offset + bytes < offset)
		return -EINVAL;
	if (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE)
		return -EINVAL;
	return bytes > TASK_SIZE_MAX ? -ENOMEM : 0;
}

static int mmap_check_file(const struct file *file, uint32_t prot, uint32_t flags)
{
	bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;

	if (!(file->flags & VFS_READ) ||
	    (is_shared && prot & VM_WRITE && !(file->flags & VFS_WRITE)))
		return -EACCES;
	return file->ops->map_page ? 0 : -ENODEV;
}

/* Memory that a program shares with its children is a file without a name. */
static int mmap_share_memory(size_t bytes, struct file **out_file)
{
	int err = vfs_open_unnamed(VFS_READ | VFS_WRITE, out_file);

	return err ? err : file_truncate(*out_file, bytes);
}

static long mmap_add(struct mm *mm, const struct vma *range, uint32_t flags)
{
	size_t bytes = range->end - range->start;
	struct vma at = *range;
	int err;

	mutex_lock(&mm->lock);
	err = mmap_make_room(mm, &at, bytes, flags);
	if (!err)
		err = vma_add(mm, &at);
	mutex_unlock(&mm->lock);
	return err ? err : (long)at.start;
}

// NOLINTNEXTLINE(readability-function-size): those of the call, and the address space
long do_mmap(struct mm *mm, uintptr_t addr, size_t bytes, uint32_t prot, uint32_t flags,
	     struct file *file, uint64_t offset)
{
	bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
	struct vma range = { .start = addr, .flags = prot, .file = file, .offset = offset };
	long result = mmap_check(bytes, prot, flags, offset);

	if (!result && file)
		result = mmap_check_file(file, prot, flags);
	if (result)
		return result;
	bytes = ALIGN_UP(bytes, PAGE_SIZE);
	range.end = addr + bytes;
	range.flags |= is_shared ? VM_SHARED : 0;
	if (is_shared && !file)
		result = mmap_share_memory(bytes, &range.file);
	if (!result)
		result = mmap_add(mm, &range, flags);
	if (range.file != file)
		fput(range.file);
	return result;
}

int do_munmap(struct mm *mm, uintptr_t addr, size_t bytes)
{
	int err;

	if (bytes > TASK_SIZE_MAX || !mmap_is_range(addr, ALIGN_UP(bytes, PAGE_SIZE)))
		return -EINVAL;
	mutex_lock(&mm->lock);
	err = vma_remove_range(mm, addr, addr + ALIGN_UP(bytes, PAGE_SIZE));
	mutex_unlock(&mm->lock);
	return err;
}

int do_mprotect(struct mm *mm, uintptr_t addr, size_t bytes, uint32_t prot)
{
	int err;

	if (addr % PAGE_SIZE || prot & ~(VM_PROT | PROT_GROWSDOWN | PROT_GROWSUP))
		return -EINVAL;
	if (!bytes)
		return 0;
	if (bytes > TASK_SIZE_MAX || !mmap_is_range(addr, ALIGN_UP(bytes, PAGE_SIZE)))
		return -ENOMEM;
	mutex_lock(&mm->lock);
	err = vma_protect(mm, addr, addr + ALIGN_UP(bytes, PAGE_SIZE), prot & VM_PROT);
	mutex_unlock(&mm->lock);
	return err;
}

/* Add zeros between the old end of the heap and the new one. Lock held. */
static int mmap_grow_heap(struct mm *mm, uintptr_t end, uintptr_t new_end)
{
	const struct vma *next = find_vma(mm, end);

	if (new_end > mm->mmap_base || (next && next->start < new_end + STACK_GAP))
		return -ENOMEM;
	return vma_add(mm, &(struct vma){ .start = end,
					  .end = new_end,
					  .flags = VM_READ | VM_WRITE | VM_HEAP });
}

uintptr_t do_brk(struct mm *mm, uintptr_t brk)
{
	uintptr_t end, new_end = ALIGN_UP(brk, PAGE_SIZE);
	int err = 0;

	mutex_lock(&mm->lock);
	end = ALIGN_UP(mm->brk, PAGE_SIZE);
	if (brk < mm->start_brk || brk >= TASK_SIZE_MAX)
		err = -ENOMEM;
	else if (new_end > end)
		err = mmap_grow_heap(mm, end, new_end);
	else if (new_end < end)
		err = vma_remove_range(mm, new_end, end);
	if (!err)
		mm->brk = brk;
	brk = mm->brk;
	mutex_unlock(&mm->lock);
	return brk;
}
