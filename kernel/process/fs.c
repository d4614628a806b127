/* The directories of processes: see fs.h. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs_at.h>
#include "fs.h"

struct fs *fs_create(void)
{
	struct fs *fs = kzalloc(sizeof(*fs));

	if (!fs)
		return NULL;
	atomic_store_explicit(&fs->uses, 1, memory_order_relaxed);
	atomic_store_explicit(&fs->nr_alive, 1, memory_order_relaxed);
	fs->umask = 022;
	return fs;
}

struct fs *fs_copy(struct fs *from)
{
	struct fs *to = fs_create();

	if (!to)
		return NULL;
	to->umask = from->umask;
	to->cwd = fs_get_cwd(from);
	to->root = fs_get_root(from);
	return to;
}

struct fs *fs_share(struct fs *fs)
{
	atomic_fetch_add(&fs->uses, 1);
	atomic_fetch_add(&fs->nr_alive, 1);
	return fs;
}

void fs_leave(struct fs *fs)
{
	if (!fs || atomic_fetch_sub(&fs->nr_alive, 1) > 1)
		return;
	fs_set_cwd(fs, NULL);
	fs_set_root(fs, NULL);
}

void fs_put(struct fs *fs)
{
	if (fs && atomic_fetch_sub(&fs->uses, 1) == 1)
		kfree(fs);
}

/* Most have the root of all, for which no lock is needed. */
static struct file *fs_get_dir(struct fs *fs, struct file *_Atomic *place)
{
	struct file *dir;
	uint64_t flags;

	if (!atomic_load(place))
		return NULL;
	flags = spin_lock_irqsave(&fs->lock);
	dir = atomic_load(place);
	if (dir) /* otherwise the last process has ended since then */
		get_file(dir);
	spin_unlock_irqrestore(&fs->lock, flags);
	return dir;
}

static void fs_set_dir(struct fs *fs, struct file *_Atomic *place, struct file *dir)
{
	uint64_t flags = spin_lock_irqsave(&fs->lock);
	struct file *old = atomic_exchange(place, dir);

	spin_unlock_irqrestore(&fs->lock, flags);
	fput(old);
}

/* The file is the caller's, and is put. */
static int fs_dir_path(struct file *dir, char *out_path)
{
	int err = 0;

	if (dir)
		err = file_dir_path(dir, out_path);
	else
		strlcpy(out_path, "/", VFS_PATH_MAX);
	fput(dir);
	return err;
}

struct file *fs_get_cwd(struct fs *fs)
{
	return fs_get_dir(fs, &fs->cwd);
}

struct file *fs_get_root(struct fs *fs)
{
	return fs_get_dir(fs, &fs->root);
}

void fs_set_cwd(struct fs *fs, struct file *dir)
{
	fs_set_dir(fs, &fs->cwd, dir);
}

void fs_set_root(struct fs *fs, struct file *dir)
{
	fs_set_dir(fs, &fs->root, dir);
}

int fs_cwd_path(struct fs *fs, char *out_path)
{
	return fs_dir_path(fs_get_cwd(fs), out_path);
}

int fs_root_path(struct fs *fs, char *out_path)
{
	return fs_dir_path(fs_get_root(fs), out_path);
}
