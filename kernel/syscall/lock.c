/* Locks of files: flock(), and the calls of fcntl() that are about locks. */
#include <kernel/file_lock.h>
#include "syscall.h"

#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

#define F_GETLK	     5
#define F_SETLK	     6
#define F_SETLKW     7
#define F_OFD_GETLK  36
#define F_OFD_SETLK  37
#define F_OFD_SETLKW 38

#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2

struct user_flock {
	int16_t type, whence;
	int64_t start, len;
	int32_t pid;
};

static long lock_result(int err)
{
	return err == -EINTR ? -ERESTARTSYS : err;
}

long sys_flock(unsigned int fd, unsigned int cmd)
{
	static const enum file_lock_type types[] = { [LOCK_SH] = FILE_LOCK_SHARED,
						     [LOCK_EX] = FILE_LOCK_EXCLUSIVE,
						     [LOCK_UN] = FILE_UNLOCK };
	struct file_lock lock = { .is_whole = true,
				  .pid = current_process()->pid,
				  .last = UINT64_MAX };
	unsigned int kind = cmd & ~(unsigned int)LOCK_NB;
	struct fd held;
	long err;

	if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
		return -EINVAL;
	held = fdget(fd);
	if (!held.file)
		return -EBADF;
	lock.type = types[kind];
	lock.owner = held.file;
	err = file_lock_id(held.file, &lock.file);
	if (!err) {
		held.file->has_locks = true;
		err = lock_result(file_lock_set(&lock, !(cmd & LOCK_NB)));
	}
	fdput(held);
	return err;
}

/* Where a program's numbers begin to count. */
static long lock_base(struct file *file, int whence)
{
	struct vfs_stat stat = { 0 };

	if (whence == 1)
		return (long)file->pos;
	if (whence == 2 && file_stat(file, &stat) == 0)
		return (long)stat.size;
	return whence == 0 ? 0 : -EINVAL;
}

/* The bytes that a program's numbers name. 0, -EINVAL or -EOVERFLOW. */
static int lock_range(struct file *file, const struct user_flock *user, struct file_lock *out)
{
	long first = lock_base(file, user->whence), last;

	if (first < 0)
		return -EINVAL;
	if (__builtin_add_overflow(first, user->start, &first))
		return -EOVERFLOW;
	if (user->len < 0) {
		last = first - 1;
		first += user->len;
	} else if (user->len == 0) {
		last = INT64_MAX;
	} else if (__builtin_add_overflow(first, user->len - 1, &last)) {
		return -EOVERFLOW;
	}
	out->first = (uint64_t)first;
	out->last = last == INT64_MAX ? UINT64_MAX : (uint64_t)last;
	return first < 0 ? -EINVAL : 0;
}

static int lock_type(const struct file *file, int type, bool asks, enum file_lock_type *out)
{
	if (type == F_UNLCK && !asks)
		*out = FILE_UNLOCK;
	else if (type == F_RDLCK)
		*out = FILE_LOCK_SHARED;
	else if (type == F_WRLCK)
		*out = FILE_LOCK_EXCLUSIVE;
	else
		return -EINVAL;
	if (asks)
		return 0;
	if ((type == F_RDLCK && !(file->flags & VFS_READ)) ||
	    (type == F_WRLCK && !(file->flags & VFS_WRITE)))
		return -EBADF;
	return 0;
}

/* The answer to F_GETLK: the lock that is in the way, or that there is none. */
static long lock_tell(const struct file_lock *wanted, struct user_flock *user, void *to)
{
	struct file_lock held;

	if (!file_lock_get(wanted, &held)) {
		user->type = F_UNLCK;
	} else {
		user->type = held.type == FILE_LOCK_SHARED ? F_RDLCK : F_WRLCK;
		user->whence = 0;
		user->start = (int64_t)held.first;
		user->len = held.last == UINT64_MAX ? 0 : (int64_t)(held.last - held.first + 1);
		user->pid = held.pid;
	}
	return copy_to_user(to, user, sizeof(*user)) ? -EFAULT : 0;
}

static long lock_call(struct file *file, unsigned int cmd, void *arg)
{
	bool is_ofd = cmd >= F_OFD_GETLK, asks = cmd == F_GETLK || cmd == F_OFD_GETLK;
	struct files *files = current_process()->files;
	struct file_lock lock = { .owner = is_ofd ? (const void *)file : files };
	struct user_flock user;
	int err;

	if (copy_from_user(&user, arg, sizeof(user)))
		return -EFAULT;
	lock.pid = is_ofd ? -1 : current_process()->pid;
	if (is_ofd && user.pid)
		return -EINVAL;
	err = lock_range(file, &user, &lock);
	if (!err)
		err = lock_type(file, user.type, asks, &lock.type);
	if (!err)
		err = file_lock_id(file, &lock.file);
	if (err)
		return err;
	if (asks)
		return lock_tell(&lock, &user, arg);
	file->has_locks |= is_ofd;
	files->has_locks |= !is_ofd;
	return lock_result(file_lock_set(&lock, cmd == F_SETLKW || cmd == F_OFD_SETLKW));
}

static bool lock_cmd_is_known(unsigned int cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW || cmd == F_OFD_GETLK ||
	       cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
}

long lock_fcntl(unsigned int fd, unsigned int cmd, unsigned long arg)
{
	struct fd held = fdget(fd);
	long err = -EBADF;

	if (held.file)
		err = lock_cmd_is_known(cmd) ? lock_call(held.file, cmd, (void *)arg) : -EINVAL;
	fdput(held);
	return err;
}
