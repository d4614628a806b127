/*
 * Files that are opened by /proc/PID/fd/N and have no path, such as pipes: what is done with them is done
 * with the file that the descriptor is. See proc.h.
 */
#include <kernel/poll.h>
#include <kernel/vfs.h>
#include "proc.h"

static ssize_t proc_fd_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)pos;
	return vfs_read(file->object, buf, len, NULL);
}

static ssize_t proc_fd_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	(void)pos;
	return vfs_write(file->object, buf, len, NULL);
}

static bool proc_fd_is_readable(struct file *file)
{
	return file_is_readable(file->object);
}

static bool proc_fd_may_wait(const struct file *file)
{
	return file_may_wait(file->object);
}

static uint32_t proc_fd_poll(struct file *file, struct poll_table *table)
{
	return vfs_poll(file->object, POLLIN | POLLOUT, table);
}

static int proc_fd_close(struct file *file)
{
	return fput(file->object);
}

static const struct file_ops proc_fd_ops = {
	.read = proc_fd_read,
	.write = proc_fd_write,
	.is_readable = proc_fd_is_readable,
	.poll = proc_fd_poll,
	.may_wait = proc_fd_may_wait,
	.close = proc_fd_close,
};

int proc_open_fd(struct process *process, unsigned int fd, struct file *file)
{
	file->object = proc_get_file(process, fd);
	file->ops = &proc_fd_ops;
	return file->object ? 0 : -ENOENT;
}
