/* Times of files: utimensat() and its older kin. */
#include <kernel/time.h>
#include "path.h"
#include "syscall.h"

#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe

/* The nanoseconds since 1970 that a program has given; *which is cleared when it is to stay. */
static int utimes_ns(const struct user_timespec *time, unsigned int bit, unsigned int *which,
		     uint64_t *out_ns)
{
	if (time->nsec == UTIME_NOW) {
		*out_ns = ktime_get_real_ns();
		return 0;
	}
	if (time->nsec == UTIME_OMIT) {
		*which &= ~bit;
		return 0;
	}
	if (time->nsec < 0 || time->nsec >= (int64_t)NSEC_PER_SEC || time->sec < 0 ||
	    time->sec >= INT64_MAX / (int64_t)NSEC_PER_SEC)
		return -EINVAL;
	*out_ns = (uint64_t)time->sec * NSEC_PER_SEC + (uint64_t)time->nsec;
	return 0;
}

static long utimes_set(int dfd, const char *filename, const struct user_timespec *times, int flags)
{
	unsigned int which = VFS_SET_ATIME | VFS_SET_MTIME;
	struct vfs_stat to = { 0 };
	int err;

	if (times[0].nsec == UTIME_NOW && times[1].nsec == UTIME_NOW)
		which |= VFS_SET_TO_NOW;
	err = utimes_ns(&times[0], VFS_SET_ATIME, &which, &to.atime_ns);
	if (!err)
		err = utimes_ns(&times[1], VFS_SET_MTIME, &which, &to.mtime_ns);
	if (err)
		return err;
	if (!filename)
		return names_set_open((unsigned int)dfd, which, &to);
	return names_set(dfd, filename, flags, which, &to);
}

long sys_utimensat(int dfd, const char *filename, const struct user_timespec *utimes, int flags)
{
	struct user_timespec times[2] = { { .nsec = UTIME_NOW }, { .nsec = UTIME_NOW } };

	if (utimes && copy_from_user(times, utimes, sizeof(times)))
		return -EFAULT;
	return utimes_set(dfd, filename, times, flags);
}

long sys_futimesat(int dfd, const char *filename, const struct user_timeval *utimes)
{
	struct user_timespec times[2] = { { .nsec = UTIME_NOW }, { .nsec = UTIME_NOW } };
	struct user_timeval given[2];

	if (utimes && copy_from_user(given, utimes, sizeof(given)))
		return -EFAULT;
	for (int i = 0; utimes && i < 2; i++) {
		if (given[i].usec < 0 || given[i].usec >= (int64_t)(NSEC_PER_SEC / NSEC_PER_USEC))
			return -EINVAL;
		times[i] = (struct user_timespec){ given[i].sec,
						   given[i].usec * (int64_t)NSEC_PER_USEC };
	}
	return utimes_set(dfd, filename, times, 0);
}

long sys_utimes(char *filename, const struct user_timeval *utimes)
{
	return sys_futimesat(AT_FDCWD, filename, utimes);
}

/* Two numbers of seconds. */
long sys_utime(char *filename, const long *times)
{
	struct user_timespec out[2] = { { .nsec = UTIME_NOW }, { .nsec = UTIME_NOW } };
	long given[2];

	if (times && copy_from_user(given, times, sizeof(given)))
		return -EFAULT;
	for (int i = 0; times && i < 2; i++)
		out[i] = (struct user_timespec){ .sec = given[i] };
	return utimes_set(AT_FDCWD, filename, out, 0);
}
