/*
 * For programs that test what users may do: numbers of calls, files with an owner and a mode, and children that act for
 * another user. They are started by root, and use the directory /tmp/ids, which they make and remove.
 */
#ifndef IDS_H
#define IDS_H

#include "nolib.h"

enum {
	NR_CLOSE = 3,
	NR_STAT = 4,
	NR_ACCESS = 21,
	NR_KILL = 62,
	NR_TRUNCATE = 76,
	NR_CHDIR = 80,
	NR_RENAME = 82,
	NR_MKDIR = 83,
	NR_RMDIR = 84,
	NR_SYMLINK = 88,
	NR_CHMOD = 90,
	NR_FCHMOD = 91,
	NR_CHOWN = 92,
	NR_UMASK = 95,
	NR_GETUID = 102,
	NR_GETGID = 104,
	NR_SETUID = 105,
	NR_SETGID = 106,
	NR_GETEUID = 107,
	NR_GETEGID = 108,
	NR_GETPPID = 110,
	NR_SETREUID = 113,
	NR_GETGROUPS = 115,
	NR_SETGROUPS = 116,
	NR_SETRESUID = 117,
	NR_GETRESUID = 118,
	NR_SETRESGID = 119,
	NR_SETFSUID = 122,
	NR_CAPGET = 125,
	NR_CAPSET = 126,
	NR_SETPRIORITY = 141,
	NR_PRCTL = 157,
	NR_UTIMENSAT = 280,
	NR_FACCESSAT2 = 439
};

enum {
	EPERM = 1,
	ENOENT = 2,
	EACCES = 13,
	EEXIST = 17,
	EINVAL = 22
};
enum {
	O_RDONLY = 0,
	O_WRONLY = 1,
	O_CREAT = 0100,
	AT_FDCWD = -100,
	AT_EACCESS = 0x200
};

#define DIR   "/tmp/ids"
#define USER  1000l
#define GROUP 2000l

static inline struct stat stat_of(const char *path)
{
	struct stat stat = { 0 };

	CHECK(CALL2(NR_STAT, path, &stat) == 0);
	return stat;
}

static inline uint32_t mode_of(const char *path)
{
	return stat_of(path).mode & 07777;
}

static inline long open_as(const char *path, int flags)
{
	long fd = CALL3(NR_OPEN, path, flags, 0666);

	if (fd >= 0)
		CALL1(NR_CLOSE, fd);
	return fd < 0 ? fd : 0;
}

static inline void make(const char *path, uint32_t mode, long uid, long gid)
{
	CHECK(open_as(path, O_CREAT | O_WRONLY) == 0);
	CHECK(CALL3(NR_CHOWN, path, uid, gid) == 0);
	CHECK(CALL2(NR_CHMOD, path, mode) == 0);
}

static inline void make_dir(const char *path, uint32_t mode, long uid, long gid)
{
	CHECK(CALL2(NR_MKDIR, path, 0755) == 0);
	CHECK(CALL3(NR_CHOWN, path, uid, gid) == 0);
	CHECK(CALL2(NR_CHMOD, path, mode) == 0);
}

/* Run `fn` in a child, which ends with 0. */
static inline void in_child(void (*fn)(void))
{
	int status = -1;
	long pid = CALL0(NR_FORK);

	if (!pid) {
		fn();
		sys_exit(0);
	}
	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid);
	if (status)
		sys_exit(1); /* the child has told where */
}

static inline void become_user(void)
{
	static const uint32_t groups[] = { 2001, 2002 };

	CHECK(CALL2(NR_SETGROUPS, 2, groups) == 0);
	CHECK(CALL1(NR_SETGID, GROUP) == 0);
	CHECK(CALL1(NR_SETUID, USER) == 0);
}

#endif
