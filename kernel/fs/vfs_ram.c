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
#include "vfs_ram.h"

struct mutex ram_tree_lock;
static struct ram_node *root;
static _Atomic uint64_t last_id;

static struct ram_node *ram_create_node(bool is_dir, uint32_t mode)
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
	kfree(node);
}

static void *ram_root(void)
{
	atomic_fetch_add(&root->refs, 1);
	return root;
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

	out_stat->type = node->target ? VFS_LINK : VFS_REGULAR;
	if (node->is_dir)
		out_stat->type = VFS_DIRECTORY;
	else if (node->special && node->special->is_device)
		out_stat->type = VFS_DEVICE;
	out_stat->mode = node->mode;
	out_stat->uid = node->uid;
	out_stat->gid = node->gid;
	out_stat->more_links = (int32_t)node->nr_names - 1;
	if (node->is_dir) /* the one in itself goes, too */
		out_stat->more_links = node->parent ? 0 : -2;
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

/* Those of files in /proc stay. */
int ram_set_attr(void *object, unsigned int which, const struct vfs_stat *to)
{
	struct ram_node *node = object;

	if (node->special && !node->special->is_device)
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
	if (node->is_dir)
		node->mode |= MODE_SETGID;
}

/* Give a node one more name, in a directory. 0, or -errno with the node let go. */
static int ram_add_new(struct ram_node *dir, const char *text, struct ram_node *node, bool is_new)
{
	struct ram_name *name = node ? ram_create_name(text) : NULL;
	int err = name ? -ENOTDIR : -ENOMEM;

	mutex_lock(&ram_tree_lock);
	if (name && dir->is_dir)
		err = dir->parent ? -EEXIST : -ENOENT;
	if (err == -EEXIST && !ram_find_child(dir, text)) {
		err = 0;
		ram_add_name(dir, name, node);
		ram_changed(dir);
		if (is_new)
			ram_take_group(dir, node);
	}
	mutex_unlock(&ram_tree_lock);
	if (err)
		kfree(name);
	if (err && node)
		ram_put_node(node);
	return err;
}

static int ram_create(void *object, const char *name, bool is_dir)
{
	struct ram_node *node = ram_create_node(is_dir, is_dir ? 0755 : 0644);

	if (node) {
		ram_changed(node);
		node->atime_ns = node->mtime_ns;
	}
	return ram_add_new(object, name, node, true);
}

static int ram_symlink(void *object, const char *name, const char *target)
{
	struct ram_node *node = ram_create_node(false, 0777);

	if (node)
		node->target = kstrdup(target);
	if (node && !node->target) {
		ram_put(node);
		return -ENOMEM;
	}
	if (node) {
		ram_changed(node);
		node->atime_ns = node->mtime_ns;
		node->size = strlen(target);
	}
	return ram_add_new(object, name, node, true);
}

/* A file that has lost its last name gets none any more. */
static int ram_link(void *object, void *dir, const char *name)
{
	struct ram_node *node = object;
	int err;

	if (!node->nr_names)
		return -ENOENT;
	if (node->is_fixed)
		return -EPERM;
	atomic_fetch_add(&node->refs, 1);
	err = ram_add_new(dir, name, node, false);
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

static int ram_can_remove(const struct ram_node *node, bool is_dir)
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

	if (!dir->is_dir)
		return -ENOTDIR;
	mutex_lock(&ram_tree_lock);
	node = ram_find_child(dir, name);
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

/* Is `node` the directory, or one that it is in? */
static bool ram_is_above(const struct ram_node *node, const struct ram_node *dir)
{
	while (dir != node && dir != root)
		dir = dir->parent;
	return dir == node;
}

/* `over`, which may be NULL, is in the way. */
static int ram_can_rename(const struct ram_node *node, const struct ram_node *over,
			  const struct ram_node *dir)
{
	if (!node || !dir->parent)
		return -ENOENT;
	if (node->is_fixed)
		return -EBUSY;
	if (ram_is_above(node, dir))
		return -EINVAL;
	return over && over != node ? ram_can_remove(over, node->is_dir) : 0;
}

static int ram_rename(void *object, const char *name, void *new_object, const char *new_name)
{
	struct ram_node *dir = object, *new_dir = new_object;
	struct ram_node *node, *over;
	struct ram_name *new;
	int err;

	if (!dir->is_dir || !new_dir->is_dir)
		return -ENOTDIR;
	new = ram_create_name(new_name);
	if (!new)
		return -ENOMEM;
	mutex_lock(&ram_tree_lock);
	node = ram_find_child(dir, name);
	over = ram_find_child(new_dir, new_name);
	err = ram_can_rename(node, over, new_dir);
	if (!err && node != over) { /* two names of a file both stay */
		if (over)
			ram_put_node(ram_unlink(new_dir, new_name));
		ram_add_name(new_dir, new, ram_unlink(dir, name));
		new = NULL;
		ram_changed(dir);
		ram_changed(new_dir);
	}
	mutex_unlock(&ram_tree_lock);
	kfree(new);
	return err;
}

static int ram_open(void *object, struct file *file)
{
	struct ram_node *node = object;

	if (node->special) {
		file->ops = node->special->ops ? node->special->ops : &vfs_text_ops;
		file->object = (void *)(uintptr_t)node->special;
		return file->ops->open ? file->ops->open(file) : 0;
	}
	if (node->target)
		return -ELOOP;
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

/* The directory `path`, all of whose parents exist. Boot only: it takes no lock. */
static struct ram_node *ram_find_dir(const char *path)
{
	struct ram_node *node = root;
	char name[VFS_NAME_MAX];

	while (node && *path) {
		size_t len = 0;

		path++;
		while (path[len] && path[len] != '/')
			len++;
		strlcpy(name, path, len + 1);
		node = ram_find_child(node, name);
		path += len;
	}
	return node;
}

/* Without the lock and the time. 0 or -ENOMEM; `node` may be NULL. */
static int ram_add_at_boot(struct ram_node *dir, const char *text, struct ram_node *node)
{
	struct ram_name *name = node ? ram_create_name(text) : NULL;

	if (!name)
		return -ENOMEM;
	ram_add_name(dir, name, node);
	return 0;
}

static int ram_add_fixed(const char *dir, const char *name, const struct vfs_special *special)
{
	struct ram_node *node = ram_create_node(!special, special ? special->mode : 0755);
	struct ram_node *parent = ram_find_dir(dir);

	ASSERT(parent);
	if (node) {
		node->special = special;
		node->is_fixed = true;
	}
	return ram_add_at_boot(parent, name, node);
}

static int ram_add_fixed_dir(const char *path)
{
	char parent[VFS_PATH_MAX];
	const char *slash = strrchr(path, '/');

	strlcpy(parent, path, (size_t)(slash - path) + 1);
	return ram_add_fixed(parent, slash + 1, NULL);
}

int vfs_ram_init(const char *const *dirs, size_t nr_dirs)
{
	int err = 0;

	root = ram_create_node(true, 0755);
	if (!root)
		return -ENOMEM;
	root->parent = root;
	for (size_t i = 0; i < nr_dirs && !err; i++)
		err = ram_add_fixed_dir(dirs[i]);
	return err;
}

int vfs_ram_add_sized(const struct vfs_special *special, uint64_t size)
{
	struct ram_node *node = ram_create_node(false, special->mode);

	if (!node)
		return -ENOMEM;
	node->special = special;
	node->size = size;
	return ram_add_at_boot(ram_find_dir(special->dir), special->name, node);
}

int vfs_ram_add(const struct vfs_special *specials, size_t nr_specials)
{
	int err = 0;

	for (size_t i = 0; i < nr_specials && !err; i++)
		err = ram_add_fixed(specials[i].dir, specials[i].name, &specials[i]);
	return err;
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
	.remove = ram_remove,
	.set_attr = ram_set_attr,
	.rename = ram_rename,
	.link = ram_link,
	.readlink = ram_readlink,
	.symlink = ram_symlink,
};
