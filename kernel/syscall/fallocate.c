/* fallocate(): the size of a file, and holes in it. */
#include <kernel/pipe.h>
#include "syscall.h"

#define FALLOC_KEEP_SIZE  1
#define FALLOC_PUNCH_HOLE 2

/* A size alone, or a hole, which leaves the size as it is: others are for file systems on disks. */
static int fallocate_check(int mode, long offset, long len)
{
	if (offset < 0 || len <= 0)
		return -EINVAL;
	if (mode & ~(FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE) || mode == FALLOC_PUNCH_HOLE)
		return -EOPNOTSUPP;
	return 0;
}

static int fallocate_check_file(const struct file *file)
{
	if (!(file->flags & VFS_WRITE))
		return -EBADF;
	if (file_is_pipe(file))
		return -ESPIPE;
	return file->ops->truncate && file->ops->stat ? 0 : -ENODEV;
}

/* Pages come when they are written to: only the size changes. */
static int fallocate_run(struct file *file, int mode, uint64_t begin, uint64_t end)
{
	struct vfs_stat stat = { 0 };

	if (mode & FALLOC_PUNCH_HOLE)
		return file->ops->punch ? file->ops->punch(file, begin, end) : -EOPNOTSUPP;
	file->ops->stat(file, &stat);
	return mode & FALLOC_KEEP_SIZE || end <= stat.size ? 0 : file_truncate(file, end);
}

long sys_fallocate(int fd, int mode, long offset, long len)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)fd);
	int err;

	if (!file)
		return -EBADF;
	err = fallocate_check(mode, offset, len);
	if (!err)
		err = fallocate_check_file(file);
	if (!err && len > INT64_MAX - offset)
		err = -EFBIG;
	if (!err)
		err = fallocate_run(file, mode, (uint64_t)offset, (uint64_t)offset + (uint64_t)len);
	fput(file);
	return err;
}
