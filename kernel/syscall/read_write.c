/*
 * read() and write(). The file system works on the kernel's memory, so bytes go through a buffer: a
 * small one on the stack, a larger one that is allocated. One write() of a program is one write of the
 * file system, up to RW_MAX bytes.
 */
#include "syscall.h"

#define RW_SMALL 256u
#define RW_MAX	 (1u << 20)

static ssize_t read_bounced(struct file *file, char *buf, size_t count, char *bounce)
{
	ssize_t got = vfs_read(file, bounce, count, NULL);

	if (got > 0 && copy_to_user(buf, bounce, (size_t)got))
		return -EFAULT;
	return got;
}

static ssize_t write_bounced(struct file *file, const char *buf, size_t count, char *bounce)
{
	if (copy_from_user(bounce, buf, count))
		return -EFAULT;
	return vfs_write(file, bounce, count, NULL);
}

/* Read, or write, with a buffer that is large enough. */
static ssize_t read_or_write(struct file *file, char *buf, size_t count, bool is_write)
{
	char small[RW_SMALL], *bounce = small;
	ssize_t result;

	if (count > RW_MAX)
		count = RW_MAX;
	if (count > sizeof(small))
		bounce = kmalloc(count);
	if (!bounce)
		return -ENOMEM;
	result = is_write ? write_bounced(file, buf, count, bounce)
			  : read_bounced(file, buf, count, bounce);
	if (bounce != small)
		kfree(bounce);
	return result;
}

/* The pointer is looked at before the file is, as Linux does. */
static long read_write_call(unsigned int fd, char *buf, size_t count, bool is_write)
{
	struct file *file = files_get_file(current_process()->files, fd);
	long result = -EFAULT;

	if (!file)
		return -EBADF;
	if (!(file->flags & (is_write ? VFS_WRITE : VFS_READ)))
		result = -EBADF;
	else if ((int64_t)count < 0)
		result = -EINVAL;
	else if (access_ok((uintptr_t)buf, count))
		result = read_or_write(file, buf, count, is_write);
	fput(file);
	return result;
}

long sys_read(unsigned int fd, char *buf, size_t count)
{
	return read_write_call(fd, buf, count, false);
}

long sys_write(unsigned int fd, const char *buf, size_t count)
{
	long result = read_write_call(fd, (char *)(uintptr_t)buf, count, true);

	if (result == -EPIPE)
		send_signal_self(SIGPIPE);
	return result;
}

long sys_close(unsigned int fd)
{
	return files_close(current_process()->files, fd);
}
