/*
 * The tree in memory: directories, files, and the special files of /dev and /proc.
 *
 *   dir node --children--> name --siblings--> name        file node --> block --> block
 *                           |                  |           a block: BLOCK_SLOTS pages of contents
 *                           v                  v
 *                          node               node, which may have more names
 *
 * Context: thread. Locking: ram_tree_lock guards names, links, sizes and contents of the whole tree; numbers of
 * holders are atomic.
 * Ownership: a node lives while it has a name or a holder.
 */
#include <stdatomic.h>
#include <kernel/cred.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "vfs_mount.h"
#include "vfs_pipe.h"
#include "vfs_ram.h"

struct mutex ram_tree_lock;
struct ram_node *ram_tree;
static _Atomic uint64_t last_id;

struct ram_node *ram_create_node(bool is_dir, uint32_t mode)
{
	struct ram_node *node = kzalloc(sizeof(*node));

	if (!node)
		return NULL;
	node->id = ++last_id;
	node->is_dir = is_dir;
	node->mode = mode;
	node->uid = current_fsuid();
	node->gid = current_fsgid();
	atomic_init(&node->refs, 1);
	return node;
}

/* The last one to hold a node frees it: it has no name any more, so there is no way to it. */
static void ram_put_node(struct ram_node *node)
{
	if (atomic_fetch_sub(&node->refs, 1) > 1)
		return;
	if (node->special)
		node->special->ops->removed(node->special);
	ram_data_free(node);
	kfree(node->target);
	pipe_free(node->fifo);
	kfree(node);
}

static void ram_get(void *object)
{
	struct ram_node *node = object;

	atomic_fetch_add(&node->refs, 1);
}

static void *ram_root(void)
{
	ram_get(ram_tree);
	return ram_tree;
}

static void *ram_parent(void *object)
{
	const struct ram_node *dir = object;
	struct ram_node *parent;

	mutex_lock(&ram_tree_lock);
	parent = dir->parent;
	if (parent)
		ram_get(parent);
	mutex_unlock(&ram_tree_lock);
	return parent;
}

/* Written from its end on. The lock is held. */
static int ram_write_path(const struct ram_node *dir, char *out_path)
{
	char text[VFS_PATH_MAX], *at = text + sizeof(text) - 1;
	size_t len;

	*at = '\0';
	for (; dir != ram_tree; dir = dir->parent) {
		if (!dir->parent)
			return -ENOENT;
		len = strlen(dir->name->text);
		if ((size_t)(at - text) < len + 1)
			return -ENAMETOOLONG;
		at -= len;
		memcpy(at, dir->name->text, len);
		*--at = '/';
	}
	strlcpy(out_path, *at ? at : "/", VFS_PATH_MAX);
	return 0;
}

static int ram_path(void *object, char *out_path)
{
	const struct ram_node *dir = object;
	int err = -ENOTDIR;

	mutex_lock(&ram_tree_lock);
	if (dir->is_dir)
		err = ram_write_path(dir, out_path);
	mutex_unlock(&ram_tree_lock);
	return err;
}

static int ram_lookup(void *dir, const char *name, void **out_node)
{
	struct ram_node *node;

	mutex_lock(&ram_tree_lock);
	node = ram_find_child(dir, name);
	if (node)
		atomic_fetch_add(&node->refs, 1);
	mutex_unlock(&ram_tree_lock);
	*out_node = node;
	return node ? 0 : -ENOENT;
}

void ram_put(void *node)
{
	ram_put_node(node);
}

static void ram_stat(void *object, struct vfs_stat *out_stat)
{
	const struct ram_node *node = object;

	out_stat->type = node->target ? VFS_LINK : (enum vfs_type)node->made;
	if (node->is_dir)
		out_stat->type = VFS_DIRECTORY;
	else if (node->fifo)
		out_stat->type = VFS_PIPE;
	else if (node->special && node->special->dev)
		out_stat->type = VFS_DEVICE;
	out_stat->dev = node->special ? node->special->dev : node->dev;
	out_stat->mode = node->mode;
	out_stat->uid = node->uid;
	out_stat->gid = node->gid;
	out_stat->more_links = (int32_t)node->nr_names - 1;
	if (node->is_dir) /* `..` in each directory below; without a name the one in itself goes, too */
		out_stat->more_links = node->parent ? (int32_t)node->nr_dirs : -2;
	out_stat->size = node->size;
	out_stat->id = node->id;
	out_stat->atime_ns = node->atime_ns;
	out_stat->mtime_ns = node->mtime_ns;
	out_stat->ctime_ns = node->ctime_ns;
}

/* Is one of the attributes to have another value? */
static bool ram_attr_differs(const struct ram_node *node, unsigned int which,
			     const struct vfs_stat *to)
{
	return ((which & VFS_SET_MODE) && node->mode != to->mode) ||
	       ((which & VFS_SET_UID) && node->uid != to->uid) ||
	       ((which & VFS_SET_GID) && node->gid != to->gid);
}

