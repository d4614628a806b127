/*
 * Numbers and structures that programs share with the kernel, as Linux has them on x86-64.
 */
#ifndef KERNEL_PROCESS_ABI_H
#define KERNEL_PROCESS_ABI_H

#include <kernel/base.h>
#include <kernel/vfs.h>

/* mmap() */
#define MAP_SHARED	    0x01u
#define MAP_PRIVATE	    0x02u
#define MAP_SHARED_VALIDATE 0x03u
#define MAP_TYPE	    0x0fu
#define MAP_FIXED	    0x10u
#define MAP_ANONYMOUS	    0x20u
#define MAP_FIXED_NOREPLACE 0x100000u

/* personality() */
#define ADDR_NO_RANDOMIZE 0x0040000u

/* clone() */
#define CLONE_SIGNAL	     0x000000ffu /* sent to the parent at the end */
#define CLONE_VM	     0x00000100u
#define CLONE_FS	     0x00000200u
#define CLONE_FILES	     0x00000400u
#define CLONE_SIGHAND	     0x00000800u
#define CLONE_VFORK	     0x00004000u
#define CLONE_THREAD	     0x00010000u
#define CLONE_SYSVSEM	     0x00040000u
#define CLONE_SETTLS	     0x00080000u
#define CLONE_PARENT_SETTID  0x00100000u
#define CLONE_CHILD_CLEARTID 0x00200000u
#define CLONE_DETACHED	     0x00400000u /* of clone() alone; does nothing */
#define CLONE_CHILD_SETTID   0x01000000u
#define CLONE_CLEAR_SIGHAND  0x100000000ull /* of clone3() alone */

/* wait4() */
#define WNOHANG	   1
#define WUNTRACED  2
#define WCONTINUED 8
#define WNOWAIT	   0x01000000
#define WEXITED	   4	       /* waitid() alone */
#define WALL	   0x40000000u /* __WALL: children of every kind */
#define WCLONE	   0x80000000u /* __WCLONE: those alone whose end sends no SIGCHLD */

/* clone3() */
struct user_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size, cgroup; /* not in the first version */
};
#define CLONE_ARGS_SIZE_VER0 64u

/* execve(): bytes of one argument, or of one string of the environment. */
#define MAX_ARG_STRLEN (128u << 10)

/* Lists of locks that a thread holds: set_robust_list(). */
struct user_robust_list_head {
	uint64_t next;	  /* address of the first entry's first word; the head's own: none */
	int64_t offset;	  /* from an entry to its futex */
	uint64_t pending; /* an entry that is being taken or given back; 0: none */
};
#define FUTEX_TID_MASK	 0x3fffffffu
#define FUTEX_OWNER_DIED 0x40000000u
#define FUTEX_WAITERS	 0x80000000u

/* open() and the calls with a directory. */
#define O_ACCMODE   03
#define O_RDONLY    00
#define O_WRONLY    01
#define O_RDWR	    02
#define O_CREAT	    0100
#define O_EXCL	    0200
#define O_TRUNC	    01000
#define O_APPEND    02000
#define O_NONBLOCK  04000
#define O_DIRECTORY 0200000
#define O_CLOEXEC   02000000

#define O_NOFOLLOW 0400000
#define O_NOCTTY   0400
#define O_PATH	   010000000

#define AT_FDCWD	    (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR	    0x200 /* of unlinkat() */
#define AT_SYMLINK_FOLLOW   0x400
#define AT_EMPTY_PATH	    0x1000

struct user_timespec {
	int64_t sec;
	int64_t nsec;
};

struct user_stat {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad;
	uint64_t rdev;
	int64_t size, blksize, blocks;
	struct user_timespec atime, mtime, ctime;
	int64_t unused[3];
};

struct user_timeval {
	int64_t sec;
	int64_t usec;
};

struct user_statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t pad;
};

struct user_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, pad;
	uint64_t ino, size, blocks, attributes_mask;
	struct user_statx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint64_t unused[13];
};

struct user_statfs {
	int64_t type, bsize;
	uint64_t blocks, bfree, bavail, files, ffree, fsid;
	int64_t namelen, frsize, flags, spare[4];
};

/* Programs know a file by the number of its file system and a number there: both halves of its id. */
#define USER_INO_BITS 56
static inline uint32_t user_dev(const struct vfs_stat *stat)
{
	return (uint32_t)(stat->id >> USER_INO_BITS); /* a minor number; the major one is 0 */
}
static inline uint64_t user_ino(const struct vfs_stat *stat)
{
	return stat->id & ((1ull << USER_INO_BITS) - 1);
}

struct user_iovec {
	void *base;
	uint64_t len;
};

struct pollfd {
	int32_t fd;
	int16_t events, revents;
};

#endif
