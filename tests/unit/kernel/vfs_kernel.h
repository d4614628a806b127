/*
 * The kernel around the file systems, for tests that include their sources: locks before which another thread may come in
 * between, users, files without contents.
 */
#ifndef VFS_KERNEL_H
#define VFS_KERNEL_H

#define ROOT 0u
#define USER 1000u

const struct vfs_fs vfs_trace_fs, vfs_livepatch_fs, vfs_proc_fs;
const struct file_ops vfs_text_ops;

static uint32_t fsuid;
static void (*comes_between)(void);
static uint32_t place_left; /* the lock before which comes_between() runs, counted from here */
static bool is_between, is_everywhere; /* before each lock */

/* ---- The kernel around the file system ---- */

void mutex_lock(struct mutex *mutex)
{
	(void)mutex;
	if (!comes_between || is_between || (!is_everywhere && (!place_left || --place_left)))
		return;
	is_between = true;
	comes_between();
	is_between = false;
}

void mutex_unlock(struct mutex *mutex)
{
	(void)mutex;
}

int mutex_lock_interruptible(struct mutex *mutex)
{
	(void)mutex;
	return 0;
}

void spin_lock(struct spinlock *lock)
{
	(void)lock;
}

void spin_unlock(struct spinlock *lock)
{
	(void)lock;
}

uint64_t ktime_get_real_ns(void)
{
	return 1;
}

uint64_t rlimit_file_room(uint64_t pos, uint64_t len)
{
	(void)pos;
	return len;
}

int vfs_entry_of_process(uint32_t *index, char *out_name)
{
	(void)index;
	(void)out_name;
	return -ENOENT;
}

void file_locks_drop(const void *owner, struct file *file)
{
	(void)owner;
	(void)file;
	fail_msg("no file has locks here");
}

void put_page(void *page)
{
	free(page);
}

void panic(const char *fmt, ...)
{
	fail_msg("%s", fmt);
	abort();
}

size_t strlcat(char *to, const char *from, size_t size)
{
	size_t len = strlen(to);

	snprintf(to + len, size - len, "%s", from);
	return len + strlen(from);
}

/* ---- Contents of files, which have none here ---- */

size_t ram_data_read(struct ram_node *node, uint64_t pos, void *buf, size_t len)
{
	(void)node;
	(void)pos;
	(void)buf;
	return len;
}

void *ram_data_peek(struct ram_node *node, uint64_t pos, size_t *len)
{
	(void)node;
	(void)pos;
	*len = 0;
	return NULL;
}

size_t ram_data_write(struct ram_node *node, uint64_t pos, const void *buf, size_t len)
{
	(void)node;
	(void)pos;
	(void)buf;
	return len;
}

void *ram_data_page(struct ram_node *node, uint64_t index)
{
	(void)node;
	(void)index;
	return NULL;
}

void ram_data_resize(struct ram_node *node, uint64_t size)
{
	node->size = size;
}

void ram_data_punch(struct ram_node *node, uint64_t begin, uint64_t end)
{
	(void)node;
	(void)begin;
	(void)end;
}

void ram_data_free(struct ram_node *node)
{
	node->size = 0;
}

/* ---- Users: root may all, others by the bits for the owner and the last three ---- */

bool cred_sees_all(void)
{
	return fsuid == ROOT;
}

bool capable(unsigned int cap)
{
	(void)cap;
	return fsuid == ROOT;
}

/* There are no devices but those in the tree from its beginning. */
const struct vfs_special *vfs_device_of(uint32_t dev)
{
	(void)dev;
	return NULL;
}

uint32_t current_fsuid(void)
{
	return fsuid;
}

uint32_t current_fsgid(void)
{
	return fsuid;
}

int inode_permission(const struct vfs_stat *stat, unsigned int mask)
{
	unsigned int bits = stat->uid == fsuid ? stat->mode >> 6 & 7 : stat->mode & 7;

	return fsuid == ROOT || !(mask & ~bits) ? 0 : -EACCES;
}

int may_delete(const struct vfs_stat *dir, const struct vfs_stat *stat)
{
	int err = inode_permission(dir, MAY_WRITE | MAY_EXEC);

	if (!err && dir->mode & MODE_STICKY && fsuid != ROOT && fsuid != stat->uid)
		err = -EPERM;
	return err;
}

int setattr_prepare(const struct vfs_stat *stat, unsigned int *which, struct vfs_stat *to)
{
	(void)which;
	(void)to;
	return fsuid == ROOT || fsuid == stat->uid ? 0 : -EPERM;
}

uint32_t mode_after_write(uint32_t mode)
{
	return mode;
}

uint32_t mode_of_new(uint32_t mode, uint32_t gid)
{
	return gid == fsuid ? mode : mode & ~MODE_SETGID;
}

/* ---- Pipes with a name: there are none ---- */

struct pipe *pipe_alloc(void)
{
	return NULL;
}

void pipe_free(struct pipe *pipe)
{
	assert_null(pipe);
}

int fifo_open(struct pipe *pipe, struct file *file)
{
	(void)pipe;
	(void)file;
	return -ENXIO;
}

#endif
