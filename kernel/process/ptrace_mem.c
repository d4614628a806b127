/* Memory of programs as their tracers see it: see ptrace.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "mm.h"
#include "ptrace.h"

/* The byte at `addr`, to be written to. The page in *out_old is let go of when no TLB has it. mm->lock is held. */
static void *ptrace_own_byte(struct mm *mm, uintptr_t addr, void **out_old)
{
	const struct vma *vma = find_vma(mm, addr);
	enum fault_result result;
	char *page;

	if (!vma || addr < vma->start || vma->flags & (VM_WRITE | VM_SHARED))
		return mm_page_locked(mm, addr, VM_WRITE, &result);
	if (!mm_page_locked(mm, addr, VM_READ, &result))
		return NULL;
	page = mm_own_page(mm, ALIGN_DOWN(addr, PAGE_SIZE), out_old);
	return page ? page + addr % PAGE_SIZE : NULL;
}

static bool ptrace_write_part(struct mm *mm, uintptr_t to, const void *from, size_t bytes)
{
	void *old = NULL, *at;

	mutex_lock(&mm->lock);
	at = ptrace_own_byte(mm, to, &old);
	if (old)
		mm_flush_tlb(mm);
	if (at)
		memcpy(at, from, bytes);
	mutex_unlock(&mm->lock);
	put_page(old);
	return at;
}

size_t ptrace_write_memory(struct mm *mm, uintptr_t to, const void *from, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t part = PAGE_SIZE - (to + done) % PAGE_SIZE;

		if (part > bytes - done)
			part = bytes - done;
		if (!ptrace_write_part(mm, to + done, (const char *)from + done, part))
			break;
		done += part;
	}
	return done;
}

size_t ptrace_read_memory(struct mm *mm, uintptr_t from, void *to, size_t bytes)
{
	return mm_read(mm, from, to, bytes);
}
