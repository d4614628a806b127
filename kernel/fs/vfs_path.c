/* Names: from a path to a node; making, removing and renaming. See <kernel/vfs.h>. */
#include <kernel/string.h>
#include <kernel/vfs.h>
#include "vfs_mount.h"

#define FS_NR_SHIFT 56 /* the bits of an id above those that the file system gives */

/* A node that is held, and the file system that it belongs to. */
struct place {
	const struct vfs_fs *fs;
	void *node;
};

static int path_append_component(char *path, size_t *len, const char *name, size_t name_len)
{
	if (name_len == 1 && name[0] == '.')
		return 0;
	if (name_len == 2 && name[0] == '.' && name[1] == '.') {
		while (*len && path[--*len] != '/')
			;
		return 0;
	}
	if (name_len >= VFS_NAME_MAX || *len + name_len + 2 > VFS_PATH_MAX)
		return -ENAMETOOLONG;
	path[(*len)++] = '/';
	memcpy(path + *len, name, name_len);
	*len += name_len;
	return 0;
}

static int path_append(char *out_path, size_t *len, const char *path)
{
	int err = 0;

	while (*path && !err) {
		size_t name_len = 0;

		while (path[name_len] && path[name_len] != '/')
			name_len++;
		if (name_len)
			err = path_append_component(out_path, len, path, name_len);
		path += name_len;
		while (*path == '/')
			path++;
	}
	return err;
}

int vfs_resolve(const char *cwd, const char *path, char *out_path)
{
	size_t len = 0;
	int err = 0;

	if (!*path)
		return -ENOENT;
	if (*path != '/')
		err = path_append(out_path, &len, cwd);
	if (!err)
		err = path_append(out_path, &len, path);
	if (err)
		return err;
	if (!len)
		out_path[len++] = '/';
	out_path[len] = '\0';
	return 0;
}

static void path_put(struct place *place)
{
	if (place->fs->put)
		place->fs->put(place->node);
}

/* Go from a directory to `name` in it. 0, or -errno with `place` as it was. */
static int path_step(struct place *place, const char *name)
{
	struct vfs_stat stat;
	void *next;
	int err;

	place->fs->stat(place->node, &stat);
	if (stat.type != VFS_DIRECTORY)
		return -ENOTDIR;
	err = place->fs->lookup(place->node, name, &next);
	if (err)
		return err;
	path_put(place);
	place->node = next;
	return 0;
}

/*
 * Find and hold the node of a resolved path; its slashes are overwritten. With `out_last` it is the
 * node of the parent, and *out_last points to the last name. -EEXIST when there is no last name,
 * because the path is the root of a mount.
 */
static int path_walk(char *path, char **out_last, struct place *out_place)
{
	const char *rest;
	char *name;
	int err = 0;

	out_place->fs = vfs_mount_of(path, &rest);
	name = path + (rest - path);
	if (out_last && !*name)
		return -EEXIST;
	out_place->node = out_place->fs->root();
	if (!out_place->node)
		return -ENOENT;
	while (*name && !err) {
		char *slash = strchr(name, '/');

		if (!slash && out_last)
			break;
		if (slash)
			*slash = '\0';
		err = path_step(out_place, name);
		name = slash ? slash + 1 : name + strlen(name);
	}
	if (out_last)
		*out_last = name;
	if (err)
		path_put(out_place);
	return err;
}

static int path_find(const char *cwd, const char *path, struct place *out_place)
{
	char full[VFS_PATH_MAX];
	int err = vfs_resolve(cwd, path, full);

	return err ? err : path_walk(full, NULL, out_place);
}

/*
 * Checks before the file system is asked: `parent` is a directory, and `name` is not in it when it
 * is to be made, or is in it and of the right type when it is to be removed. 0 or -errno.
 */
static int path_check_last(const struct place *parent, const char *name, bool is_dir, bool creates)
{
	struct place last = { .fs = parent->fs };
	struct vfs_stat stat;
	int err;

	parent->fs->stat(parent->node, &stat);
	if (stat.type != VFS_DIRECTORY)
		return -ENOTDIR;
	err = parent->fs->lookup(parent->node, name, &last.node);
	if (err)
		return err == -ENOENT && creates ? 0 : err;
	last.fs->stat(last.node, &stat);
	if (creates)
		err = -EEXIST;
	else if ((stat.type == VFS_DIRECTORY) != is_dir)
		err = is_dir ? -ENOTDIR : -EISDIR;
	path_put(&last);
	return err;
}

