/* The tree in memory as it is from the boot on: directories and special files. See vfs_ram.h. */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_ram.h"

/* The directory `path`, all of whose parents exist. Boot only: it takes no lock. */
static struct ram_node *ram_find_dir(const char *path)
{
	struct ram_node *node = ram_tree;
	char name[VFS_NAME_MAX];

	while (node && *path) {
		size_t len = 0;

		path++;
		while (path[len] && path[len] != '/')
			len++;
		strlcpy(name, path, len + 1);
		node = ram_find_child(node, name);
		path += len;
	}
	return node;
}

/* Without the lock and the time. 0 or -ENOMEM; `node` may be NULL. */
static int ram_add_at_boot(struct ram_node *dir, const char *text, struct ram_node *node)
{
	struct ram_name *name = node ? ram_create_name(text) : NULL;

	if (!name)
		return -ENOMEM;
	ram_add_name(dir, name, node);
	return 0;
}

static uint8_t ram_closed_as(const struct ram_node *parent, const char *name)
{
	if (parent != ram_tree)
		return parent->closed;
	if (strcmp(name, "proc") == 0)
		return RAM_PROC;
	return strcmp(name, "sys") == 0 ? RAM_SYS : RAM_OPEN;
}

static int ram_add_fixed(const char *dir, const char *name, const struct vfs_special *special)
{
	struct ram_node *node = ram_create_node(!special, special ? special->mode : 0755);
	struct ram_node *parent = ram_find_dir(dir);

	ASSERT(parent);
	if (node) {
		node->special = special;
		node->is_fixed = true;
		node->closed = special ? RAM_OPEN : ram_closed_as(parent, name);
	}
	return ram_add_at_boot(parent, name, node);
}

static int ram_add_fixed_dir(const char *path)
{
	char parent[VFS_PATH_MAX];
	const char *slash = strrchr(path, '/');

	strlcpy(parent, path, (size_t)(slash - path) + 1);
	return ram_add_fixed(parent, slash + 1, NULL);
}

int vfs_ram_add_dir(const char *path)
{
	return ram_find_dir(path) ? 0 : ram_add_fixed_dir(path);
}

int vfs_ram_init(const char *const *dirs, size_t nr_dirs)
{
	int err = 0;

	ram_tree = ram_create_node(true, 0755);
	if (!ram_tree)
		return -ENOMEM;
	ram_tree->parent = ram_tree;
	for (size_t i = 0; i < nr_dirs && !err; i++)
		err = ram_add_fixed_dir(dirs[i]);
	return err;
}

int vfs_ram_add_sized(const struct vfs_special *special, uint64_t size)
{
	struct ram_node *node = ram_create_node(false, special->mode);

	if (!node)
		return -ENOMEM;
	node->special = special;
	node->size = size;
	return ram_add_at_boot(ram_find_dir(special->dir), special->name, node);
}

int vfs_ram_add(const struct vfs_special *specials, size_t nr_specials)
{
	int err = 0;

	for (size_t i = 0; i < nr_specials && !err; i++)
		err = ram_add_fixed(specials[i].dir, specials[i].name, &specials[i]);
	return err;
}
