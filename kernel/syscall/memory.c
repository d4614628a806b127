/* mmap() and its kind, brk(): the calls; the work is in process/mmap.c and mremap.c. */
#include "syscall.h"

#define MINCORE_PART 256u /* pages at a time */

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_mmap(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
	      unsigned int fd, unsigned long off)
{
	struct file *file = NULL;
	long result;

	if (!(flags & MAP_ANONYMOUS)) {
		file = files_get_file(current_process()->files, fd);
		if (!file)
			return -EBADF;
	}
	if (off % PAGE_SIZE || prot > UINT32_MAX || flags > UINT32_MAX)
		result = -EINVAL;
	else
		result = do_mmap(current_task()->mm, addr, len, (uint32_t)prot, (uint32_t)flags,
				 file, file ? off : 0);
	fput(file);
	return result;
}

long sys_munmap(unsigned long addr, size_t len)
{
	return do_munmap(current_task()->mm, addr, len);
}

long sys_mprotect(unsigned long start, size_t len, unsigned long prot)
{
	return prot > UINT32_MAX ? -EINVAL
				 : do_mprotect(current_task()->mm, start, len, (uint32_t)prot);
}

long sys_brk(unsigned long brk)
{
	return (long)do_brk(current_task()->mm, brk);
}

long sys_mremap(unsigned long addr, unsigned long old_len, unsigned long new_len,
		unsigned long flags, unsigned long new_addr)
{
	const struct mremap_args args = { .old = addr,
					  .old_bytes = old_len,
					  .bytes = new_len,
					  .flags = (uint32_t)flags,
					  .new_addr = new_addr };

	return flags > UINT32_MAX ? -EINVAL : do_mremap(current_task()->mm, &args);
}

long sys_madvise(unsigned long start, size_t len_in, int behavior)
{
	return do_madvise(current_task()->mm, start, len_in, behavior);
}

/* The pages of a shared range are the file's own: there is nothing to write. */
long sys_msync(unsigned long start, size_t len, int flags)
{
	return flags & ~7 || (flags & 5) == 5 ? -EINVAL : do_msync(current_task()->mm, start, len);
}

long sys_mincore(unsigned long start, size_t len, unsigned char *vec)
{
	size_t nr = ALIGN_UP(len, PAGE_SIZE) / PAGE_SIZE;
	uint8_t part[MINCORE_PART];
	int err = 0;

	if (start % PAGE_SIZE)
		return -EINVAL;
	if (len > TASK_SIZE_MAX || !access_ok(start, nr * PAGE_SIZE))
		return -ENOMEM;
	for (size_t done = 0; done < nr && !err;) {
		size_t pages = nr - done < sizeof(part) ? nr - done : sizeof(part);

		err = do_mincore(current_task()->mm, start + done * PAGE_SIZE, pages, part);
		if (!err && copy_to_user(vec + done, part, pages))
			err = -EFAULT;
		done += pages;
	}
	return err;
}

/* A file in memory without a name; `uname` is only for people who look. */
long sys_memfd_create(const char *uname, unsigned int flags)
{
	struct file *file;
	char first;
	int err = flags & ~3u ? -EINVAL : 0;

	if (!err && copy_from_user(&first, uname, 1))
		err = -EFAULT;
	if (!err)
		err = vfs_open_unnamed(VFS_READ | VFS_WRITE, &file);
	return err ? err : files_install(current_process()->files, file, 0, flags & 1);
}
