/*
 * Open files: references, positions. See <kernel/vfs.h>.
 */
#include <stdatomic.h>
#include <kernel/cred.h>
#include <kernel/file_lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

struct file *file_create(const struct file_ops *ops, void *object, uint32_t flags)
{
	struct file *file = kzalloc(sizeof(*file));

	if (!file)
		return NULL;
	file->ops = ops;
	file->object = object;
	file->flags = flags;
	atomic_init(&file->refs, 1);
	return file;
}

struct file *get_file(struct file *file)
{
	atomic_fetch_add(&file->refs, 1);
	return file;
}

int fput(struct file *file)
{
	int err = 0;

	if (!file || atomic_fetch_sub(&file->refs, 1) > 1)
		return 0;
	if (file->has_locks)
		file_locks_drop(file, NULL);
	if (file->ops && file->ops->close)
		err = file->ops->close(file);
	if (file->fs)
		file->fs->put(file->node);
	if (file->dentry)
		dput(file->dentry);
	else
		kfree(file);
	return err;
}

static int file_lock_position(struct file *file)
{
	return file->ops->has_position ? mutex_lock_interruptible(&file->lock) : 0;
}

static void file_unlock_position(struct file *file)
{
	if (file->ops->has_position)
		mutex_unlock(&file->lock);
}

ssize_t vfs_read(struct file *file, void *buf, size_t count, uint64_t *pos)
{
	ssize_t got;
	int err;

	if (!(file->flags & VFS_READ))
		return -EBADF;
	if (!file->ops->read)
		return -EINVAL;
	err = file_lock_position(file);
	if (err)
		return err;
	got = file->ops->read(file, buf, count, pos ? pos : &file->pos);
	file_unlock_position(file);
	return got;
}

ssize_t vfs_read_to(struct file *file, size_t count, uint64_t *pos, vfs_put_fn put, void *arg)
{
	ssize_t got;
	int err;

	if (!(file->flags & VFS_READ))
		return -EBADF;
	if (!file->ops->read_to)
		return -EOPNOTSUPP;
	err = file_lock_position(file);
	if (err)
		return err;
	got = file->ops->read_to(file, count, pos ? pos : &file->pos, put, arg);
	file_unlock_position(file);
	return got;
}

bool file_is_readable(struct file *file)
{
	return !file->ops->is_readable || file->ops->is_readable(file);
}

int file_stat(struct file *file, struct vfs_stat *out_stat)
{
	const struct place place = { .fs = file->fs, .node = file->node };

	if (file->ops->stat)
		file->ops->stat(file, out_stat);
	else if (file->fs)
		place_stat(&place, out_stat);
	else
		return -EOPNOTSUPP;
	return 0;
}

int file_set_attr(struct file *file, unsigned int which, const struct vfs_stat *to)
{
	if (file->ops->set_attr)
		return file->ops->set_attr(file, which, to);
	return file->fs ? file->fs->set_attr(file->node, which, to) : -EOPNOTSUPP;
}

int file_dir_path(const struct file *dir, char *out_path)
{
	if (dir->fs)
		return dir->fs->path(dir->node, out_path);
	strlcpy(out_path, dir->path, VFS_PATH_MAX);
	return 0;
}

int file_truncate(struct file *file, uint64_t size)
{
	return file->ops->truncate && file->flags & VFS_WRITE ? file->ops->truncate(file, size)
							      : -EINVAL;
}

uint32_t file_events(struct file *file, uint32_t wanted)
{
	if (file->ops->events)
		return file->ops->events(file, wanted);
	return file_is_readable(file) ? wanted & FILE_IN : 0;
}

bool file_may_wait(const struct file *file)
{
	if (file->ops->may_wait)
		return file->ops->may_wait(file);
	return file->ops->is_readable || file->ops->is_console;
}

void file_set_nonblock(struct file *file, bool on)
{
	if (file->ops->set_nonblock)
		file->ops->set_nonblock(file, on);
}

ssize_t vfs_write(struct file *file, const void *buf, size_t count, uint64_t *pos)
{
	ssize_t put;
	int err;

	if (!(file->flags & VFS_WRITE))
		return -EBADF;
	if (!file->ops->write)
		return -EINVAL;
	err = file_lock_position(file);
	if (err)
		return err;
	put = file->ops->write(file, buf, count, pos ? pos : &file->pos);
	file_unlock_position(file);
	return put;
}
