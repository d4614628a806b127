/*
 * Walking a tree of files: every name once, a directory before its entries.
 *
 * Context:   thread.
 * Locking:   none: names that are made or removed meanwhile may be missed, or come twice.
 * Ownership: the struct tree is the caller's. It is large: kmalloc() it.
 */
#ifndef KERNEL_TREE_H
#define KERNEL_TREE_H

#include <kernel/vfs.h>

#define TREE_DEPTH_MAX (VFS_PATH_MAX / 2)

struct tree {
	const char *cwd;
	uint32_t max_depth; /* deeper names are left out; may be changed after tree_start() */
	/* The place that the walk has come to: */
	char path[VFS_PATH_MAX];
	const char *name; /* the last part of path, or all of it for the start */
	struct vfs_stat stat;
	uint32_t depth; /* 0: the start */
	/* For the walk itself: */
	bool is_started;
	bool is_cut;			/* a path was too long and was left out */
	uint16_t len[TREE_DEPTH_MAX];	/* of the path at each depth */
	uint32_t index[TREE_DEPTH_MAX]; /* of the next entry there */
};

/* Begin a walk at `start`, seen from `cwd`. 0, -ENAMETOOLONG, or an error of vfs_stat(). */
int tree_start(struct tree *tree, const char *cwd, const char *start);
/* Go to the next name; the first call goes to `start`. False at the end. */
bool tree_next(struct tree *tree);

#endif
