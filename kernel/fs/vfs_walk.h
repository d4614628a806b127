/*
 * From a path to a node.
 *
 *   path -- walk_resolve() --> absolute text -- one name after the other --> node
 *                                   ^   |
 *                                   |   v  a link, or `..`: the text is rewritten
 *                                   '---'
 *
 * The text at the end has no link and no `..` in it: it is the file's own path.
 *
 * Context: thread. Ownership: a place holds its node until place_put().
 */
#ifndef KERNEL_VFS_WALK_H
#define KERNEL_VFS_WALK_H

#include <kernel/vfs.h>

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
int place_find(const char *cwd, const char *path, bool follows, char *full,
	       struct place *out_place);
/*
 * The node of the parent; *out_last points to the last name, in `full`. -EEXIST when there is no last
 * name, because the path is the root of a mount.
 */
int place_find_parent(const char *cwd, const char *path, char *full, char **out_last,
		      struct place *out_place);
void place_put(struct place *place);
/* All of its attributes. */
void place_stat(const struct place *place, struct vfs_stat *out_stat);

#endif
