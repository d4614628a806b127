/* See tree.h. */
#include <kernel/string.h>
#include "tree.h"

int tree_start(struct tree *tree, const char *cwd, const char *start)
{
	memset(tree, 0, sizeof(*tree));
	if (strlen(start) >= VFS_PATH_MAX)
		return -ENAMETOOLONG;
	tree->cwd = cwd;
	tree->max_depth = TREE_DEPTH_MAX - 1;
	strlcpy(tree->path, start, VFS_PATH_MAX);
	tree->name = tree->path;
	tree->len[0] = (uint16_t)strlen(start);
	return vfs_stat(cwd, start, &tree->stat);
}

/*
 * Append the next entry of the directory at `depth` to the path. tree->name is NULL when the entry
 * cannot be shown. False behind the last entry.
 */
static bool tree_next_entry(struct tree *tree, uint32_t depth)
{
	char name[VFS_NAME_MAX];
	size_t len = tree->len[depth];

	tree->path[len] = '\0';
	if (vfs_entry(tree->cwd, tree->path, tree->index[depth]++, name))
		return false;
	if (len && tree->path[len - 1] != '/')
		tree->path[len++] = '/';
	if (len + strlen(name) >= VFS_PATH_MAX) {
		tree->is_cut = true;
		tree->stat.type = VFS_REGULAR;
		tree->name = NULL;
		return true;
	}
	strlcpy(tree->path + len, name, VFS_PATH_MAX - len);
	tree->name = tree->path + len;
	tree->depth = depth + 1;
	tree->len[depth + 1] = (uint16_t)(len + strlen(name));
	tree->index[depth + 1] = 0;
	if (vfs_lstat(tree->cwd, tree->path, &tree->stat))
		tree->name = NULL; /* it was removed meanwhile */
	return true;
}

bool tree_next(struct tree *tree)
{
	uint32_t depth = tree->depth;

	if (!tree->is_started) {
		tree->is_started = true;
		return true;
	}
	if (!tree->name || tree->stat.type != VFS_DIRECTORY || depth >= tree->max_depth) {
		if (!depth)
			return false;
		depth--;
	}
	for (;;) {
		if (tree_next_entry(tree, depth)) {
			if (tree->name)
				return true;
			continue;
		}
		if (!depth)
			return false;
		depth--;
	}
}
