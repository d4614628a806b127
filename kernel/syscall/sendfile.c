/* sendfile() and copy_file_range(): from one open file to another, without the program's memory. */
#include "syscall.h"

#define SENDFILE_PART 16384u

struct sendfile {
	struct file *from, *to;
	uint64_t *from_pos, *to_pos; /* NULL: the file's own, which moves */
};

/* Move up to `bytes`. What was moved, or -errno if that is nothing. */
static ssize_t sendfile_part(const struct sendfile *send, char *buf, size_t bytes)
{
	ssize_t got = vfs_read(send->from, buf, bytes < SENDFILE_PART ? bytes : SENDFILE_PART,
			       send->from_pos);
	ssize_t put;

	if (got <= 0)
		return got;
	put = vfs_write(send->to, buf, (size_t)got, send->to_pos);
	if (put < got && send->from_pos)
		*send->from_pos -= (uint64_t)(put < 0 ? got : got - put);
	return put;
}

static ssize_t sendfile_run(const struct sendfile *send, size_t bytes)
{
	char *buf = kmalloc(SENDFILE_PART);
	size_t done = 0;
	ssize_t got = buf ? 1 : -ENOMEM;

	while (got > 0 && done < bytes) {
		got = sendfile_part(send, buf, bytes - done);
		if (got > 0)
			done += (size_t)got;
	}
	kfree(buf);
	return done ? (ssize_t)done : got;
}

static size_t sendfile_most(size_t bytes)
{
	return bytes > INT32_MAX ? INT32_MAX : bytes;
}

/* The input needs a position; without `offset` its own one moves. */
static ssize_t sendfile_between(const struct sendfile *send, size_t bytes)
{
	if (!(send->from->flags & VFS_READ) || !(send->to->flags & VFS_WRITE))
		return -EBADF;
	if (!send->from->ops->has_position)
		return send->from_pos ? -ESPIPE : -EINVAL;
	return sendfile_run(send, sendfile_most(bytes));
}

long sys_sendfile64(int out_fd, int in_fd, long *offset, size_t count)
{
	uint64_t pos = 0;
	const struct sendfile send = {
		.from = files_get_file(current_process()->files, (unsigned int)in_fd),
		.to = files_get_file(current_process()->files, (unsigned int)out_fd),
		.from_pos = offset ? &pos : NULL,
	};
	long result = -EBADF;

	if (offset && copy_from_user(&pos, offset, sizeof(pos)))
		result = -EFAULT;
	else if ((int64_t)pos < 0)
		result = -EINVAL;
	else if (send.to && send.from)
		result = sendfile_between(&send, count);
	if (result >= 0 && offset && copy_to_user(offset, &pos, sizeof(pos)))
		result = -EFAULT;
	fput(send.from);
	fput(send.to);
	if (result == -EPIPE)
		kill_self(SIGPIPE);
	return result;
}

/* ---- copy_file_range(): between plain files, at a place in each ---- */

/* 0; -EISDIR; -EINVAL: one of them is no plain file; -EXDEV: it is not in memory. */
static int sendfile_check_kind(const struct file *file)
{
	struct vfs_stat stat = { 0 };

	if (file->ops == &vfs_directory_ops)
		return -EISDIR;
	if (!file->ops->has_position)
		return -EINVAL;
	if (!file->ops->map_page)
		return -EXDEV;
	file->ops->stat((struct file *)(uintptr_t)file, &stat);
	return stat.type == VFS_REGULAR ? 0 : -EINVAL;
}

/* Does a copy of `bytes` begin or end within what it is copied from? */
static bool sendfile_overlaps(const struct sendfile *send, uint64_t bytes)
{
	return send->from->ops == send->to->ops && send->from->object == send->to->object &&
	       *send->to_pos + bytes > *send->from_pos && *send->to_pos < *send->from_pos + bytes;
}

/* The bytes that there are to be copied, up to the end of the input; or -errno. */
static long sendfile_check_range(const struct sendfile *send, size_t bytes)
{
	struct vfs_stat stat = { 0 };
	uint64_t from = *send->from_pos, to = *send->to_pos, end;

	if ((int64_t)from < 0 || (int64_t)to < 0)
		return -EINVAL;
	if (__builtin_add_overflow(from, bytes, &end) || __builtin_add_overflow(to, bytes, &end))
		return -EOVERFLOW;
	send->from->ops->stat(send->from, &stat);
	if (from >= stat.size)
		bytes = 0;
	else if (bytes > stat.size - from)
		bytes = stat.size - from;
	return sendfile_overlaps(send, bytes) ? -EINVAL : (long)sendfile_most(bytes);
}

static long sendfile_copy(const struct sendfile *send, size_t bytes, unsigned int flags)
{
	int err = flags ? -EINVAL : sendfile_check_kind(send->from);
	long len;

	if (!err)
		err = sendfile_check_kind(send->to);
	if (err)
		return err;
	if (!(send->from->flags & VFS_READ) || !(send->to->flags & VFS_WRITE) ||
	    send->to->flags & VFS_APPEND)
		return -EBADF;
	len = sendfile_check_range(send, bytes);
	return len > 0 ? sendfile_run(send, (size_t)len) : len;
}

/* The place in a file: the one that the program gives, or the file's own. */
static int sendfile_get_pos(const struct file *file, const long *off, uint64_t *pos)
{
	*pos = file->pos;
	return off && copy_from_user(pos, off, sizeof(*pos)) ? -EFAULT : 0;
}

static int sendfile_put_pos(struct file *file, long *off, uint64_t pos)
{
	if (!off)
		file->pos = pos;
	return off && copy_to_user(off, &pos, sizeof(pos)) ? -EFAULT : 0;
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_copy_file_range(int fd_in, long *off_in, int fd_out, long *off_out, size_t len,
			 unsigned int flags)
{
	uint64_t from_pos, to_pos;
	const struct sendfile send = {
		.from = files_get_file(current_process()->files, (unsigned int)fd_in),
		.to = files_get_file(current_process()->files, (unsigned int)fd_out),
		.from_pos = &from_pos,
		.to_pos = &to_pos,
	};
	long result = send.from && send.to ? 0 : -EBADF;

	if (!result)
		result = sendfile_get_pos(send.from, off_in, &from_pos);
	if (!result)
		result = sendfile_get_pos(send.to, off_out, &to_pos);
	if (!result)
		result = sendfile_copy(&send, len, flags);
	if (result > 0 && (sendfile_put_pos(send.from, off_in, from_pos) ||
			   sendfile_put_pos(send.to, off_out, to_pos)))
		result = -EFAULT;
	fput(send.from);
	fput(send.to);
	return result;
}
