/* Names of files by path: making, removing and renaming. See <kernel/vfs.h>. */
#include <kernel/string.h>
#include <kernel/vfs.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

#define PATH_DIR_MODE 0755 /* of directories that the kernel makes */

static struct vfs_at path_at(const char *cwd, const char *path)
{
	return (struct vfs_at){ .path = path, .cwd = cwd };
}

/* A last name of a path that is to be made or removed. */
struct path_last {
	struct place parent; /* held */
	char *name;
	char full[VFS_PATH_MAX]; /* the path; the name is its end */
};

/* The parent of the last name. 0, or -errno with nothing held. */
static int path_find_last(const struct vfs_at *at, struct path_last *out)
{
	return place_find_parent(at, out->full, &out->name, &out->parent);
}

/* The question of a file system that does not ask itself: may the name be made, or removed? */
static int path_ask(const struct path_last *last, bool is_dir, bool creates)
{
	const struct vfs_fs *fs = last->parent.fs;
	struct place there = { .fs = fs };
	int err;

	if (fs->asks_itself)
		return 0;
	err = fs->lookup(last->parent.node, last->name, &there.node);
	if (err && err != -ENOENT)
		return err;
	if (err)
		there.node = NULL;
	err = creates ? vfs_may_create(fs, last->parent.node, there.node)
		      : vfs_may_remove(fs, last->parent.node, there.node, is_dir);
	if (there.node)
		place_put(&there);
	return err;
}

static int path_make(const struct path_last *last, const struct vfs_stat *like)
{
	const struct vfs_fs *fs = last->parent.fs;

	if (like->type == VFS_DIRECTORY)
		return fs->mkdir ? fs->mkdir(last->parent.node, last->name, like->mode) : -EPERM;
	return fs->mknod ? fs->mknod(last->parent.node, last->name, like) : -EPERM;
}

int vfs_mknod_at(const struct vfs_at *at, const struct vfs_stat *like)
{
	struct path_last last;
	int err = path_find_last(at, &last);

	if (err)
		return err;
	err = path_ask(&last, like->type == VFS_DIRECTORY, true);
	if (!err)
		err = path_make(&last, like);
	place_put(&last.parent);
	return err;
}

int vfs_mkdir_at(const struct vfs_at *at, uint32_t mode)
{
	const struct vfs_stat like = { .type = VFS_DIRECTORY, .mode = mode };

	return vfs_mknod_at(at, &like);
}

int vfs_remove_at(const struct vfs_at *at, bool is_dir)
{
	struct path_last last;
	const struct vfs_fs *fs;
	int err = path_find_last(at, &last);

	if (err)
		return err == -EEXIST ? -EBUSY : err;
	fs = last.parent.fs;
	err = path_ask(&last, is_dir, false);
	if (!err)
		err = fs->remove ? fs->remove(last.parent.node, last.name, is_dir) : -EPERM;
	place_put(&last.parent);
	return err;
}

int vfs_symlink(const struct vfs_at *at, size_t len, const char *target)
{
	struct path_last last;
	const struct vfs_fs *fs;
	int err;

	if (!len)
		return -ENOENT;
	if (len >= VFS_PATH_MAX)
		return -ENAMETOOLONG;
	err = path_find_last(at, &last);
	if (err)
		return err;
	fs = last.parent.fs;
	err = path_ask(&last, false, true);
	if (!err)
		err = fs->symlink ? fs->symlink(last.parent.node, last.name, target) : -EPERM;
	place_put(&last.parent);
	return err;
}

static int path_link_in(const struct place *from, const struct path_last *to)
{
	struct vfs_stat stat;
	int err = path_ask(to, false, true);

	if (err)
		return err;
	from->fs->stat(from->node, &stat);
	if (from->fs != to->parent.fs)
		return -EXDEV;
	if (stat.type == VFS_DIRECTORY || !from->fs->link)
		return -EPERM;
	return from->fs->link(from->node, to->parent.node, to->name);
}

int vfs_link_at(const struct vfs_at *from, bool follows, const struct vfs_at *to)
{
	struct path_last last;
	struct place place;
	int err = place_find(from, follows, last.full, &place);

	if (err)
		return err;
	err = path_find_last(to, &last);
	if (!err) {
		err = path_link_in(&place, &last);
		place_put(&last.parent);
	}
	place_put(&place);
	return err;
}

/* Both parents are held. */
static int path_rename_in(const struct path_last *from, const struct path_last *to,
			  unsigned int how)
{
	const struct vfs_fs *fs = from->parent.fs;
	struct place node = { .fs = fs };
	int err;

	if (fs != to->parent.fs)
		return -EXDEV;
	if (how & VFS_RENAME_EXCHANGE && vfs_mount_is_in(to->full))
		return -EBUSY;
	if (fs->rename)
		return fs->rename(from->parent.node, from->name, to->parent.node, to->name, how);
	err = fs->lookup(from->parent.node, from->name, &node.node);
	if (!err)
		place_put(&node);
	return err ? err : -EPERM;
}

int vfs_rename_at(const struct vfs_at *from, const struct vfs_at *to, unsigned int how)
{
	struct path_last old, new;
	int err = path_find_last(from, &old);

	if (err)
		return err == -EEXIST ? -EBUSY : err;
	err = vfs_mount_is_in(old.full) ? -EBUSY : path_find_last(to, &new);
	if (!err) {
		err = path_rename_in(&old, &new, how);
		place_put(&new.parent);
	} else if (err == -EEXIST) {
		err = -EBUSY;
	}
	place_put(&old.parent);
	return err;
}

/* ---- The same by a path and a directory as text ---- */

int vfs_mkdir(const char *cwd, const char *path)
{
	const struct vfs_at at = path_at(cwd, path);

	return vfs_mkdir_at(&at, PATH_DIR_MODE);
}

int vfs_rmdir(const char *cwd, const char *path)
{
	const struct vfs_at at = path_at(cwd, path);

	return vfs_remove_at(&at, true);
}

int vfs_unlink(const char *cwd, const char *path)
{
	const struct vfs_at at = path_at(cwd, path);

	return vfs_remove_at(&at, false);
}

int vfs_make_symlink(const char *cwd, const char *path, const char *target)
{
	const struct vfs_at at = path_at(cwd, path);

	return vfs_symlink(&at, strlen(target), target);
}

int vfs_rename(const char *cwd, const char *path, const char *new_path)
{
	const struct vfs_at from = path_at(cwd, path), to = path_at(cwd, new_path);

	return vfs_rename_at(&from, &to, 0);
}