/* Make or remove the last name of the path. */
static int path_change(const char *cwd, const char *path, bool is_dir, bool creates)
{
	char full[VFS_PATH_MAX];
	struct place parent;
	char *name;
	int err = vfs_resolve(cwd, path, full);

	if (!err)
		err = path_walk(full, &name, &parent);
	if (err)
		return err == -EEXIST && !creates ? -EBUSY : err;
	err = path_check_last(&parent, name, is_dir, creates);
	if (!err && creates)
		err = parent.fs->create ? parent.fs->create(parent.node, name, is_dir) : -EPERM;
	else if (!err)
		err = parent.fs->remove ? parent.fs->remove(parent.node, name, is_dir) : -EPERM;
	path_put(&parent);
	return err;
}

static int path_open_place(const struct place *place, const char *path, uint32_t flags,
			   struct file **out_file)
{
	struct vfs_stat stat;
	struct file *file;
	int err;

	place->fs->stat(place->node, &stat);
	if (stat.type == VFS_DIRECTORY)
		return -EISDIR;
	file = file_create(NULL, NULL, flags);
	if (!file)
		return -ENOMEM;
	file->dentry = d_alloc(path);
	err = file->dentry ? place->fs->open(place->node, file) : -ENOMEM;
	if (err) {
		file->ops = NULL;
		fput(file);
		return err;
	}
	*out_file = file;
	return 0;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	struct place place;
	int err = path_find(cwd, path, &place);

	if (err == -ENOENT && (flags & VFS_CREATE)) {
		err = path_change(cwd, path, false, true);
		if (!err || err == -EEXIST)
			err = path_find(cwd, path, &place);
	}
	if (err)
		return err;
	err = path_open_place(&place, path, flags, out_file);
	path_put(&place);
	return err;
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	struct place place;
	int err = path_find(cwd, path, &place);

	if (err)
		return err;
	out_stat->uid = 0;
	out_stat->gid = 0;
	place.fs->stat(place.node, out_stat);
	out_stat->id = (uint64_t)place.fs->nr << FS_NR_SHIFT |
		       (out_stat->id & ((1ull << FS_NR_SHIFT) - 1));
	path_put(&place);
	return 0;
}

int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	struct vfs_stat stat = { 0 };
	struct place place;
	int err = path_find(cwd, path, &place);

	if (err)
		return err;
	place.fs->stat(place.node, &stat);
	if (place.fs->set_attr)
		err = place.fs->set_attr(place.node, which, to);
	else if ((which & VFS_SET_MODE && to->mode != stat.mode) ||
		 (which & VFS_SET_UID && to->uid != stat.uid) ||
		 (which & VFS_SET_GID && to->gid != stat.gid))
		err = -EPERM;
	path_put(&place);
	return err;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	struct vfs_stat stat;
	struct place place;
	int err = path_find(cwd, path, &place);

	if (err)
		return err;
	place.fs->stat(place.node, &stat);
	err = -ENOTDIR;
	if (stat.type == VFS_DIRECTORY)
		err = place.fs->entry(place.node, index, out_name);
	path_put(&place);
	return err;
}

int vfs_mkdir(const char *cwd, const char *path)
{
	return path_change(cwd, path, true, true);
}

int vfs_rmdir(const char *cwd, const char *path)
{
	return path_change(cwd, path, true, false);
}

int vfs_unlink(const char *cwd, const char *path)
{
	return path_change(cwd, path, false, false);
}

/* Give `name` in the directory `from` the name `new_name` in `to`. 0 or -errno. */
static int path_rename_in(const struct place *from, const char *name, const struct place *to,
			  const char *new_name)
{
	struct place last = { .fs = from->fs };
	int err;

	if (from->fs != to->fs)
		return -EXDEV;
	err = from->fs->lookup(from->node, name, &last.node);
	if (err)
		return err;
	path_put(&last);
	if (!from->fs->rename)
		return -EPERM;
	return from->fs->rename(from->node, name, to->node, new_name);
}

int vfs_rename(const char *cwd, const char *path, const char *new_path)
{
	char full[VFS_PATH_MAX], new_full[VFS_PATH_MAX];
	char *name, *new_name;
	struct place from, to;
	int err = vfs_resolve(cwd, path, full);

	if (!err)
		err = vfs_resolve(cwd, new_path, new_full);
	if (!err && (vfs_mount_is_in(full) || strcmp(full, "/") == 0))
		err = -EBUSY;
	if (!err)
		err = path_walk(full, &name, &from);
	if (err)
		return err;
	err = path_walk(new_full, &new_name, &to);
	if (err) {
		path_put(&from);
		return err == -EEXIST ? -EBUSY : err;
	}
	err = path_rename_in(&from, name, &to, new_name);
	path_put(&to);
	path_put(&from);
	return err;
}
