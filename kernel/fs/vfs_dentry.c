/*
 * Files that have a name: see struct dentry in <kernel/vfs.h>. The name lies behind the file, in the same memory.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs.h>

struct file *file_create_named(const char *path, size_t len, size_t last_at, uint32_t flags)
{
	struct file *file = kmalloc(sizeof(*file) + sizeof(struct dentry) + len + 1);
	struct dentry *dentry;

	if (!file)
		return NULL;
	dentry = (struct dentry *)(file + 1);
	memset(file, 0, sizeof(*file));
	file->flags = flags;
	file->refs = 1;
	file->dentry = dentry;
	file->path = dentry->path;
	memcpy(dentry->path, path, len + 1);
	dentry->name = dentry->path + last_at;
	return file;
}

void dput(struct dentry *dentry)
{
	kfree((struct file *)dentry - 1);
}
