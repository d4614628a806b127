/* See files.h. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include "kernel/files.h"
#include "kernel/threads.h"

static struct node nodes[24];
static _Atomic long nr_open;
static uint64_t last_id;

uint32_t files_last_flags, files_fail_open_at;
int files_stat_error;
char files_last_call[2 * VFS_PATH_MAX + 16];
_Atomic uint32_t files_nr_readers;

struct node *files_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		if (nodes[i].stat.id && !strcmp(nodes[i].path, path))
			return &nodes[i];
	}
	return NULL;
}

struct node *files_add(const char *path, enum vfs_type type, const char *text)
{
	struct node *node = nodes;

	while (node->stat.id)
		node++;
	memset(node, 0, sizeof(*node));
	strcpy(node->path, path);
	strcpy(node->text, text);
	node->stat = (struct vfs_stat){ .type = type,
					.mode = type == VFS_DIRECTORY ? 0755 : 0644,
					.uid = 11,
					.gid = 12,
					.size = strlen(text),
					.id = ++last_id };
	return node;
}

void files_reset(void)
{
	memset(nodes, 0, sizeof(nodes));
	files_add("/", VFS_DIRECTORY, "");
	files_add("/d", VFS_DIRECTORY, "");
	files_add("/d/a", VFS_REGULAR, "a");
	files_add("/d/b", VFS_REGULAR, "b");
	files_add("/d/dd", VFS_DIRECTORY, "");
	files_add("/f", VFS_REGULAR, "hello");
	files_add("/w", VFS_REGULAR, "")->waits = true;
	files_last_call[0] = '\0';
	files_last_flags = files_fail_open_at = 0;
	files_stat_error = 0;
}

void files_say(const char *path, const char *text)
{
	struct node *node = files_find(path);

	strcpy(node->text + 1, text + 1); /* a reader looks at the first one */
	__atomic_store_n(node->text, text[0], __ATOMIC_SEQ_CST);
	waitq_wake_all_waiters(NULL);
}

void files_replace(const char *path)
{
	files_find(path)->stat.id = ++last_id;
}

long files_nr_open(void)
{
	return nr_open;
}

/* ---- Functions of the kernel ---- */

int vfs_resolve(const char *cwd, const char *path, char *out_path)
{
	char whole[2 * VFS_PATH_MAX];

	if (!strcmp(path, "."))
		snprintf(whole, sizeof(whole), "%s", cwd);
	else if (!strcmp(path, ".."))
		snprintf(whole, sizeof(whole), "/");
	else if (path[0] == '/')
		snprintf(whole, sizeof(whole), "%s", path);
	else
		snprintf(whole, sizeof(whole), "%s/%s", cwd[1] ? cwd : "", path);
	if (strlen(whole) >= VFS_PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(out_path, whole);
	return 0;
}

int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat)
{
	char whole[VFS_PATH_MAX];
	const struct node *node;

	*out_stat = (struct vfs_stat){ 0 };
	if (files_stat_error)
		return files_stat_error;
	if (vfs_resolve(cwd, path, whole) || !(node = files_find(whole)) || node->is_gone)
		return -ENOENT;
	*out_stat = node->stat;
	return 0;
}

int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	struct node *node = files_find(path);

	(void)cwd;
	sprintf(files_last_call, "set %u", which);
	if (which & VFS_SET_MODE)
		node->stat.mode = to->mode;
	if (which & VFS_SET_UID)
		node->stat.uid = to->uid;
	if (which & VFS_SET_GID)
		node->stat.gid = to->gid;
	return 0;
}

/* A name in a directory, or NULL. */
static const char *name_in(const struct node *node, const char *dir)
{
	size_t len = dir[1] ? strlen(dir) : 0;
	const char *rest = node->path + len;

	if (!node->stat.id || !node->path[1] || strncmp(node->path, dir, len) != 0 ||
	    *rest != '/' || strchr(rest + 1, '/'))
		return NULL;
	return rest + 1;
}

int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name)
{
	(void)cwd;
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		const char *name = name_in(&nodes[i], path);

		if (name && !index--) {
			strcpy(out_name, name);
			return 0;
		}
	}
	return -ENOENT;
}

