/* Files by path: opening, asking, making, removing and renaming. See <kernel/vfs.h>. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

/* A last name of a path that is to be made or removed. */
struct path_last {
	struct place parent; /* held */
	char *name;
	bool is_dir, creates;
};

/*
 * Checks before the file system is asked: `parent` is a directory, and `name` is not in it when it
 * is to be made, or is in it and of the right type when it is to be removed. 0 or -errno.
 */
static int path_check_last(const struct place *parent, const char *name, bool is_dir, bool creates)
{
	struct place last = { .fs = parent->fs };
	struct vfs_stat dir, stat;
	int err;

	parent->fs->stat(parent->node, &dir);
	err = dir.type == VFS_DIRECTORY ? inode_permission(&dir, MAY_EXEC) : -ENOTDIR;
	if (!err)
		err = parent->fs->lookup(parent->node, name, &last.node);
	if (err)
		return err == -ENOENT && creates ? inode_permission(&dir, MAY_WRITE) : err;
	last.fs->stat(last.node, &stat);
	err = creates ? -EEXIST : may_delete(&dir, &stat);
	if (!err && (stat.type == VFS_DIRECTORY) != is_dir)
		err = is_dir ? -ENOTDIR : -EISDIR;
	place_put(&last);
	return err;
}

/* The parent of a name that is to be made or removed, and checks of both. 0 or -errno. */
static int path_find_last(const char *cwd, const char *path, char *full, struct path_last *out)
{
	int err = place_find_parent(cwd, path, full, &out->name, &out->parent);

	if (err)
		return err == -EEXIST && !out->creates ? -EBUSY : err;
	err = path_check_last(&out->parent, out->name, out->is_dir, out->creates);
	if (err)
		place_put(&out->parent);
	return err;
}

/* Make or remove the last name of the path. */
static int path_change(const char *cwd, const char *path, bool is_dir, bool creates)
{
	struct path_last last = { .is_dir = is_dir, .creates = creates };
	char full[VFS_PATH_MAX];
	int err = path_find_last(cwd, path, full, &last);
	const struct vfs_fs *fs = last.parent.fs;

	if (err)
		return err;
	if (creates)
		err = fs->create ? fs->create(last.parent.node, last.name, is_dir) : -EPERM;
	else
		err = fs->remove ? fs->remove(last.parent.node, last.name, is_dir) : -EPERM;
	place_put(&last.parent);
	return err;
}

int vfs_symlink(const char *cwd, const char *path, const char *target)
{
	struct path_last last = { .creates = true };
	char full[VFS_PATH_MAX];
	int err;

	if (!*target)
		return -ENOENT;
	if (strlen(target) >= VFS_PATH_MAX)
		return -ENAMETOOLONG;
	err = path_find_last(cwd, path, full, &last);
	if (err)
		return err;
	err = last.parent.fs->symlink ? last.parent.fs->symlink(last.parent.node, last.name, target)
				      : -EPERM;
	place_put(&last.parent);
	return err;
}

static int path_link_in(const struct place *from, const struct path_last *to)
{
	struct vfs_stat stat;

	from->fs->stat(from->node, &stat);
	if (from->fs != to->parent.fs)
		return -EXDEV;
	if (stat.type == VFS_DIRECTORY || !from->fs->link)
		return -EPERM;
	return from->fs->link(from->node, to->parent.node, to->name);
}

int vfs_link(const char *cwd, const char *path, const char *new_path)
{
	struct path_last last = { .creates = true };
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(cwd, path, false, full, &place);

	if (err)
		return err;
	err = path_find_last(cwd, new_path, full, &last);
	if (!err) {
		err = path_link_in(&place, &last);
		place_put(&last.parent);
	}
	place_put(&place);
	return err;
}

int vfs_readlink(const char *cwd, const char *path, char *out_target)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(cwd, path, false, full, &place);

	if (err)
		return err;
	err = place.fs->readlink ? place.fs->readlink(place.node, out_target) : -EINVAL;
	place_put(&place);
	return err;
}

/* A directory is read entry by entry: its position is the number of the next one. */
const struct file_ops vfs_directory_ops = { .has_position = true };

static const struct file_ops path_place_ops = { 0 };

static bool path_is_to_be_new(uint32_t flags)
{
	return flags & VFS_CREATE && flags & VFS_EXCL;
}

/* May what is there be opened so? A link is there only if it was not to be followed, or leads to no path. */
static int path_check_open(enum vfs_type type, uint32_t flags)
{
	if (flags & VFS_ONLY_DIR && type != VFS_DIRECTORY)
		return type == VFS_LINK ? -ELOOP : -ENOTDIR;
	if (flags & VFS_PLACE)
		return 0;
	if (path_is_to_be_new(flags))
		return -EEXIST;
	if (type == VFS_LINK && flags & VFS_NOFOLLOW)
		return -ELOOP;
	if (type != VFS_DIRECTORY)
		return 0;
	return flags & VFS_MAY_LIST && !(flags & (VFS_WRITE | VFS_CREATE)) ? 0 : -EISDIR;
}

/* Do owner and mode allow it? */
static int path_permission(const struct vfs_stat *stat, uint32_t flags)
{
	unsigned int mask = flags & VFS_READ ? MAY_READ : 0;

	if (flags & (VFS_PLACE | VFS_IS_NEW) || stat->type == VFS_LINK)
		return 0;
	if (flags & (VFS_WRITE | VFS_TRUNCATE))
		mask |= MAY_WRITE;
	return inode_permission(stat, flags & VFS_FOR_EXEC ? MAY_EXEC : mask);
}

