/* Facts about files by path: attributes, links, entries of directories. See <kernel/vfs.h>. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

int vfs_stat_at(const struct vfs_at *at, bool follows, struct vfs_stat *out_stat)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(at, follows, full, &place);

	if (err)
		return err;
	place_stat(&place, out_stat);
	if (follows && out_stat->type == VFS_LINK) { /* to what has no path */
		out_stat->type = VFS_PIPE;
		out_stat->mode = 0600;
	}
	place_put(&place);
	return 0;
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };

	return vfs_stat_at(&at, true, out_stat);
}

int vfs_lstat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };

	return vfs_stat_at(&at, false, out_stat);
}

int vfs_readlink_at(const struct vfs_at *at, char *out_target)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(at, false, full, &place);

	if (err)
		return err;
	err = place.fs->readlink ? place.fs->readlink(place.node, out_target) : -EINVAL;
	place_put(&place);
	return err;
}

static bool attr_differs(const struct vfs_stat *stat, unsigned int which, const struct vfs_stat *to)
{
	return (which & VFS_SET_MODE && to->mode != stat->mode) ||
	       (which & VFS_SET_UID && to->uid != stat->uid) ||
	       (which & VFS_SET_GID && to->gid != stat->gid);
}

static int attr_set(const struct place *place, unsigned int which, const struct vfs_stat *to)
{
	struct vfs_stat stat = { 0 }, wanted = *to;
	int err;

	if (place->fs->asks_itself)
		return place->fs->set_attr(place->node, which, to);
	place->fs->stat(place->node, &stat);
	err = setattr_prepare(&stat, &which, &wanted);
	if (!err && place->fs->set_attr)
		err = place->fs->set_attr(place->node, which, &wanted);
	else if (!err && attr_differs(&stat, which, &wanted))
		err = -EPERM;
	return err;
}

int vfs_set_attr_at(const struct vfs_at *at, unsigned int which, const struct vfs_stat *to)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(at, !(which & VFS_SET_OF_LINK), full, &place);

	if (err)
		return err;
	err = attr_set(&place, which & ~VFS_SET_OF_LINK, to);
	place_put(&place);
	return err;
}

int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };

	return vfs_set_attr_at(&at, which, to);
}

/* The directory's own path is needed for proc, in which processes come before the files. */
static int attr_entry(const struct place *dir, const char *path, uint32_t index, char *out_name)
{
	struct vfs_stat stat;
	int err = -ENOENT;

	dir->fs->stat(dir->node, &stat);
	if (stat.type != VFS_DIRECTORY)
		return -ENOTDIR;
	if ((dir->fs == vfs_proc_place() || strcmp(path, "/proc") == 0) && vfs_mount_is_proc(path))
		err = vfs_entry_of_process(&index, out_name);
	return err ? dir->fs->entry(dir->node, index, out_name) : 0;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(&at, true, full, &place);

	if (err)
		return err;
	err = attr_entry(&place, full, index, out_name);
	place_put(&place);
	return err;
}

int vfs_entry_of(const struct file *dir, uint32_t index, char *out_name)
{
	const struct place place = { .fs = dir->fs, .node = dir->node };

	if (!dir->fs)
		return vfs_entry(VFS_REAL, dir->path, index, out_name);
	return attr_entry(&place, dir->path, index, out_name);
}