int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file)
{
	struct node *node = files_find(path);

	(void)cwd;
	if (files_fail_open_at && !--files_fail_open_at)
		return -EIO;
	if (!node && !(flags & VFS_CREATE))
		return -ENOENT;
	if (!node)
		node = files_add(path, VFS_REGULAR, "");
	*out_file = kzalloc(sizeof(**out_file));
	if (!*out_file)
		return -ENOMEM;
	(*out_file)->flags = files_last_flags = flags;
	(*out_file)->object = node;
	if (flags & VFS_TRUNCATE) {
		node->stat.size = 0;
		node->text[0] = '\0';
	}
	nr_open++;
	return 0;
}

int fput(struct file *file)
{
	nr_open -= file != NULL;
	kfree(file);
	return 0;
}

bool file_may_wait(const struct file *file)
{
	const struct node *node = file->object;

	return node->waits && !(file->flags & VFS_NONBLOCK);
}

void file_set_nonblock(struct file *file, bool on)
{
	struct node *node = file->object;

	node->is_nonblock = on;
	file->flags = on ? file->flags | VFS_NONBLOCK : file->flags & ~VFS_NONBLOCK;
}

uint32_t file_events(struct file *file, uint32_t wanted)
{
	struct node *node = file->object;

	node->asked = wanted;
	return (node->events | (node->text[0] ? FILE_IN : 0)) & wanted;
}

static ssize_t wait_for_text(struct file *file)
{
	const struct node *node = file->object;
	uint64_t wakes = threads_nr_wakes();
	ssize_t err = 0;

	files_nr_readers++;
	while (!__atomic_load_n(node->text, __ATOMIC_SEQ_CST) && !err) {
		if (threads_is_interrupted()) {
			err = -EINTR;
		} else if (file->flags & VFS_NONBLOCK) {
			err = -EAGAIN;
		} else {
			threads_sleep(wakes);
			wakes = threads_nr_wakes();
		}
	}
	files_nr_readers--;
	return err;
}

ssize_t vfs_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct node *node = file->object;
	size_t nr = strlen(node->text), at = *pos;
	ssize_t err = node->waits ? wait_for_text(file) : 0;

	if (!(file->flags & VFS_READ))
		return -EBADF;
	if (err)
		return err;
	if (node->waits) {
		nr = strlen(node->text);
		at = 0;
	}
	nr = at < nr ? nr - at : 0;
	if (nr > len)
		nr = len;
	memcpy(buf, node->text + at, nr);
	if (node->waits)
		node->text[0] = '\0';
	return (ssize_t)nr;
}

ssize_t vfs_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct node *node = file->object;

	if (!(file->flags & VFS_WRITE))
		return -EBADF;
	if (*pos + len >= sizeof(node->text))
		return -ENOSPC;
	memcpy(node->text + *pos, buf, len);
	node->text[*pos + len] = '\0';
	node->stat.size = *pos + len;
	return (ssize_t)len;
}

int vfs_mkdir(const char *cwd, const char *path)
{
	(void)cwd;
	sprintf(files_last_call, "mkdir %s", path);
	if (files_find(path))
		return -EEXIST;
	files_add(path, VFS_DIRECTORY, "");
	return 0;
}

static int drop(const char *call, const char *path, enum vfs_type type)
{
	struct node *node = files_find(path);

	sprintf(files_last_call, "%s %s", call, path);
	if (!node)
		return -ENOENT;
	if ((node->stat.type == VFS_DIRECTORY) != (type == VFS_DIRECTORY))
		return type == VFS_DIRECTORY ? -ENOTDIR : -EISDIR;
	node->stat.id = 0;
	return 0;
}

int vfs_rmdir(const char *cwd, const char *path)
{
	(void)cwd;
	return drop("rmdir", path, VFS_DIRECTORY);
}

int vfs_unlink(const char *cwd, const char *path)
{
	(void)cwd;
	return drop("unlink", path, VFS_REGULAR);
}

int vfs_rename(const char *cwd, const char *path, const char *new_path)
{
	struct node *node = files_find(path);

	(void)cwd;
	sprintf(files_last_call, "rename %s %s", path, new_path);
	if (!node)
		return -ENOENT;
	strcpy(node->path, new_path);
	return 0;
}
