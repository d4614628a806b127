/*
 * Locks of files, which programs ask for and obey of their own free will: fcntl() and flock().
 *
 *   owner of a lock          kind
 *   table of descriptors     of bytes, F_SETLK; the table gives all up when one descriptor of the file is closed
 *   open file                of bytes, F_OFD_SETLK; given up with the last descriptor of that open file
 *   open file                of the whole file, flock(); the same. It knows nothing of the other two kinds
 *
 * Context:   thread.
 * Locking:   inside; one lock for all files.
 * Ownership: a lock belongs to its owner until file_locks_drop().
 */
#ifndef KERNEL_FILE_LOCK_H
#define KERNEL_FILE_LOCK_H

#include <kernel/base.h>
#include <kernel/vfs.h>

enum file_lock_type {
	FILE_UNLOCK,
	FILE_LOCK_SHARED,
	FILE_LOCK_EXCLUSIVE
};

struct file_lock {
	uint64_t file; /* its vfs_stat.id */
	bool is_whole; /* of flock() */
	const void *owner;
	int32_t pid; /* -1: of an open file */
	enum file_lock_type type;
	uint64_t first, last; /* bytes, both included */
};

/* The number of `file` in a struct file_lock. 0; -EINVAL: files of that kind have no locks. */
int file_lock_id(struct file *file, uint64_t *out_id);
/*
 * Lock or unlock, in place of what the owner has of those bytes. 0; -EAGAIN: another owner has a lock that does not
 * go with it; -ENOMEM. With `waits` instead of -EAGAIN: -EINTR, or -EDEADLK, when that owner waits for this one.
 */
int file_lock_set(const struct file_lock *wanted, bool waits);
/* The first lock of another owner that does not go with `wanted`, into *out. False: there is none. */
bool file_lock_get(const struct file_lock *wanted, struct file_lock *out);

#ifdef WITH_PROCESSES

/* All locks of an owner are given up; of `file` alone, if it is not NULL. */
void file_locks_drop(const void *owner, struct file *file);

#else

static inline void file_locks_drop(const void *owner, struct file *file)
{
	(void)owner;
	(void)file;
}

#endif

#endif
