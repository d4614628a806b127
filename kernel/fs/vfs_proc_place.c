/*
 * proc at a further place: the directory /proc of the tree in memory once more, with the same files. It has no parent that a walk could
 * go to, so that `..` leads to the directory above the place, and a program that has this for its root stays there. The directories
 * of processes in it are vfs_proc_fs, as at /proc.
 */
#include <kernel/string.h>
#include "vfs_mount.h"

static void *proc_place_root(void)
{
	void *root = vfs_ram_fs.root(), *proc;
	int err = vfs_ram_fs.lookup(root, "proc", &proc);

	vfs_ram_fs.put(root);
	return err ? NULL : proc;
}

static int proc_place_lookup(void *dir, const char *name, void **out_node)
{
	return vfs_ram_fs.lookup(dir, name, out_node);
}

static void proc_place_put(void *node)
{
	vfs_ram_fs.put(node);
}

static void proc_place_stat(void *node, struct vfs_stat *out_stat)
{
	vfs_ram_fs.stat(node, out_stat);
}

static int proc_place_open(void *node, struct file *file)
{
	return vfs_ram_fs.open(node, file);
}

static int proc_place_entry(void *dir, uint32_t index, char *out_name)
{
	return vfs_ram_fs.entry(dir, index, out_name);
}

static int proc_place_readlink(void *node, char *out_target)
{
	return vfs_ram_fs.readlink(node, out_target);
}

const struct vfs_fs vfs_proc_place_fs = {
	.name = "proc",
	.nr = 1, /* the files are those of the tree in memory */
	.root = proc_place_root,
	.lookup = proc_place_lookup,
	.put = proc_place_put,
	.stat = proc_place_stat,
	.open = proc_place_open,
	.entry = proc_place_entry,
	.readlink = proc_place_readlink,
};