/* Those of files in /proc stay. The lock is held. */
static int ram_set_attr_locked(struct ram_node *node, unsigned int which, const struct vfs_stat *to)
{
	if (node->special && !node->special->dev)
		return ram_attr_differs(node, which, to) ? -EPERM : 0;
	if (which & VFS_SET_MODE)
		node->mode = to->mode;
	if (which & VFS_SET_UID)
		node->uid = to->uid;
	if (which & VFS_SET_GID)
		node->gid = to->gid;
	if (which & VFS_SET_ATIME)
		node->atime_ns = to->atime_ns;
	if (which & VFS_SET_MTIME)
		node->mtime_ns = to->mtime_ns;
	node->ctime_ns = ktime_get_real_ns();
	return 0;
}

int ram_set_attr(void *object, unsigned int which, const struct vfs_stat *to)
{
	struct vfs_stat stat = { 0 }, wanted = *to;
	int err;

	mutex_lock(&ram_tree_lock);
	ram_stat(object, &stat);
	err = setattr_prepare(&stat, &which, &wanted);
	if (!err)
		err = ram_set_attr_locked(object, which, &wanted);
	mutex_unlock(&ram_tree_lock);
	return err;
}

static int ram_entry(void *object, uint32_t index, char *out_name)
{
	const struct ram_node *dir = object;
	const struct ram_name *name;

	mutex_lock(&ram_tree_lock);
	name = dir->children;
	while (name && index--)
		name = name->sibling;
	if (name)
		strlcpy(out_name, name->text, VFS_NAME_MAX);
	mutex_unlock(&ram_tree_lock);
	return name ? 0 : -ENOENT;
}

void ram_changed(struct ram_node *node)
{
	node->mtime_ns = node->ctime_ns = ktime_get_real_ns();
}

/* In a directory with that bit, files are of its group, and directories have the bit, too. */
static void ram_take_group(const struct ram_node *dir, struct ram_node *node)
{
	if (!(dir->mode & MODE_SETGID))
		return;
	node->gid = dir->gid;
	node->mode = node->is_dir ? node->mode | MODE_SETGID : mode_of_new(node->mode, node->gid);
}

/* Devices are for root to make; a program may have no right to theirs. One without a number leads to nothing. */
static bool ram_may_make(const struct ram_node *node)
{
	bool is_device = node->made == VFS_DEVICE || node->made == VFS_BLOCK;

	return !is_device || (node->made == VFS_DEVICE && !node->dev) || capable(CAP_MKNOD);
}

/* May the node have the name in the directory? The lock is held. */
static int ram_may_add(struct ram_node *dir, const char *text, const struct ram_node *node)
{
	struct ram_node *there = dir->is_dir ? ram_find_child(dir, text) : NULL;
	bool is_new_file =
		!node->is_dir && !node->target && !node->fifo && !node->made && !node->nr_names;
	int err = vfs_may_create(&vfs_ram_fs, dir, there);

	if (!err && !node->nr_names && !ram_may_make(node))
		err = -EPERM;
	if (!err && (!dir->parent || dir->closed == RAM_PROC))
		err = -ENOENT;
	if (!err && dir->closed == RAM_SYS)
		err = is_new_file ? -EACCES : -EPERM;
	return err;
}

/* Give a node one more name, in a directory. The name holds it, too; NULL: there was no memory for it. */
static int ram_add_new(struct ram_node *dir, const char *text, struct ram_node *node, bool is_new)
{
	struct ram_name *name = node ? ram_create_name(text) : NULL;
	int err = name ? 0 : -ENOMEM;

	mutex_lock(&ram_tree_lock);
	if (!err && !is_new &&
	    !node->nr_names) /* the last name is gone, and it gets none any more */
		err = -ENOENT;
	if (!err)
		err = ram_may_add(dir, text, node);
	if (!err) {
		ram_get(node);
		ram_add_name(dir, name, node);
		ram_changed(dir);
		if (is_new)
			ram_take_group(dir, node);
	}
	mutex_unlock(&ram_tree_lock);
	if (err)
		kfree(name);
	return err;
}

static struct ram_node *ram_create_now(bool is_dir, uint32_t mode)
{
	struct ram_node *node = ram_create_node(is_dir, mode);

	if (node) {
		ram_changed(node);
		node->atime_ns = node->mtime_ns;
	}
	return node;
}

static int ram_create(void *dir, const char *name, uint32_t mode, void **out_node)
{
	struct ram_node *node = ram_create_now(false, mode);
	int err = ram_add_new(dir, name, node, true);

	if (err && node)
		ram_put_node(node);
	*out_node = node;
	return err;
}

static int ram_mkdir(void *dir, const char *name, uint32_t mode)
{
	struct ram_node *node = ram_create_now(true, mode);
	int err = ram_add_new(dir, name, node, true);

	if (node)
		ram_put_node(node);
	return err;
}

static int ram_make_fifo(struct ram_node *node)
{
	node->fifo = pipe_alloc();
	if (!node->fifo)
		return -ENOMEM;
	node->fifo->node = node;
	return 0;
}

