/*
 * Walking a tree of files: every name once, a directory before what is in it.
 *
 * Context:   thread. Locking: none; names that come and go meanwhile may be missed or met twice.
 * Ownership: the walk is the caller's, and large: kmalloc() it.
 */
#ifndef KERNEL_TREE_H
#define KERNEL_TREE_H

#include <kernel/vfs.h>

#define TREE_DEPTH_MAX (VFS_PATH_MAX / 2)

struct tree {
	const char *cwd;
	uint32_t max_depth; /* deeper names are passed over; set it before tree_next() */
	/* Where the walk is. */
	char path[VFS_PATH_MAX];
	const char *name; /* the last part of path, or all of it for the start */
	struct vfs_stat stat;
	uint32_t depth; /* 0: the start */
	/* Inside. */
	bool is_started;
	bool is_cut;			/* a path was too long and is left out */
	uint16_t len[TREE_DEPTH_MAX];	/* of the path at each depth */
	uint32_t index[TREE_DEPTH_MAX]; /* of the next entry there */
};

/* `start` must be shorter than VFS_PATH_MAX. 0, or what is wrong with it. */
int tree_start(struct tree *tree, const char *cwd, const char *start);
/* Go to the next name, the first call to the start. False at the end. */
bool tree_next(struct tree *tree);

#endif
