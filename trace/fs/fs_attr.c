/*
 * Owners and modes of the files, as changed by users. See <trace/fs.h>.
 *
 *   tree (uid, gid of all its files) -> changes by id: file 17 has gid 5, file 23 has mode 0600
 *
 * Nodes of some directories come and go, ids stay: so a change is kept with the tree, by the id.
 *
 * Locking: the arrays lock guards trees and changes.
 */
#include "fs_tree.h"
#include "instance/array.h"

#define ATTR_CHANGES_MAX 1024u /* in a tree */

struct attr_change {
	struct attr_change *next;
	uint64_t id; /* of the node */
	struct trace_fs_attr attr;
};

/* Find the change of that node in the list, or the end of the list. */
static struct attr_change **find_change(struct trace_tree *tree, uint64_t id)
{
	struct attr_change **at = &tree->changes;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static void fs_attr_apply(struct trace_fs_attr *to, const struct trace_fs_attr *from)
{
	to->which |= from->which;
	if (from->which & TRACE_FS_MODE)
		to->mode = from->mode;
	if (from->which & TRACE_FS_UID)
		to->uid = from->uid;
	if (from->which & TRACE_FS_GID)
		to->gid = from->gid;
}

static void get_attr(const struct trace_node *node, struct trace_fs_attr *out_attr)
{
	const struct attr_change *change = *find_change(node->tree, node->id);

	*out_attr = node->tree->owner;
	out_attr->mode = node->mode;
	if (change)
		fs_attr_apply(out_attr, &change->attr);
	out_attr->which = TRACE_FS_MODE | TRACE_FS_UID | TRACE_FS_GID;
}

void trace_fs_get_attr(const struct trace_node *node, struct trace_fs_attr *out_attr)
{
	trace_plat_lock(&trace_arrays_lock);
	get_attr(node, out_attr);
	trace_plat_unlock(&trace_arrays_lock);
}

int trace_fs_set_attr(struct trace_node *node, const struct trace_fs_attr *attr)
{
	struct attr_change *fresh = trace_plat_alloc(sizeof(*fresh)), **at;
	struct trace_tree *tree = node->tree;
	int err = fresh ? 0 : -ENOMEM;

	trace_plat_lock(&trace_arrays_lock);
	at = find_change(tree, node->id);
	if (!*at && !err && tree->nr_changes == ATTR_CHANGES_MAX)
		err = -ENOSPC;
	if (!*at && !err) {
		*at = fresh;
		fresh->id = node->id;
		tree->nr_changes++;
		fresh = NULL;
	}
	if (*at) {
		fs_attr_apply(&(*at)->attr, attr);
		err = 0;
	}
	trace_plat_unlock(&trace_arrays_lock);
	if (fresh)
		trace_plat_free(fresh, sizeof(*fresh));
	return err;
}

void trace_fs_set_owner(const struct trace_fs_attr *attr)
{
	unsigned int which = attr->which & (TRACE_FS_UID | TRACE_FS_GID);
	struct trace_fs_attr owner = *attr;
	struct trace_array *tr = NULL;

	owner.which = which;
	trace_plat_lock(&trace_arrays_lock);
	while ((tr = trace_array_next(tr))) {
		struct trace_tree *tree = tr->tree;

		if (!tree)
			continue;
		fs_attr_apply(&tree->owner, &owner);
		for (struct attr_change *change = tree->changes; change; change = change->next)
			change->attr.which &= ~which;
	}
	trace_plat_unlock(&trace_arrays_lock);
}

void trace_attr_inherit(struct trace_tree *tree, const struct trace_node *dir)
{
	get_attr(dir, &tree->owner);
}

void trace_attr_free(struct trace_tree *tree)
{
	struct attr_change *change;

	while ((change = tree->changes)) {
		tree->changes = change->next;
		trace_plat_free(change, sizeof(*change));
	}
}
