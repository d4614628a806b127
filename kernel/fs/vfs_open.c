/* Opening files by path, and making them. See <kernel/vfs.h>. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

#define OPEN_MODE 0644 /* of files that the kernel makes */

/* A directory is read entry by entry: its position is the number of the next one. */
const struct file_ops vfs_directory_ops = { .has_position = true };

static const struct file_ops open_place_ops = { 0 };

static bool open_is_to_be_new(uint32_t flags)
{
	return flags & VFS_CREATE && flags & VFS_EXCL;
}

/* May what is there be opened so? A link is there only if it was not to be followed, or leads to no path. */
static int open_check(enum vfs_type type, uint32_t flags)
{
	if (flags & VFS_ONLY_DIR && type != VFS_DIRECTORY)
		return type == VFS_LINK ? -ELOOP : -ENOTDIR;
	if (flags & VFS_PLACE)
		return 0;
	if (open_is_to_be_new(flags))
		return -EEXIST;
	if (type == VFS_LINK && flags & VFS_NOFOLLOW)
		return -ELOOP;
	if (flags & VFS_FOR_EXEC && type != VFS_REGULAR)
		return -EACCES;
	if (type != VFS_DIRECTORY)
		return 0;
	return flags & VFS_MAY_LIST && !(flags & (VFS_WRITE | VFS_CREATE)) ? 0 : -EISDIR;
}

/* Do owner and mode allow it? */
static int open_permission(const struct vfs_stat *stat, uint32_t flags)
{
	unsigned int mask = flags & VFS_READ ? MAY_READ : 0;

	if (flags & (VFS_PLACE | VFS_IS_NEW) || stat->type == VFS_LINK)
		return 0;
	if (flags & (VFS_WRITE | VFS_TRUNCATE))
		mask |= MAY_WRITE;
	return inode_permission(stat, flags & VFS_FOR_EXEC ? MAY_EXEC : mask);
}

/* Fill operations and object of a file that has its name. */
static int open_fill(const struct place *place, enum vfs_type type, struct file *file)
{
	file->ops = type == VFS_DIRECTORY ? &vfs_directory_ops : &open_place_ops;
	if (type == VFS_DIRECTORY || file->flags & VFS_PLACE)
		return 0;
	return place->fs->open(place->node, file);
}

/* A file system whose directories may be renamed has them held by their nodes. */
static void open_hold(const struct place *place, struct file *file)
{
	if (!place->fs->get || (file->ops != &vfs_directory_ops && file->ops != &open_place_ops))
		return;
	place->fs->get(place->node);
	file->fs = place->fs;
	file->node = place->node;
}

static int open_place(const struct place *place, const char *path, uint32_t flags,
		      struct file **out_file)
{
	struct vfs_stat stat;
	struct file *file;
	int err;

	place->fs->stat(place->node, &stat);
	err = open_check(stat.type, flags);
	if (!err)
		err = open_permission(&stat, flags);
	if (err)
		return err;
	file = file_create_named(path, place->path_len, place->last_at, flags);
	if (!file)
		return -ENOMEM;
	err = open_fill(place, stat.type, file);
	if (err) {
		file->ops = NULL;
		fput(file);
		return err;
	}
	open_hold(place, file);
	*out_file = file;
	return 0;
}

/* Make a file in the directory at `place`, which the new file takes over. -EEXIST: it has come in between. */
static int open_make_new(struct place *place, const char *full, const char *name, uint32_t mode)
{
	const struct vfs_fs *fs = place->fs;
	void *node = NULL;
	int err = fs->asks_itself ? 0 : vfs_may_create(fs, place->node, NULL);

	if (!err)
		err = fs->create ? fs->create(place->node, name, mode, &node) : -EACCES;
	place_put(place);
	place->node = node;
	place->path_len = (uint16_t)strlen(full);
	place->last_at = (uint16_t)(name - full);
	return err;
}

static int open_once(const struct vfs_at *at, uint32_t flags, uint32_t mode, struct file **out_file)
{
	bool follows = !(flags & VFS_NOFOLLOW) && !open_is_to_be_new(flags);
	char full[VFS_PATH_MAX], *name = full;
	struct place place;
	int err = flags & VFS_CREATE ? place_find_or_parent(at, follows, full, &name, &place)
				     : place_find(at, follows, full, &place);

	if (err == PLACE_IS_PARENT) {
		flags = (flags & ~VFS_EXCL) | VFS_IS_NEW;
		err = open_make_new(&place, full, name, mode);
	}
	if (err)
		return err;
	err = open_place(&place, full, flags, out_file);
	place_put(&place);
	return err;
}

int vfs_open_at(const struct vfs_at *at, uint32_t flags, uint32_t mode, struct file **out_file)
{
	int err;

	do /* another one may have made the file in between: then that is opened */
		err = open_once(at, flags, mode, out_file);
	while (err == -EEXIST && !open_is_to_be_new(flags));
	return err;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };

	return vfs_open_at(&at, flags, OPEN_MODE, out_file);
}
