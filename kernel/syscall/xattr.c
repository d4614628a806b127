/*
 * setxattr() and its kind: attributes with names. Files here have none, as those of a tmpfs of Linux that is built without them: lists are
 * empty, and each name gives EOPNOTSUPP, after the errors that come first on Linux.
 */
#include "path.h"
#include "syscall.h"

#define XATTR_NAME_MAX	256 /* with NUL */
#define XATTR_SIZE_MAX	65536
#define XATTR_FLAGS_MAX 3 /* XATTR_CREATE and XATTR_REPLACE */

/* Is there a file of that name? 0 or -errno. */
static int xattr_find(const char *pathname, bool follows)
{
	struct vfs_stat stat;
	struct user_path path;
	int err = user_path_read(AT_FDCWD, pathname, &path);

	if (err)
		return err;
	err = vfs_stat_at(&path.at, follows, &stat);
	user_path_put(&path);
	return err;
}

static int xattr_find_open(int fd)
{
	return files_get_cloexec(current_process()->files, (unsigned int)fd) < 0 ? -EBADF : 0;
}

/* The answer for the attribute of a file that there is, if `err` is 0. */
static long xattr_named(int err, const char *name)
{
	char text[XATTR_NAME_MAX];
	long len = err ? err : strncpy_from_user(text, name, sizeof(text));

	if (!len || len == -ENAMETOOLONG)
		return -ERANGE;
	return len < 0 ? len : -EOPNOTSUPP;
}

static long xattr_set(int err, const char *name, size_t size, int flags)
{
	long result;

	if (!err && flags & ~XATTR_FLAGS_MAX)
		return -EINVAL;
	result = xattr_named(err, name);
	return result == -EOPNOTSUPP && size > XATTR_SIZE_MAX ? -E2BIG : result;
}

long sys_setxattr(const char *pathname, const char *name, const void *value, size_t size, int flags)
{
	(void)value;
	return xattr_set(xattr_find(pathname, true), name, size, flags);
}

long sys_lsetxattr(const char *pathname, const char *name, const void *value, size_t size,
		   int flags)
{
	(void)value;
	return xattr_set(xattr_find(pathname, false), name, size, flags);
}

long sys_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	(void)value;
	return xattr_set(xattr_find_open(fd), name, size, flags);
}

long sys_getxattr(const char *pathname, const char *name, void *value, size_t size)
{
	(void)value;
	(void)size;
	return xattr_named(xattr_find(pathname, true), name);
}

long sys_lgetxattr(const char *pathname, const char *name, void *value, size_t size)
{
	(void)value;
	(void)size;
	return xattr_named(xattr_find(pathname, false), name);
}

long sys_fgetxattr(int fd, const char *name, void *value, size_t size)
{
	(void)value;
	(void)size;
	return xattr_named(xattr_find_open(fd), name);
}

long sys_listxattr(const char *pathname, char *list, size_t size)
{
	(void)list;
	(void)size;
	return xattr_find(pathname, true);
}

long sys_llistxattr(const char *pathname, char *list, size_t size)
{
	(void)list;
	(void)size;
	return xattr_find(pathname, false);
}

long sys_flistxattr(int fd, char *list, size_t size)
{
	(void)list;
	(void)size;
	return xattr_find_open(fd);
}

long sys_removexattr(const char *pathname, const char *name)
{
	return xattr_named(xattr_find(pathname, true), name);
}

long sys_lremovexattr(const char *pathname, const char *name)
{
	return xattr_named(xattr_find(pathname, false), name);
}

long sys_fremovexattr(int fd, const char *name)
{
	return xattr_named(xattr_find_open(fd), name);
}
