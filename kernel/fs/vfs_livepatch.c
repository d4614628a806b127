/*
 * /sys/kernel/livepatch: a directory for each active patch.
 *
 *   NAME/enabled transition force      what <trace/livepatch.h> calls attributes
 *   NAME/vmlinux/FUNCTION,1            an empty directory for each function
 *
 * A node has a copy of the patch's name and no pointer to the patch, which may go away meanwhile.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include <trace/livepatch.h>
#include "vfs_mount.h"

enum kind {
	KIND_ROOT,
	KIND_PATCH,
	KIND_OBJECT,
	KIND_FUNC,
	KIND_ATTR,
};

struct klp_node {
	enum kind kind;
	enum klp_attr attr;
	uint64_t id; /* a hash of its path */
	char patch[KLP_NAME_LEN];
};

static const struct {
	const char *name;
	enum klp_attr attr;
	uint32_t mode;
} attrs[] = {
	{ "enabled", KLP_ATTR_ENABLED, 0644 },
	{ "force", KLP_ATTR_FORCE, 0200 },
	{ "transition", KLP_ATTR_TRANSITION, 0444 },
};
#define NR_ATTRS (sizeof(attrs) / sizeof(*attrs))

static const char object_name[] = "vmlinux";

static struct klp_node *livepatch_make_node(enum kind kind, const char *patch)
{
	struct klp_node *node = kzalloc(sizeof(*node));

	if (node) {
		node->kind = kind;
		strlcpy(node->patch, patch, sizeof(node->patch));
	}
	return node;
}

static void *livepatch_root(void)
{
	struct klp_node *root = livepatch_make_node(KIND_ROOT, "");

	if (root)
		root->id = 0xcbf29ce484222325ull; /* where FNV-1a begins */
	return root;
}

static void livepatch_put(void *node)
{
	kfree(node);
}

/*
 * Make the name `FUNCTION,1` of a directory. On Linux the number tells functions of the same name
 * apart. Here it is always 1, because a name that occurs twice cannot be patched.
 */
static int livepatch_func_entry(const struct klp_node *dir, uint32_t index, char *out_name)
{
	int err = klp_func_name(dir->patch, index, out_name, VFS_NAME_MAX - 2);

	if (!err)
		strlcpy(out_name + strlen(out_name), ",1", 3);
	return err;
}

static int livepatch_entry(void *object, uint32_t index, char *out_name)
{
	const struct klp_node *dir = object;

	switch (dir->kind) {
	case KIND_ROOT:
		return klp_patch_name(index, out_name);
	case KIND_PATCH:
		if (index > NR_ATTRS)
			return -ENOENT;
		strlcpy(out_name, index < NR_ATTRS ? attrs[index].name : object_name, VFS_NAME_MAX);
		return 0;
	case KIND_OBJECT:
		return livepatch_func_entry(dir, index, out_name);
	default:
		return -ENOENT;
	}
}

static bool livepatch_has_entry(struct klp_node *dir, const char *name)
{
	char found[VFS_NAME_MAX];

	for (uint32_t i = 0; livepatch_entry(dir, i, found) == 0; i++) {
		if (strcmp(found, name) == 0)
			return true;
	}
	return false;
}

static struct klp_node *livepatch_child_of(const struct klp_node *dir, const char *name)
{
	struct klp_node *node;

	if (dir->kind == KIND_ROOT)
		return livepatch_make_node(KIND_PATCH, name);
	if (dir->kind == KIND_OBJECT)
		return livepatch_make_node(KIND_FUNC, dir->patch);
	node = livepatch_make_node(strcmp(name, object_name) == 0 ? KIND_OBJECT : KIND_ATTR,
				   dir->patch);
	for (size_t i = 0; node && i < NR_ATTRS; i++) {
		if (strcmp(name, attrs[i].name) == 0)
			node->attr = attrs[i].attr;
	}
	return node;
}

/* FNV-1a: the id of the file `name` in the directory that has the id `hash`. */
static uint64_t livepatch_hash(uint64_t hash, const char *name)
{
	hash = (hash ^ '/') * 0x100000001b3ull;
	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 0x100000001b3ull;
	return hash;
}

static int livepatch_lookup(void *object, const char *name, void **out_node)
{
	const struct klp_node *dir = object;
	struct klp_node *child;

	if (!livepatch_has_entry(object, name))
		return -ENOENT;
	child = livepatch_child_of(object, name);
	if (!child)
		return -ENOMEM;
	child->id = livepatch_hash(dir->id, name);
	*out_node = child;
	return 0;
}

static void livepatch_stat(void *object, struct vfs_stat *out_stat)
{
	const struct klp_node *node = object;

	*out_stat = (struct vfs_stat){ .type = VFS_DIRECTORY, .mode = 0755, .id = node->id };
	for (size_t i = 0; i < NR_ATTRS && node->kind == KIND_ATTR; i++) {
		out_stat->type = VFS_REGULAR;
		if (attrs[i].attr == node->attr)
			out_stat->mode = attrs[i].mode;
	}
}

static ssize_t livepatch_attr_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	const struct klp_node *node = file->object;
	char text[4];
	size_t size;
	bool on;

	if (node->attr == KLP_ATTR_FORCE)
		return -EINVAL;
	if (klp_attr_get(node->patch, node->attr, &on))
		return -ENODEV;
	size = trace_scnprintf(text, sizeof(text), "%d\n", on);
	if (*pos >= size)
		return 0;
	if (len > size - *pos)
		len = size - *pos;
	memcpy(buf, text + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

/* Writing no bytes succeeds and changes nothing, as for every file of Linux's sysfs. */
static ssize_t livepatch_attr_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const struct klp_node *node = file->object;
	bool on = false;
	int err;

	if (!len)
		return 0;
	err = vfs_switch_parse(buf, len, &on);
	if (!err)
		err = klp_attr_set(node->patch, node->attr, on);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	*pos += len;
	return (ssize_t)len;
}

static int livepatch_attr_close(struct file *file)
{
	kfree(file->object);
	return 0;
}

static const struct file_ops attr_ops = {
	.read = livepatch_attr_read,
	.write = livepatch_attr_write,
	.close = livepatch_attr_close,
	.has_position = true,
};

static int livepatch_open(void *object, struct file *file)
{
	const struct klp_node *node = object;
	struct klp_node *copy;

	if (node->kind != KIND_ATTR)
		return -EISDIR;
	copy = livepatch_make_node(KIND_ATTR, node->patch);
	if (!copy)
		return -ENOMEM;
	copy->attr = node->attr;
	file->ops = &attr_ops;
	file->object = copy;
	return 0;
}

const struct vfs_fs vfs_livepatch_fs = {
	.name = "livepatch",
	.nr = 3,
	.root = livepatch_root,
	.lookup = livepatch_lookup,
	.put = livepatch_put,
	.stat = livepatch_stat,
	.open = livepatch_open,
	.entry = livepatch_entry,
};
