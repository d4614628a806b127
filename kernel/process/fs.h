/*
 * The current directory, the root and the mask for new files, which processes that clone() makes with CLONE_FS
 * have in common.
 *
 * Context:   thread.
 * Locking:   inside. The mask is one word, read and written without a lock.
 * Ownership: a process holds one use up to its own end as an object. The directories go when the last process has
 *            ended; then both are NULL.
 */
#ifndef KERNEL_PROCESS_FS_H
#define KERNEL_PROCESS_FS_H

#include <kernel/base.h>
#include <kernel/lock.h>
#include <kernel/vfs.h>

struct fs {
	_Atomic uint32_t uses;	   /* of processes, those that have ended among them */
	_Atomic uint32_t nr_alive; /* of these: that have not */
	uint32_t umask;
	struct spinlock lock; /* guards the next two */
	/* Held; NULL: the root of all. */
	struct file *_Atomic cwd, *_Atomic root;
};

/* Of one living process. NULL when out of memory. */
struct fs *fs_create(void);
struct fs *fs_copy(struct fs *from);
/* One use more, of a living process. */
struct fs *fs_share(struct fs *fs);
/* A process ends, and then its object goes. NULL is allowed. */
void fs_leave(struct fs *fs);
void fs_put(struct fs *fs);

/* With a reference, or NULL; and another one, which is taken over. */
struct file *fs_get_cwd(struct fs *fs);
struct file *fs_get_root(struct fs *fs);
void fs_set_cwd(struct fs *fs, struct file *dir);
void fs_set_root(struct fs *fs, struct file *dir);
/* Their own paths, into VFS_PATH_MAX bytes. 0; -ENOENT: it has been removed; -ENAMETOOLONG. */
int fs_cwd_path(struct fs *fs, char *out_path);
int fs_root_path(struct fs *fs, char *out_path);

#endif