static int ram_mknod(void *dir, const char *name, const struct vfs_stat *like)
{
	struct ram_node *node = ram_create_now(false, like->mode);
	int err = 0;

	if (!node)
		return -ENOMEM;
	if (like->type == VFS_PIPE)
		err = ram_make_fifo(node);
	else
		node->made = (uint8_t)like->type;
	node->dev = like->dev;
	if (!err)
		err = ram_add_new(dir, name, node, true);
	ram_put_node(node);
	return err;
}

static int ram_symlink(void *dir, const char *name, const char *target)
{
	struct ram_node *node = ram_create_now(false, 0777);
	int err = -ENOMEM;

	if (!node)
		return err;
	node->target = kstrdup(target);
	node->size = strlen(target);
	if (node->target)
		err = ram_add_new(dir, name, node, true);
	ram_put_node(node);
	return err;
}

static int ram_link(void *object, void *dir, const char *name)
{
	struct ram_node *node = object;
	int err = node->is_fixed ? -EPERM : ram_add_new(dir, name, node, false);

	if (!err)
		node->ctime_ns = ktime_get_real_ns();
	return err;
}

static int ram_readlink(void *object, char *out_target)
{
	const struct ram_node *node = object;

	if (!node->target)
		return -EINVAL;
	strlcpy(out_target, node->target, VFS_PATH_MAX);
	return 0;
}

int ram_can_remove(const struct ram_node *node, bool is_dir)
{
	if (!node)
		return -ENOENT;
	if (node->is_dir != is_dir)
		return is_dir ? -ENOTDIR : -EISDIR;
	if (node->is_fixed)
		return -EBUSY;
	return node->children ? -ENOTEMPTY : 0;
}

static int ram_remove(void *object, const char *name, bool is_dir)
{
	struct ram_node *dir = object;
	struct ram_node *node;
	int err;

	mutex_lock(&ram_tree_lock);
	node = dir->is_dir ? ram_find_child(dir, name) : NULL;
	err = vfs_may_remove(&vfs_ram_fs, dir, node, is_dir);
	if (!err && dir->closed && node && node->is_fixed)
		err = -EPERM;
	if (!err)
		err = ram_can_remove(node, is_dir);
	if (!err) {
		ram_unlink(dir, name);
		node->ctime_ns = ktime_get_real_ns();
		ram_put_node(node);
		ram_changed(dir);
	}
	mutex_unlock(&ram_tree_lock);
	return err;
}

static int ram_open_fifo(struct ram_node *node, struct file *file)
{
	int err;

	ram_get(node);
	err = fifo_open(node->fifo, file);
	if (err)
		ram_put_node(node);
	return err;
}

static int ram_open_special(const struct vfs_special *special, struct file *file)
{
	file->ops = special->ops ? special->ops : &vfs_text_ops;
	file->object = (void *)(uintptr_t)special;
	return file->ops->open ? file->ops->open(file) : 0;
}

/* By its number. The file tells the attributes of the node that it was opened by. */
static int ram_open_made(struct ram_node *node, struct file *file)
{
	const struct vfs_special *special =
		node->made == VFS_DEVICE ? vfs_device_of(node->dev) : NULL;
	int err = special ? ram_open_special(special, file) : -ENXIO;

	if (err)
		return err;
	ram_get(node);
	file->fs = &vfs_ram_fs;
	file->node = node;
	return 0;
}

static int ram_open(void *object, struct file *file)
{
	struct ram_node *node = object;

	if (node->special)
		return ram_open_special(node->special, file);
	if (node->made)
		return ram_open_made(node, file);
	if (node->target)
		return -ELOOP;
	if (node->fifo)
		return ram_open_fifo(node, file);
	mutex_lock(&ram_tree_lock);
	atomic_fetch_add(&node->refs, 1);
	if (file->flags & VFS_TRUNCATE && node->size) {
		ram_data_free(node);
		ram_changed(node);
	}
	mutex_unlock(&ram_tree_lock);
	file->ops = &ram_file_ops;
	file->object = node;
	return 0;
}

int vfs_open_unnamed(uint32_t flags, struct file **out_file)
{
	struct ram_node *node = ram_create_node(false, 0777);

	*out_file = node ? file_create(&ram_file_ops, node, flags) : NULL;
	if (node && !*out_file)
		ram_put(node);
	return *out_file ? 0 : -ENOMEM;
}

const struct vfs_fs vfs_ram_fs = {
	.name = "ramfs",
	.nr = 1,
	.root = ram_root,
	.lookup = ram_lookup,
	.put = ram_put,
	.stat = ram_stat,
	.open = ram_open,
	.entry = ram_entry,
	.create = ram_create,
	.mkdir = ram_mkdir,
	.mknod = ram_mknod,
	.remove = ram_remove,
	.set_attr = ram_set_attr,
	.rename = ram_rename,
	.link = ram_link,
	.readlink = ram_readlink,
	.symlink = ram_symlink,
	.get = ram_get,
	.parent = ram_parent,
	.path = ram_path,
	.asks_itself = true,
};
