/* Descriptors: pipe(), dup(), fcntl(), lseek(), ioctl(). */
#include <kernel/pipe.h>
#include "syscall.h"

#define F_DUPFD		0
#define F_GETFD		1
#define F_SETFD		2
#define F_GETFL		3
#define F_SETFL		4
#define F_DUPFD_CLOEXEC 1030
#define F_SETPIPE_SZ	1031
#define F_GETPIPE_SZ	1032
#define FD_CLOEXEC	1

#define PIPE_SIZE_MAX 0x100000u /* for more, CAP_SYS_RESOURCE is needed */

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

static struct files *descriptor_files(void)
{
	return current_process()->files;
}

static long descriptor_set_flags(struct file *file, unsigned long flags)
{
	file->flags = (file->flags & ~(VFS_APPEND | VFS_NONBLOCK)) |
		      (flags & O_APPEND ? VFS_APPEND : 0) | (flags & O_NONBLOCK ? VFS_NONBLOCK : 0);
	file_set_nonblock(file, flags & O_NONBLOCK);
	return 0;
}

long sys_pipe2(int *fildes, int flags)
{
	struct file *read_end, *write_end;
	int err;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	err = pipe_create(&read_end, &write_end);
	if (err)
		return err;
	descriptor_set_flags(read_end, (unsigned int)flags);
	descriptor_set_flags(write_end, (unsigned int)flags);
	return files_install_two(read_end, write_end, flags & O_CLOEXEC, fildes);
}

long sys_pipe(int *fildes)
{
	return sys_pipe2(fildes, 0);
}

#define CLOSE_RANGE_CLOEXEC 4u

long sys_close_range(unsigned int fd, unsigned int max_fd, unsigned int flags)
{
	struct files *files = descriptor_files();

	if (flags & ~CLOSE_RANGE_CLOEXEC || fd > max_fd)
		return -EINVAL;
	for (; fd <= max_fd && fd < FILES_MAX; fd++) {
		if (flags & CLOSE_RANGE_CLOEXEC)
			files_set_cloexec(files, fd, true);
		else
			files_close(files, fd);
	}
	return 0;
}

static long descriptor_dup(unsigned int fd, unsigned int from, bool cloexec)
{
	struct file *file = files_get_file(descriptor_files(), fd);

	if (!file)
		return -EBADF;
	return files_install(descriptor_files(), file, from, cloexec);
}

long sys_dup(unsigned int fildes)
{
	return descriptor_dup(fildes, 0, false);
}

static long descriptor_dup_to(unsigned int oldfd, unsigned int newfd, bool cloexec)
{
	struct file *file = files_get_file(descriptor_files(), oldfd);
	int err;

	if (!file)
		return -EBADF;
	err = files_replace(descriptor_files(), file, newfd, cloexec);
	return err ? err : (long)newfd;
}

long sys_dup2(unsigned int oldfd, unsigned int newfd)
{
	if (oldfd == newfd)
		return files_get_cloexec(descriptor_files(), oldfd) < 0 ? -EBADF : (long)newfd;
	return descriptor_dup_to(oldfd, newfd, false);
}

long sys_dup3(unsigned int oldfd, unsigned int newfd, int flags)
{
	if (oldfd == newfd || flags & ~O_CLOEXEC)
		return -EINVAL;
	return descriptor_dup_to(oldfd, newfd, flags & O_CLOEXEC);
}

static long descriptor_flags(const struct file *file)
{
	long flags = O_RDONLY;

	if ((file->flags & (VFS_READ | VFS_WRITE)) == (VFS_READ | VFS_WRITE))
		flags = O_RDWR;
	else if (file->flags & VFS_WRITE)
		flags = O_WRONLY;
	return flags | (file->flags & VFS_APPEND ? O_APPEND : 0) |
	       (file->flags & VFS_NONBLOCK ? O_NONBLOCK : 0);
}

