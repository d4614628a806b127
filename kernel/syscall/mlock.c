/*
 * mlock() and its kind. No page is ever written out, so that to lock a range is to have its pages there now; what is locked is
 * not kept, and the limit is for one call.
 */
#include <kernel/cred.h>
#include <kernel/rlimit.h>
#include "syscall.h"

#define MLOCK_ONFAULT 1
#define MCL_CURRENT   1
#define MCL_FUTURE    2
#define MCL_ONFAULT   4

/* Make the pages of a part of one range, as a write would if it may be written. The lock is held. */
static int mlock_populate(struct mm *mm, const struct vma *vma, uintptr_t start, uintptr_t end)
{
	bool writes = vma->flags & VM_WRITE && !(vma->flags & VM_SHARED);
	enum fault_result result = FAULT_DONE;

	if (!(vma->flags & VM_PROT))
		return -ENOMEM;
	for (uintptr_t at = start; at < end && result == FAULT_DONE; at += PAGE_SIZE)
		result = handle_mm_fault(mm, at,
					 writes			? VM_WRITE
					 : vma->flags & VM_READ ? VM_READ
								: VM_EXEC);
	return result == FAULT_DONE ? 0 : result == FAULT_NO_MEMORY ? -EAGAIN : -ENOMEM;
}

/* The lock is held, and every address is mapped. */
static int mlock_populate_all(struct mm *mm, uintptr_t start, uintptr_t end)
{
	int err = 0;

	while (start < end && !err) {
		const struct vma *vma = find_vma(mm, start);
		uintptr_t part_end = vma->end < end ? vma->end : end;

		err = mlock_populate(mm, vma, start, part_end);
		start = part_end;
	}
	return err;
}

/* 0; -EPERM: the limit is 0; -ENOMEM: it is less than these bytes. */
static int mlock_check_limit(uint64_t bytes)
{
	uint64_t most = rlimit(RLIMIT_MEMLOCK);

	if (capable(CAP_IPC_LOCK))
		return 0;
	if (!most)
		return -EPERM;
	return bytes > most ? -ENOMEM : 0;
}

/* Whole pages around the bytes. 0, -EINVAL or -ENOMEM. */
static int mlock_range(uintptr_t start, size_t len, uintptr_t *out_start, uintptr_t *out_end)
{
	uintptr_t end;

	if (__builtin_add_overflow(start, len, &end) || end > UINT64_MAX - PAGE_SIZE)
		return -EINVAL;
	*out_start = ALIGN_DOWN(start, PAGE_SIZE);
	*out_end = ALIGN_UP(end, PAGE_SIZE);
	return access_ok(*out_start, *out_end - *out_start) ? 0 : -ENOMEM;
}

/* With all pages there afterwards, if it `populates`. */
static int mlock_pages(uintptr_t start, uintptr_t end, bool populates)
{
	struct mm *mm = current_task()->mm;
	int err;

	mutex_lock(&mm->lock);
	err = start == end || vma_is_covered(mm, start, end) ? 0 : -ENOMEM;
	if (!err && populates)
		err = mlock_populate_all(mm, start, end);
	mutex_unlock(&mm->lock);
	return err;
}

long sys_mlock2(unsigned long start, size_t len, int flags)
{
	uintptr_t first, end;
	int err = flags & ~MLOCK_ONFAULT ? -EINVAL : mlock_range(start, len, &first, &end);

	if (!err)
		err = mlock_check_limit(end - first);
	return err ? err : mlock_pages(first, end, !(flags & MLOCK_ONFAULT));
}

long sys_mlock(unsigned long start, size_t len)
{
	return sys_mlock2(start, len, 0);
}

long sys_munlock(unsigned long start, size_t len)
{
	uintptr_t first, end;
	int err = mlock_range(start, len, &first, &end);

	return err ? err : mlock_pages(first, end, false);
}

/* Ranges whose pages cannot be had stay without them. */
static void mlock_all_now(struct mm *mm)
{
	struct list *pos;

	mutex_lock(&mm->lock);
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		mlock_populate(mm, vma, vma->start, vma->end);
	}
	mutex_unlock(&mm->lock);
}

static uint64_t mlock_bytes_mapped(struct mm *mm)
{
	uint64_t bytes = 0;
	struct list *pos;

	mutex_lock(&mm->lock);
	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		bytes += vma->end - vma->start;
	}
	mutex_unlock(&mm->lock);
	return bytes;
}

/* Pages of ranges to come are made when they are touched, even with MCL_FUTURE. */
long sys_mlockall(int flags)
{
	struct mm *mm = current_task()->mm;
	int err;

	if (!flags || flags == MCL_ONFAULT || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return -EINVAL;
	err = mlock_check_limit(flags & MCL_CURRENT ? mlock_bytes_mapped(mm) : 0);
	if (!err && flags & MCL_CURRENT && !(flags & MCL_ONFAULT))
		mlock_all_now(mm);
	return err;
}

long sys_munlockall(void)
{
	return 0;
}
