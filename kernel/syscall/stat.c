/* stat() and its kind, access(), readlink(), and calls that change names: by path, or of an open file. */
#include <kernel/string.h>
#include "path.h"
#include "syscall.h"

#define MODE_FIFO      0010000u
#define MODE_DEVICE    0020000u
#define MODE_DIRECTORY 0040000u
#define MODE_REGULAR   0100000u
#define SECTOR	       512

static int stat_give(struct user_stat *to, const struct vfs_stat *stat)
{
	static const uint32_t kinds[] = { [VFS_REGULAR] = MODE_REGULAR,
					  [VFS_DIRECTORY] = MODE_DIRECTORY,
					  [VFS_DEVICE] = MODE_DEVICE,
					  [VFS_PIPE] = MODE_FIFO };
	struct user_stat out = { .ino = stat->id, .nlink = 1, .blksize = PAGE_SIZE };

	out.mode = kinds[stat->type] | stat->mode;
	out.uid = stat->uid;
	out.gid = stat->gid;
	out.size = (int64_t)stat->size;
	out.blocks = (int64_t)ALIGN_UP(stat->size, PAGE_SIZE) / SECTOR;
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

static long stat_path(int dfd, const char *filename, struct user_stat *statbuf)
{
	char path[VFS_PATH_MAX];
	struct vfs_stat stat = { 0 };
	int err = user_path_at(dfd, filename, path);

	if (!err)
		err = vfs_stat("/", path, &stat);
	return err ? err : stat_give(statbuf, &stat);
}

/* An open file that has a path is asked by that; the others are a pipe or the console. */
static long stat_file(unsigned int fd, struct user_stat *statbuf)
{
	struct file *file = files_get_file(current_process()->files, fd);
	struct vfs_stat stat = { .type = VFS_PIPE, .mode = 0600 };
	int err = 0;

	if (!file)
		return -EBADF;
	if (file->path)
		err = vfs_stat("/", file->path, &stat);
	else if (file->ops->is_console)
		stat.type = VFS_DEVICE;
	fput(file);
	return err ? err : stat_give(statbuf, &stat);
}

long sys_stat(const char *filename, struct user_stat *statbuf)
{
	return stat_path(AT_FDCWD, filename, statbuf);
}

long sys_lstat(const char *filename, struct user_stat *statbuf)
{
	return stat_path(AT_FDCWD, filename, statbuf);
}

long sys_fstat(unsigned int fd, struct user_stat *statbuf)
{
	return stat_file(fd, statbuf);
}

long sys_newfstatat(int dfd, const char *filename, struct user_stat *statbuf, int flag)
{
	char first = '\0';

	if (flag & AT_EMPTY_PATH && (!filename || !copy_from_user(&first, filename, 1)) && !first)
		return stat_file((unsigned int)dfd, statbuf);
	return stat_path(dfd, filename, statbuf);
}

long sys_access(const char *filename, int mode)
{
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = mode & ~7 ? -EINVAL : user_path(filename, path);

	if (!err)
		err = vfs_stat("/", path, &stat);
	if (!err && mode & 1 && stat.type == VFS_REGULAR && !(stat.mode & 0111))
		err = -EACCES;
	return err;
}

/* The only link that there is, is the program's own file. */
long sys_readlinkat(int dfd, const char *path, char *buf, int bufsiz)
{
	const char *exe = current_task()->mm->exe;
	char text[VFS_PATH_MAX];
	struct vfs_stat stat;
	long len = strncpy_from_user(text, path, sizeof(text));

	if (len < 0 || bufsiz <= 0)
		return len < 0 ? len : -EINVAL;
	if (strcmp(text, "/proc/self/exe") != 0) {
		int err = user_path_at(dfd, path, text);

		if (!err)
			err = vfs_stat("/", text, &stat);
		return err ? err : -EINVAL;
	}
	len = (long)strlen(exe);
	if (len > bufsiz)
		len = bufsiz;
	return copy_to_user(buf, exe, (size_t)len) ? -EFAULT : len;
}

long sys_readlink(const char *path, char *buf, int bufsiz)
{
	return sys_readlinkat(AT_FDCWD, path, buf, bufsiz);
}

/* Call fn() with the path in the program's memory. */
static long stat_change(const char *pathname, int (*fn)(const char *cwd, const char *path))
{
	char path[VFS_PATH_MAX];
	int err = user_path(pathname, path);

	return err ? err : fn("/", path);
}

long sys_rmdir(const char *pathname)
{
	return stat_change(pathname, vfs_rmdir);
}

long sys_unlink(const char *pathname)
{
	return stat_change(pathname, vfs_unlink);
}

long sys_chmod(const char *filename, unsigned int mode)
{
	const struct vfs_stat to = { .mode = mode & 07777 };
	char path[VFS_PATH_MAX];
	int err = user_path(filename, path);

	return err ? err : vfs_set_attr("/", path, VFS_SET_MODE, &to);
}

long sys_mkdir(const char *pathname, unsigned int mode)
{
	const struct vfs_stat to = { .mode = mode & ~current_process()->umask & 07777 };
	char path[VFS_PATH_MAX];
	int err = user_path(pathname, path);

	if (!err)
		err = vfs_mkdir("/", path);
	return err ? err : vfs_set_attr("/", path, VFS_SET_MODE, &to);
}

long sys_rename(const char *oldname, const char *newname)
{
	char path[VFS_PATH_MAX], new_path[VFS_PATH_MAX];
	int err = user_path(oldname, path);

	if (!err)
		err = user_path(newname, new_path);
	return err ? err : vfs_rename("/", path, new_path);
}

long sys_getcwd(char *buf, unsigned long size)
{
	const char *cwd = current_process()->cwd;
	size_t len = strlen(cwd) + 1;

	if (len > size)
		return -ERANGE;
	return copy_to_user(buf, cwd, len) ? -EFAULT : (long)len;
}

long sys_chdir(const char *filename)
{
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = user_path(filename, path);

	if (!err)
		err = vfs_stat("/", path, &stat);
	if (!err && stat.type != VFS_DIRECTORY)
		err = -ENOTDIR;
	if (!err)
		strlcpy(current_process()->cwd, path, VFS_PATH_MAX);
	return err;
}

long sys_umask(int mask)
{
	uint32_t old = current_process()->umask;

	current_process()->umask = (uint32_t)mask & 0777;
	return old;
}