static long descriptor_flags_call(unsigned int fd, unsigned int cmd, unsigned long arg)
{
	struct file *file = files_get_file(descriptor_files(), fd);
	long result;

	if (!file)
		return -EBADF;
	result = cmd == F_GETFL ? descriptor_flags(file) : descriptor_set_flags(file, arg);
	fput(file);
	return result;
}

/* The number of bytes that it has got: those that were asked for, or more. */
static long descriptor_set_pipe_size(struct file *file, unsigned long bytes)
{
	size_t size = PAGE_SIZE;
	int err;

	if (bytes > 1u << 31)
		return -EINVAL;
	while (size < bytes)
		size *= 2;
	if (size > PIPE_SIZE_MAX && size > pipe_size(file) && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	err = pipe_set_size(file, size);
	return err ? err : (long)size;
}

static long descriptor_pipe_call(unsigned int fd, unsigned int cmd, unsigned long arg)
{
	struct file *file = files_get_file(descriptor_files(), fd);
	long result = -EBADF;

	if (file && file_is_pipe(file))
		result = cmd == F_GETPIPE_SZ ? (long)pipe_size(file)
					     : descriptor_set_pipe_size(file, arg);
	fput(file);
	return result;
}

long sys_fcntl(unsigned int fd, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		if (arg >= FILES_MAX || arg >= rlimit(RLIMIT_NOFILE))
			return -EINVAL;
		return descriptor_dup(fd, (unsigned int)arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return files_get_cloexec(descriptor_files(), fd);
	case F_SETFD:
		return files_set_cloexec(descriptor_files(), fd, arg & FD_CLOEXEC);
	case F_GETFL:
	case F_SETFL:
		return descriptor_flags_call(fd, cmd, arg);
	case F_SETPIPE_SZ:
	case F_GETPIPE_SZ:
		return descriptor_pipe_call(fd, cmd, arg);
	default:
		return lock_fcntl(fd, cmd, arg);
	}
}

static long descriptor_seek(struct file *file, long offset, unsigned int whence)
{
	struct vfs_stat stat = { 0 };
	long base = 0;

	if (!file->ops->has_position)
		return -ESPIPE;
	if (whence == SEEK_CUR)
		base = (long)file->pos;
	else if (whence == SEEK_END && (file_stat(file, &stat) == 0 ||
					(file->path && vfs_stat("/", file->path, &stat) == 0)))
		base = (long)stat.size;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (__builtin_add_overflow(base, offset, &base) || base < 0)
		return -EINVAL;
	file->pos = (uint64_t)base;
	return base;
}

long sys_lseek(unsigned int fd, long offset, unsigned int whence)
{
	struct file *file = files_get_file(descriptor_files(), fd);
	long result;

	if (!file)
		return -EBADF;
	mutex_lock(&file->lock);
	result = descriptor_seek(file, offset, whence);
	mutex_unlock(&file->lock);
	fput(file);
	return result;
}

#define FIOCLEX	 0x5451u
#define FIONCLEX 0x5450u
#define FIONBIO	 0x5421u

static long descriptor_ioctl(struct file *file, unsigned int fd, unsigned int cmd,
			     unsigned long arg)
{
	int on;

	switch (cmd) {
	case FIOCLEX:
	case FIONCLEX:
		return files_set_cloexec(descriptor_files(), fd, cmd == FIOCLEX);
	case FIONBIO:
		if (copy_from_user(&on, (const void *)arg, sizeof(on)))
			return -EFAULT;
		return descriptor_set_flags(file,
					    (unsigned long)(descriptor_flags(file) & ~O_NONBLOCK) |
						    (on ? O_NONBLOCK : 0));
	default:
		return file->ops->ioctl ? file->ops->ioctl(file, cmd, arg) : -ENOTTY;
	}
}

long sys_ioctl(unsigned int fd, unsigned int cmd, unsigned long arg)
{
	struct file *file = files_get_file(descriptor_files(), fd);
	long result;

	if (!file)
		return -EBADF;
	result = descriptor_ioctl(file, fd, cmd, arg);
	fput(file);
	return result == -EINTR ? -ERESTARTSYS : result;
}
