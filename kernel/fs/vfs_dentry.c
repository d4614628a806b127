/*
 * The names under which files were opened: see struct dentry in <kernel/vfs.h>.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs.h>

struct dentry *d_alloc(const char *path, size_t len, size_t last_at)
{
	struct dentry *dentry = kmalloc(sizeof(*dentry) + len + 1);

	if (!dentry)
		return NULL;
	memcpy(dentry->path, path, len + 1);
	dentry->name = dentry->path + last_at;
	return dentry;
}

void dput(struct dentry *dentry)
{
	kfree(dentry);
}
