/*
 * Directories of the tree in memory that stand over others: a tmpfs at further places. The name in the parent leads to the upper
 * one, which holds the one below.
 *
 *   parent --children--> name --> upper directory --covered--> directory
 *
 * Context: thread. Locking: ram_tree_lock, taken here.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_ram.h"
#include "vfs_walk.h"

/* Its name, and the reference that this is, lead to the other directory from now on. The lock is held. */
static void ram_mount_replace(const struct ram_node *dir, struct ram_node *by)
{
	struct ram_name *name = (struct ram_name *)(uintptr_t)dir->name;

	by->parent = dir->parent;
	by->name = name;
	by->nr_names = 1;
	name->node = by;
}

int ram_mount(const char *path)
{
	const struct vfs_at at = { .path = path, .cwd = VFS_REAL };
	struct ram_node *upper = ram_create_node(true, 01777), *dir;
	char full[VFS_PATH_MAX];
	struct place place;
	int err = upper ? place_find(&at, true, full, &place) : -ENOMEM;

	if (err) {
		kfree(upper);
		return err;
	}
	dir = place.node;
	mutex_lock(&ram_tree_lock);
	if (place.fs != &vfs_ram_fs || dir == ram_tree || dir->closed)
		err = -EPERM;
	else if (!dir->is_dir || !dir->parent)
		err = -ENOENT;
	if (!err) {
		ram_changed(upper);
		upper->atime_ns = upper->mtime_ns;
		upper->is_fixed = true;
		upper->covered = dir;
		ram_mount_replace(dir,
				  upper); /* the reference of the name is `covered`'s from now on */
	}
	mutex_unlock(&ram_tree_lock);
	place_put(&place);
	if (err)
		kfree(upper);
	return err;
}

/* The first file in the directory that has no directory below it that has files; NULL: there is no file. */
static struct ram_node *ram_mount_deepest(struct ram_node *dir)
{
	while (dir->is_dir && dir->children && dir->children->node->is_dir &&
	       dir->children->node->children)
		dir = dir->children->node;
	return dir;
}

/* Does anything hold a file of the tree below, beside its names? The lock is held. */
static bool ram_mount_is_busy(const struct ram_node *upper)
{
	const struct ram_node *dir = upper;
	const struct ram_name *name = dir->children;

	/* From name to name: down into each directory, and up at its end. */
	for (;;) {
		while (!name) {
			if (dir == upper)
				return false;
			name = dir->name->sibling;
			dir = dir->parent;
		}
		if (name->node->refs != name->node->nr_names || name->node->covered)
			return true;
		if (name->node->is_dir) {
			dir = name->node;
			name = dir->children;
		} else {
			name = name->sibling;
		}
	}
}

/* The lock is held. */
static void ram_mount_empty(struct ram_node *upper)
{
	while (upper->children) {
		struct ram_node *dir = ram_mount_deepest(upper);

		ram_put(ram_unlink(dir, dir->children->text));
	}
}

int ram_umount(const char *path)
{
	const struct vfs_at at = { .path = path, .cwd = VFS_REAL };
	char full[VFS_PATH_MAX];
	struct ram_node *upper;
	struct place place;
	int err = place_find(&at, true, full, &place);

	if (err)
		return err;
	upper = place.node;
	mutex_lock(&ram_tree_lock);
	/* Its name and this walk hold it. */
	if (place.fs != &vfs_ram_fs || !upper->covered)
		err = -EINVAL;
	else if (upper->refs != 2 || ram_mount_is_busy(upper))
		err = -EBUSY;
	if (!err) {
		ram_mount_empty(upper);
		ram_mount_replace(upper, upper->covered);
		upper->parent = NULL;
	}
	mutex_unlock(&ram_tree_lock);
	place_put(&place);
	if (!err)
		ram_put(upper); /* the reference of its name */
	return err;
}
