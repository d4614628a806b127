/* mmap(), munmap(), mprotect(), brk(): the calls; the work is in process/mmap.c. */
#include "syscall.h"

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
