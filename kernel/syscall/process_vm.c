/* Copying between the memory of two programs: process_vm_readv() and process_vm_writev(). */
#include <kernel/mm.h>
#include "syscall.h"

#define VM_VECTORS_MAX 1024u

/* A place in a list of ranges, which is read on the way. */
struct vm_cursor {
	const struct user_iovec *next;
	unsigned long nr; /* that are left */
	uintptr_t at;
	size_t bytes; /* of the present one */
};

struct vm_copy {
	struct mm *mm;
	bool writes;
	char *buffer; /* a page */
};

/* Step to a range that has bytes. False: there is none, and *out_err is set if the list itself cannot be read. */
static bool vm_cursor_fill(struct vm_cursor *cursor, long *out_err)
{
	struct user_iovec vec;

	while (!cursor->bytes && cursor->nr) {
		if (copy_from_user(&vec, cursor->next, sizeof(vec))) {
			*out_err = -EFAULT;
			return false;
		}
		cursor->next++;
		cursor->nr--;
		cursor->at = (uintptr_t)vec.base;
		cursor->bytes = vec.len;
	}
	return cursor->bytes;
}

static void vm_cursor_advance(struct vm_cursor *cursor, size_t bytes)
{
	cursor->at += bytes;
	cursor->bytes -= bytes;
}

static bool vm_copy_part(const struct vm_copy *copy, uintptr_t own, uintptr_t other, size_t bytes)
{
	if (copy->writes)
		return !copy_from_user(copy->buffer, (const void *)own, bytes) &&
		       !mm_write(copy->mm, other, copy->buffer, bytes);
	return mm_read(copy->mm, other, copy->buffer, bytes) == bytes &&
	       !copy_to_user((void *)own, copy->buffer, bytes);
}

/* By pieces that end where a page of the other program does. The bytes that were copied, or -errno if there were none. */
static long vm_copy_all(const struct vm_copy *copy, struct vm_cursor *own, struct vm_cursor *other)
{
	long done = 0, err = 0;

	while (!err && vm_cursor_fill(own, &err) && vm_cursor_fill(other, &err)) {
		size_t part = PAGE_SIZE - other->at % PAGE_SIZE;

		part = part < own->bytes ? part : own->bytes;
		part = part < other->bytes ? part : other->bytes;
		if (!vm_copy_part(copy, own->at, other->at, part))
			err = -EFAULT;
		else
			done += (long)part;
		vm_cursor_advance(own, part);
		vm_cursor_advance(other, part);
	}
	return done ? done : err;
}

static long vm_copy_begin(int pid, struct vm_cursor own, struct vm_cursor other, bool writes)
{
	struct process *process = process_of_thread(pid);
	struct vm_copy copy = { .writes = writes };
	int err = -ESRCH;
	long result;

	if (process)
		copy.mm = ptrace_get_mm(process, &err);
	result = err;
	process_put(process);
	copy.buffer = copy.mm ? kmalloc(PAGE_SIZE) : NULL;
	if (copy.mm)
		result = copy.buffer ? vm_copy_all(&copy, &own, &other) : -ENOMEM;
	kfree(copy.buffer);
	mm_put(copy.mm);
	return result;
}

static bool vm_is_wrong(unsigned long nr_own, unsigned long nr_other, unsigned long flags)
{
	return flags || nr_own > VM_VECTORS_MAX || nr_other > VM_VECTORS_MAX;
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_process_vm_readv(int pid, const struct user_iovec *lvec, unsigned long liovcnt,
			  const struct user_iovec *rvec, unsigned long riovcnt, unsigned long flags)
{
	const struct vm_cursor own = { .next = lvec, .nr = liovcnt };
	const struct vm_cursor other = { .next = rvec, .nr = riovcnt };

	return vm_is_wrong(liovcnt, riovcnt, flags) ? -EINVAL
						    : vm_copy_begin(pid, own, other, false);
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_process_vm_writev(int pid, const struct user_iovec *lvec, unsigned long liovcnt,
			   const struct user_iovec *rvec, unsigned long riovcnt,
			   unsigned long flags)
{
	const struct vm_cursor own = { .next = lvec, .nr = liovcnt };
	const struct vm_cursor other = { .next = rvec, .nr = riovcnt };

	return vm_is_wrong(liovcnt, riovcnt, flags) ? -EINVAL
						    : vm_copy_begin(pid, own, other, true);
}
