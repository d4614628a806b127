/* Checks of a name that is to be made, removed or renamed: see vfs_mount.h. */
#include <kernel/cred.h>
#include "vfs_mount.h"

/* The attributes of a directory in which names may be looked for. */
static int may_search_in(const struct vfs_fs *fs, void *dir, struct vfs_stat *out_stat)
{
	fs->stat(dir, out_stat);
	return out_stat->type == VFS_DIRECTORY ? inode_permission(out_stat, MAY_EXEC) : -ENOTDIR;
}

int vfs_may_create(const struct vfs_fs *fs, void *dir, void *there)
{
	struct vfs_stat stat = { 0 };
	int err = may_search_in(fs, dir, &stat);

	if (!err && there)
		err = -EEXIST;
	return err ? err : inode_permission(&stat, MAY_WRITE);
}

int vfs_may_remove(const struct vfs_fs *fs, void *dir, void *there, bool is_dir)
{
	struct vfs_stat parent = { 0 }, stat = { 0 };
	int err = may_search_in(fs, dir, &parent);

	if (!err && !there)
		err = -ENOENT;
	if (err)
		return err;
	fs->stat(there, &stat);
	err = may_delete(&parent, &stat);
	if (!err && (stat.type == VFS_DIRECTORY) != is_dir)
		err = is_dir ? -ENOTDIR : -EISDIR;
	return err;
}

/* A directory that gets another parent has to be written to. */
int vfs_may_rename(const struct vfs_fs *fs, void *dir, void *node, void *new_dir, void *over)
{
	struct vfs_stat parent = { 0 }, stat = { 0 };
	int err;

	fs->stat(dir, &parent);
	fs->stat(node, &stat);
	err = may_delete(&parent, &stat);
	if (!err && stat.type == VFS_DIRECTORY && dir != new_dir)
		err = inode_permission(&stat, MAY_WRITE);
	if (err)
		return err;
	fs->stat(new_dir, &parent);
	if (!over)
		return inode_permission(&parent, MAY_WRITE | MAY_EXEC);
	fs->stat(over, &stat);
	return may_delete(&parent, &stat);
}
