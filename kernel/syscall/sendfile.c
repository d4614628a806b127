/* sendfile(): from one open file to another, without the program's memory. */
#include "syscall.h"

#define SENDFILE_PART 16384u

/* Move up to `bytes`. What was moved, or -errno if that is nothing. */
static ssize_t sendfile_part(struct file *to, struct file *from, uint64_t *pos, char *buf,
			     size_t bytes)
{
	ssize_t got = vfs_read(from, buf, bytes < SENDFILE_PART ? bytes : SENDFILE_PART, pos), put;

	if (got <= 0)
		return got;
	put = vfs_write(to, buf, (size_t)got, NULL);
	if (put < got && pos)
		*pos -= (uint64_t)(put < 0 ? got : got - put);
	return put;
}

static ssize_t sendfile_run(struct file *to, struct file *from, uint64_t *pos, size_t bytes)
{
	char *buf = kmalloc(SENDFILE_PART);
	size_t done = 0;
	ssize_t got = buf ? 1 : -ENOMEM;

	while (got > 0 && done < bytes) {
		got = sendfile_part(to, from, pos, buf, bytes - done);
		if (got > 0)
			done += (size_t)got;
	}
	kfree(buf);
	return done ? (ssize_t)done : got;
}

/* The input needs a position; without `offset` its own one moves. */
static ssize_t sendfile_between(struct file *to, struct file *from, uint64_t *pos, size_t bytes)
{
	if (!(from->flags & VFS_READ) || !(to->flags & VFS_WRITE))
		return -EBADF;
	if (!from->ops->has_position)
		return pos ? -ESPIPE : -EINVAL;
	return sendfile_run(to, from, pos, bytes > INT32_MAX ? INT32_MAX : bytes);
}

long sys_sendfile64(int out_fd, int in_fd, long *offset, size_t count)
{
	struct file *to = files_get_file(current_process()->files, (unsigned int)out_fd);
	struct file *from = files_get_file(current_process()->files, (unsigned int)in_fd);
	uint64_t pos = 0;
	long result = -EBADF;

	if (offset && copy_from_user(&pos, offset, sizeof(pos)))
		result = -EFAULT;
	else if ((int64_t)pos < 0)
		result = -EINVAL;
	else if (to && from)
		result = sendfile_between(to, from, offset ? &pos : NULL, count);
	if (result >= 0 && offset && copy_to_user(offset, &pos, sizeof(pos)))
		result = -EFAULT;
	fput(from);
	fput(to);
	if (result == -EPIPE)
		kill_self(SIGPIPE);
	return result;
}
