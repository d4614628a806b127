/*
 * The names under which files were opened: see struct dentry in <kernel/vfs.h>.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs.h>

/* The last name of a path, which may have slashes behind it. */
static const char *dentry_last_name(const char *path, size_t *out_len)
{
	size_t end = strlen(path), start;

	while (end && path[end - 1] == '/')
		end--;
	for (start = end; start && path[start - 1] != '/';)
		start--;
	*out_len = end - start;
	return path + start;
}

struct dentry *d_alloc(const char *path)
{
	size_t len;
	const char *name = dentry_last_name(path, &len);
	struct dentry *dentry = kzalloc(sizeof(*dentry) + len + 1);
	char *text;

	if (!dentry)
		return NULL;
	text = (char *)(dentry + 1);
	memcpy(text, name, len);
	text[len] = '\0';
	dentry->name = text;
	return dentry;
}

void dput(struct dentry *dentry)
{
	kfree(dentry);
}
