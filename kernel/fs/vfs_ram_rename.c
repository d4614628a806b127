/*
 * Renaming in the tree in memory: a name gets another place, and takes that of a file that is there, or the two
 * exchange their files. One step for all others, under ram_tree_lock.
 */
#include <kernel/cred.h>
#include <kernel/mm.h>
#include <kernel/vfs_at.h>
#include "vfs_mount.h"
#include "vfs_ram.h"

/* Is `node` the directory, or one that it is in? */
static bool ram_is_above(const struct ram_node *node, const struct ram_node *dir)
{
	while (dir != node && dir != ram_tree)
		dir = dir->parent;
	return dir == node;
}

/* A name that gets another place, or takes that of another: the nodes, as they are under the lock. */
struct ram_move {
	struct ram_node *dir, *node, *new_dir;
	struct ram_node *over; /* NULL: there is none */
};

/* May `node` of `dir` go to `new_dir`, as far as owners, modes and the kernel's own directories tell? */
static int ram_may_leave(const struct ram_move *move)
{
	int err = cred_sees_all() ? 0
				  : vfs_may_rename(&vfs_ram_fs, move->dir, move->node,
						   move->new_dir, move->over);

	if (!err && (move->dir->closed || move->new_dir->closed))
		err = -EPERM;
	if (!err && move->node->is_fixed)
		err = -EBUSY;
	return !err && ram_is_above(move->node, move->new_dir) ? -EINVAL : err;
}

static int ram_can_rename(const struct ram_move *move, unsigned int how)
{
	const struct ram_move back = { move->new_dir, move->over, move->dir, move->node };
	int err;

	if (!move->node || !move->new_dir->parent || (how & VFS_RENAME_EXCHANGE && !move->over))
		return -ENOENT;
	if (move->over && how & VFS_RENAME_KEEP)
		return -EEXIST;
	err = ram_may_leave(move);
	if (err || !move->over || move->over == move->node)
		return err;
	return how & VFS_RENAME_EXCHANGE ? ram_may_leave(&back)
					 : ram_can_remove(move->over, move->node->is_dir);
}

static void ram_move_name(const struct ram_move *move, const char *name, struct ram_name *new)
{
	if (move->over)
		ram_put(ram_unlink(move->new_dir, new->text));
	ram_add_name(move->new_dir, new, ram_unlink(move->dir, name));
}

/* The lock is held. `new` is taken over if it has become a name. */
static int ram_rename_locked(struct ram_move *move, const char *name, struct ram_name **new,
			     unsigned int how)
{
	int err;

	if (!move->dir->is_dir || !move->new_dir->is_dir)
		return -ENOTDIR;
	move->node = ram_find_child(move->dir, name);
	move->over = ram_find_child(move->new_dir, (*new)->text);
	err = ram_can_rename(move, how);
	if (err || move->node == move->over) /* two names of a file both stay */
		return err;
	if (how & VFS_RENAME_EXCHANGE) {
		ram_exchange(move->dir, name, move->new_dir, (*new)->text);
	} else {
		ram_move_name(move, name, *new);
		*new = NULL;
	}
	ram_changed(move->dir);
	ram_changed(move->new_dir);
	return 0;
}

int ram_rename(void *dir, const char *name, void *new_dir, const char *new_name, unsigned int how)
{
	struct ram_move move = { .dir = dir, .new_dir = new_dir };
	struct ram_name *new = ram_create_name(new_name);
	int err;

	if (!new)
		return -ENOMEM;
	mutex_lock(&ram_tree_lock);
	err = ram_rename_locked(&move, name, &new, how);
	mutex_unlock(&ram_tree_lock);
	kfree(new);
	return err;
}
