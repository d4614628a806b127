/* Open files of the tree in memory: see vfs_ram.h. */
#include <kernel/cred.h>
#include <kernel/mm.h>
#include <kernel/rlimit.h>
#include "vfs_mount.h"
#include "vfs_ram.h"
#include "vfs_walk.h"

static ssize_t ram_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	size_t got;

	mutex_lock(&ram_tree_lock);
	got = ram_data_read(file->object, *pos, buf, len);
	mutex_unlock(&ram_tree_lock);
	*pos += got;
	return (ssize_t)got;
}

/* No lock is held while the bytes are taken: the page has one user more. 1: `put` took a part; 0: the end; -errno. */
static int ram_put_part(struct ram_node *node, size_t left, uint64_t *pos, vfs_put_fn put,
			void *arg)
{
	static const char zeros[PAGE_SIZE];
	size_t len = left;
	char *page;
	int err;

	mutex_lock(&ram_tree_lock);
	page = ram_data_peek(node, *pos, &len);
	mutex_unlock(&ram_tree_lock);
	if (!len)
		return 0;
	err = put(page ? page + *pos % PAGE_SIZE : zeros, len, arg);
	if (page)
		put_page(page);
	if (err)
		return err;
	*pos += len;
	return 1;
}

static ssize_t ram_read_to(struct file *file, size_t len, uint64_t *pos, vfs_put_fn put, void *arg)
{
	uint64_t begin = *pos;
	int more = 1;

	while (more > 0 && *pos - begin < len)
		more = ram_put_part(file->object, len - (*pos - begin), pos, put, arg);
	return more < 0 && *pos == begin ? more : (ssize_t)(*pos - begin);
}

static ssize_t ram_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct ram_node *node = file->object;
	size_t put, room;

	mutex_lock(&ram_tree_lock);
	if (file->flags & VFS_APPEND)
		*pos = node->size;
	room = rlimit_file_room(*pos, len);
	put = ram_data_write(node, *pos, buf, room);
	if (put) {
		ram_changed(node);
		node->mode = mode_after_write(node->mode);
	}
	mutex_unlock(&ram_tree_lock);
	*pos += put;
	if (put || !len)
		return (ssize_t)put;
	return room ? -ENOSPC : -EFBIG;
}

static void ram_file_stat(struct file *file, struct vfs_stat *out_stat)
{
	const struct place place = { .fs = &vfs_ram_fs, .node = file->object };

	place_stat(&place, out_stat);
}

static int ram_file_set_attr(struct file *file, unsigned int which, const struct vfs_stat *to)
{
	return ram_set_attr(file->object, which, to);
}

static int ram_truncate(struct file *file, uint64_t size)
{
	struct ram_node *node = file->object;

	if (size > INT64_MAX || (size && size > node->size && !rlimit_file_room(size - 1, 1)))
		return -EFBIG;
	mutex_lock(&ram_tree_lock);
	ram_data_resize(node, size);
	ram_changed(node);
	mutex_unlock(&ram_tree_lock);
	return 0;
}

static int ram_punch(struct file *file, uint64_t begin, uint64_t end)
{
	struct ram_node *node = file->object;

	mutex_lock(&ram_tree_lock);
	ram_data_punch(node, begin, end);
	ram_changed(node);
	mutex_unlock(&ram_tree_lock);
	return 0;
}

static void *ram_map_page(struct file *file, uint64_t index)
{
	void *page;

	mutex_lock(&ram_tree_lock);
	page = ram_data_page(file->object, index);
	mutex_unlock(&ram_tree_lock);
	return page;
}

static int ram_close(struct file *file)
{
	ram_put(file->object);
	return 0;
}

const struct file_ops ram_file_ops = {
	.read = ram_read,
	.read_to = ram_read_to,
	.write = ram_write,
	.stat = ram_file_stat,
	.truncate = ram_truncate,
	.punch = ram_punch,
	.set_attr = ram_file_set_attr,
	.map_page = ram_map_page,
	.close = ram_close,
	.has_position = true,
};
