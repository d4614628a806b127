/*
 * The trace tree as a file system. Nodes are held while they are in use, because an instance can be
 * removed at any time.
 */
#include <kernel/process.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fs.h>
#include "vfs_mount.h"

static void *trace_root(void)
{
	return trace_fs_root();
}

static int trace_lookup(void *dir, const char *name, void **out_node)
{
	*out_node = trace_fs_lookup(dir, name, strlen(name));
	return *out_node ? 0 : -ENOENT;
}

static void trace_stat(void *object, struct vfs_stat *out_stat)
{
	const struct trace_node *node = object;
	struct trace_fs_attr attr;

	trace_fs_get_attr(node, &attr);
	out_stat->type = node->is_dir ? VFS_DIRECTORY : VFS_REGULAR;
	out_stat->mode = attr.mode;
	out_stat->uid = attr.uid;
	out_stat->gid = attr.gid;
	out_stat->size = 0;
	out_stat->id = node->id;
}

_Static_assert(VFS_SET_MODE == TRACE_FS_MODE && VFS_SET_UID == TRACE_FS_UID &&
		       VFS_SET_GID == TRACE_FS_GID,
	       "they are the same");

static struct trace_fs_attr trace_attr_of(unsigned int which, const struct vfs_stat *to)
{
	return (struct trace_fs_attr){
		.which = which, .mode = (uint16_t)to->mode, .uid = to->uid, .gid = to->gid
	};
}

static int trace_set_attr(void *node, unsigned int which, const struct vfs_stat *to)
{
	struct trace_fs_attr attr = trace_attr_of(which, to);

	return trace_fs_set_attr(node, &attr);
}

static void trace_set_owner(unsigned int which, const struct vfs_stat *to)
{
	struct trace_fs_attr attr = trace_attr_of(which, to);

	trace_fs_set_owner(&attr);
}

static ssize_t trace_file_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return trace_fs_read(file->object, buf, len, pos);
}

/* A change holds up other threads while it is made, so real-time threads must not hold it up. */
static ssize_t trace_file_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	ssize_t put;

	thread_urgent_begin();
	put = trace_fs_write(file->object, buf, len, pos);
	thread_urgent_end();
	return put;
}

static bool trace_file_is_readable(struct file *file)
{
	return trace_fs_poll(file->object);
}

_Static_assert(FILE_IN == (int)TRACE_FS_IN && FILE_PRI == (int)TRACE_FS_PRI, "they are the same");

static uint32_t trace_file_events(struct file *file, uint32_t wanted)
{
	return trace_fs_events(file->object, wanted);
}

static bool trace_file_may_wait(const struct file *file)
{
	return trace_fs_may_wait(file->object);
}

static void trace_file_set_nonblock(struct file *file, bool on)
{
	trace_fs_set_nonblock(file->object, on);
}

static long trace_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return user_events_ioctl(file->object, cmd, arg);
}

static int trace_file_close(struct file *file)
{
	int err;

	thread_urgent_begin();
	err = trace_fs_close(file->object);
	thread_urgent_end();
	return err;
}

static const struct file_ops trace_file_ops = {
	.read = trace_file_read,
	.write = trace_file_write,
	.is_readable = trace_file_is_readable,
	.events = trace_file_events,
	.may_wait = trace_file_may_wait,
	.set_nonblock = trace_file_set_nonblock,
	.ioctl = trace_file_ioctl,
	.close = trace_file_close,
	.has_position = true,
	.ends_by_signal = true,
};

static int trace_open(void *node, struct file *file)
{
	struct trace_handle *handle;
	unsigned int flags = 0;
	int err;

	if (file->flags & VFS_READ)
		flags |= TRACE_FS_READ;
	if (file->flags & VFS_WRITE)
		flags |= TRACE_FS_WRITE;
	if (file->flags & VFS_TRUNCATE)
		flags |= TRACE_FS_TRUNC;
	if (file->flags & VFS_APPEND)
		flags |= TRACE_FS_APPEND;
	if (file->flags & VFS_NONBLOCK)
		flags |= TRACE_FS_NONBLOCK;
	thread_urgent_begin();
	err = trace_fs_open(node, flags, &handle);
	thread_urgent_end();
	if (err)
		return err;
	file->ops = &trace_file_ops;
	file->object = handle;
	return 0;
}

static void trace_put(void *node)
{
	trace_fs_put(node);
}

static int trace_entry(void *dir, uint32_t index, char *out_name)
{
	return trace_fs_entry(dir, index, out_name, VFS_NAME_MAX);
}

static int trace_mkdir(void *dir, const char *name, uint32_t mode)
{
	int err;

	(void)mode;
	thread_urgent_begin();
	err = trace_fs_mkdir(dir, name);
	thread_urgent_end();
	return err;
}

static int trace_remove(void *dir, const char *name, bool is_dir)
{
	int err = -EPERM;

	thread_urgent_begin();
	if (is_dir)
		err = trace_fs_rmdir(dir, name);
	thread_urgent_end();
	return err;
}

const struct vfs_fs vfs_trace_fs = {
	.name = "tracefs",
	.nr = 2,
	.root = trace_root,
	.lookup = trace_lookup,
	.put = trace_put,
	.stat = trace_stat,
	.open = trace_open,
	.entry = trace_entry,
	.mkdir = trace_mkdir,
	.remove = trace_remove,
	.set_attr = trace_set_attr,
	.set_owner = trace_set_owner,
};
