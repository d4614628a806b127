/*
 * From a path to a node.
 *
 *   struct vfs_at -- walk_begin() --> the directory that it begins at, held --> name after name --> node
 *                                              ^                                  |
 *                                              '--- a link: its text is put ------'
 *                                                   in place of the name
 *
 * A walk has the directory that it has come to, and that one's own path as text, by which mounts are found.
 * `..` is the directory's parent. A file system that lets directories be renamed has `get`, `parent` and
 * `path`, so that a walk from a directory that is held open leads where that directory is now.
 *
 * Context: thread. Ownership: a place holds its node until place_put().
 */
#ifndef KERNEL_VFS_WALK_H
#define KERNEL_VFS_WALK_H

#include <kernel/vfs_at.h>

struct place {
	const struct vfs_fs *fs;
	void *node;
	/* Of the node's own path, as place_find() wrote it: its length, and where its last name begins. */
	uint16_t path_len, last_at;
};

/*
 * The node of a path, whose own path is put into the VFS_PATH_MAX bytes at `full`. `follows`: a link
 * that is the last name, too, as one with a slash behind it is. 0 or -errno; after -ENOENT `full` is the path of what is missing, or
 * begins with it.
 */
int place_find(const struct vfs_at *at, bool follows, char *full, struct place *out_place);
/*
 * The node of the parent; *out_last points to the last name, in `full`. -EEXIST when there is no last
 * name, because the path is the root of a mount.
 */
int place_find_parent(const struct vfs_at *at, char *full, char **out_last,
		      struct place *out_place);
/*
 * As place_find(), for a file that may be made. PLACE_IS_PARENT: only the last name is missing, and place and
 * *out_last are those of place_find_parent().
 */
#define PLACE_IS_PARENT 2
int place_find_or_parent(const struct vfs_at *at, bool follows, char *full, char **out_last,
			 struct place *out_place);
void place_put(struct place *place);
/* All of its attributes. */
void place_stat(const struct place *place, struct vfs_stat *out_stat);

#endif