/* Fill operations and object of a file that has its name. */
static int path_open_file(const struct place *place, enum vfs_type type, struct file *file)
{
	file->ops = type == VFS_DIRECTORY ? &vfs_directory_ops : &path_place_ops;
	if (type == VFS_DIRECTORY || file->flags & VFS_PLACE)
		return 0;
	return place->fs->open(place->node, file);
}

static int path_open_place(const struct place *place, const char *path, uint32_t flags,
			   struct file **out_file)
{
	struct vfs_stat stat;
	struct file *file;
	int err;

	place->fs->stat(place->node, &stat);
	err = path_check_open(stat.type, flags);
	if (!err)
		err = path_permission(&stat, flags);
	if (err)
		return err;
	file = file_create(NULL, NULL, flags);
	if (!file)
		return -ENOMEM;
	file->dentry = d_alloc(path, place->path_len, place->last_at);
	file->path = file->dentry ? file->dentry->path : NULL;
	err = file->dentry ? path_open_file(place, stat.type, file) : -ENOMEM;
	if (err) {
		file->ops = NULL;
		fput(file);
		return err;
	}
	*out_file = file;
	return 0;
}

/* Make the file at a path without links, and open it. */
static int path_open_new(const char *path, uint32_t flags, struct file **out_file)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = path_change("/", path, false, true);
	uint32_t is_new = err ? 0 : VFS_IS_NEW;

	if (err && (err != -EEXIST || flags & VFS_EXCL))
		return err;
	err = place_find("/", path, true, full, &place);
	if (err)
		return err;
	err = path_open_place(&place, full, (flags & ~VFS_EXCL) | is_new, out_file);
	place_put(&place);
	return err;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	bool follows = !(flags & VFS_NOFOLLOW) && !path_is_to_be_new(flags);
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(cwd, path, follows, full, &place);

	if (err == -ENOENT && flags & VFS_CREATE && *path)
		return path_open_new(full, flags, out_file);
	if (err)
		return err;
	err = path_open_place(&place, full, flags, out_file);
	place_put(&place);
	return err;
}

static int path_stat(const char *cwd, const char *path, bool follows, struct vfs_stat *out_stat)
{
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(cwd, path, follows, full, &place);

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
	return path_stat(cwd, path, true, out_stat);
}

int vfs_lstat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	return path_stat(cwd, path, false, out_stat);
}

static bool path_attr_differs(const struct vfs_stat *stat, unsigned int which,
			      const struct vfs_stat *to)
{
	return (which & VFS_SET_MODE && to->mode != stat->mode) ||
	       (which & VFS_SET_UID && to->uid != stat->uid) ||
	       (which & VFS_SET_GID && to->gid != stat->gid);
}

int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	struct vfs_stat stat = { 0 }, wanted = *to;
	char full[VFS_PATH_MAX];
	struct place place;
	int err = place_find(cwd, path, !(which & VFS_SET_OF_LINK), full, &place);

	if (err)
		return err;
	which &= ~VFS_SET_OF_LINK;
	place.fs->stat(place.node, &stat);
	err = which & VFS_SET_OF_NEW ? 0 : setattr_prepare(&stat, &which, &wanted);
	if (!err && place.fs->set_attr)
		err = place.fs->set_attr(place.node, which, &wanted);
	else if (!err && path_attr_differs(&stat, which, &wanted))
		err = -EPERM;
	place_put(&place);
	return err;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	char full[VFS_PATH_MAX];
	struct vfs_stat stat;
	struct place place;
	int err = place_find(cwd, path, true, full, &place);

	if (err)
		return err;
	place.fs->stat(place.node, &stat);
	err = -ENOTDIR;
	if (stat.type == VFS_DIRECTORY) {
		err = strcmp(full, "/proc") == 0 ? vfs_entry_of_process(&index, out_name) : -ENOENT;
		if (err)
			err = place.fs->entry(place.node, index, out_name);
	}
	place_put(&place);
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

/* Do owners and modes allow `from` to be renamed? A directory that gets another parent has to be written to. */
static int path_may_rename(const struct place *from, void *node, const struct place *to,
			   const char *new_name)
{
	struct place over = { .fs = to->fs };
	struct vfs_stat dir, stat;
	int err;

	from->fs->stat(from->node, &dir);
	from->fs->stat(node, &stat);
	err = may_delete(&dir, &stat);
	if (!err && stat.type == VFS_DIRECTORY && from->node != to->node)
		err = inode_permission(&stat, MAY_WRITE);
	if (err)
		return err;
	to->fs->stat(to->node, &dir);
	if (to->fs->lookup(to->node, new_name, &over.node))
		return inode_permission(&dir, MAY_WRITE | MAY_EXEC);
	over.fs->stat(over.node, &stat);
	place_put(&over);
	return may_delete(&dir, &stat);
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
	if (!cred_sees_all())
		err = path_may_rename(from, last.node, to, new_name);
	place_put(&last);
	if (err)
		return err;
	if (!from->fs->rename)
		return -EPERM;
	return from->fs->rename(from->node, name, to->node, new_name);
}

int vfs_rename(const char *cwd, const char *path, const char *new_path)
{
	char full[VFS_PATH_MAX], new_full[VFS_PATH_MAX];
	char *name, *new_name;
	struct place from, to;
	int err = place_find_parent(cwd, path, full, &name, &from);

	if (err)
		return err == -EEXIST ? -EBUSY : err;
	err = vfs_mount_is_in(full) ? -EBUSY : 0;
	if (!err)
		err = place_find_parent(cwd, new_path, new_full, &new_name, &to);
	if (err) {
		place_put(&from);
		return err == -EEXIST ? -EBUSY : err;
	}
	err = path_rename_in(&from, name, &to, new_name);
	place_put(&to);
	place_put(&from);
	return err;
}
