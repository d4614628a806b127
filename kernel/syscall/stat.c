/* stat() and its kind, access(), readlink(): facts about files, by path or of an open file. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "path.h"
#include "syscall.h"

#define MODE_FIFO      0010000u
#define MODE_DEVICE    0020000u
#define MODE_DIRECTORY 0040000u
#define MODE_BLOCK     0060000u
#define MODE_REGULAR   0100000u
#define MODE_LINK      0120000u
#define MODE_SOCKET    0140000u
#define SECTOR	       512

#define STAT_FLAGS	 (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | 0x800) /* AT_NO_AUTOMOUNT */
#define STATX_SYNC_FLAGS 0x6000
#define STATX_BASIC	 0x7ffu
#define STATX_RESERVED	 0x80000000u
#define ACCESS_EFFECTIVE 0x200 /* AT_EACCESS */

static uint32_t stat_mode(const struct vfs_stat *stat)
{
	static const uint32_t kinds[] = {
		[VFS_REGULAR] = MODE_REGULAR, [VFS_DIRECTORY] = MODE_DIRECTORY,
		[VFS_DEVICE] = MODE_DEVICE,   [VFS_PIPE] = MODE_FIFO,
		[VFS_LINK] = MODE_LINK,	      [VFS_SOCKET] = MODE_SOCKET,
		[VFS_BLOCK] = MODE_BLOCK
	};

	return kinds[stat->type] | stat->mode;
}

/* Of 512 bytes, in the pages of its contents; the text of a link is elsewhere. */
static uint64_t stat_blocks(const struct vfs_stat *stat)
{
	return stat->type == VFS_LINK ? 0 : ALIGN_UP(stat->size, PAGE_SIZE) / SECTOR;
}

static uint32_t stat_nr_links(const struct vfs_stat *stat)
{
	return (stat->type == VFS_DIRECTORY ? 2u : 1u) + (uint32_t)stat->more_links;
}

static struct user_timespec stat_time(uint64_t ns)
{
	return (struct user_timespec){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				       .nsec = (int64_t)(ns % NSEC_PER_SEC) };
}

static int stat_give(struct user_stat *to, const struct vfs_stat *stat)
{
	struct user_stat out = { .dev = user_dev(stat),
				 .ino = user_ino(stat),
				 .blksize = PAGE_SIZE };

	out.nlink = stat_nr_links(stat);
	out.mode = stat_mode(stat);
	out.uid = stat->uid;
	out.gid = stat->gid;
	out.rdev = stat->dev;
	out.size = (int64_t)stat->size;
	out.blocks = (int64_t)stat_blocks(stat);
	out.atime = stat_time(stat->atime_ns);
	out.mtime = stat_time(stat->mtime_ns);
	out.ctime = stat_time(stat->ctime_ns);
	return copy_to_user(to, &out, sizeof(out)) ? -EFAULT : 0;
}

/* An open file tells itself, or is asked by its path; the others are the console or a pipe. */
static int stat_open_file(const struct file *file, struct vfs_stat *out_stat)
{
	int err = file_stat((struct file *)(uintptr_t)file, out_stat);

	if (err != -EOPNOTSUPP)
		return err;
	if (file->path || file->ops->is_console)
		return vfs_lstat(VFS_REAL, file->path ? file->path : "/dev/console", out_stat);
	out_stat->type = VFS_PIPE;
	out_stat->mode = 0600;
	return 0;
}

static int stat_descriptor(unsigned int fd, struct vfs_stat *out_stat)
{
	struct file *file = files_get_file(current_process()->files, fd);
	int err;

	if (!file)
		return -EBADF;
	err = stat_open_file(file, out_stat);
	fput(file);
	return err;
}

/* Is the path an empty one, which means the descriptor itself? */
static bool stat_is_empty(const char *filename, int flags)
{
	char first = '\0';

	return flags & AT_EMPTY_PATH && (!filename || !copy_from_user(&first, filename, 1)) &&
	       !first;
}

/* The current directory, as an empty path from there means it. */
static int stat_cwd(struct vfs_stat *out_stat)
{
	struct file *cwd = fs_get_cwd(current_process()->fs);
	const struct vfs_at at = { .path = ".", .cwd = "/", .dir = cwd };
	int err = vfs_stat_at(&at, true, out_stat);

	fput(cwd);
	return err;
}

static int stat_find(int dfd, const char *filename, int flags, struct vfs_stat *out_stat)
{
	struct user_path path;
	int err;

	*out_stat = (struct vfs_stat){ 0 };
	if (stat_is_empty(filename, flags))
		return dfd == AT_FDCWD ? stat_cwd(out_stat)
				       : stat_descriptor((unsigned int)dfd, out_stat);
	err = user_path_read(dfd, filename, &path);
	if (err)
		return err;
	err = vfs_stat_at(&path.at, !(flags & AT_SYMLINK_NOFOLLOW), out_stat);
	user_path_put(&path);
	return err;
}

static long stat_call(int dfd, const char *filename, int flags, struct user_stat *statbuf)
{
	struct vfs_stat stat;
	int err = flags & ~STAT_FLAGS ? -EINVAL : stat_find(dfd, filename, flags, &stat);

	return err ? err : stat_give(statbuf, &stat);
}

long sys_newstat(const char *filename, struct user_stat *statbuf)
{
	return stat_call(AT_FDCWD, filename, 0, statbuf);
}

long sys_newlstat(const char *filename, struct user_stat *statbuf)
{
	return stat_call(AT_FDCWD, filename, AT_SYMLINK_NOFOLLOW, statbuf);
}

long sys_newfstat(unsigned int fd, struct user_stat *statbuf)
{
	struct vfs_stat stat = { 0 };
	int err = stat_descriptor(fd, &stat);

	return err ? err : stat_give(statbuf, &stat);
}

long sys_newfstatat(int dfd, const char *filename, struct user_stat *statbuf, int flag)
{
	return stat_call(dfd, filename, flag, statbuf);
}

static struct user_statx_time stat_time_x(uint64_t ns)
{
	return (struct user_statx_time){ .sec = (int64_t)(ns / NSEC_PER_SEC),
					 .nsec = (uint32_t)(ns % NSEC_PER_SEC) };
}

long sys_statx(int dfd, const char *filename, int flags, unsigned int mask,
	       struct user_statx *buffer)
{
	struct user_statx out = { .mask = STATX_BASIC, .blksize = PAGE_SIZE };
	struct vfs_stat stat;
	int err = -EINVAL;

	if (!(mask & STATX_RESERVED) && !(flags & ~(STAT_FLAGS | STATX_SYNC_FLAGS)))
		err = stat_find(dfd, filename, flags, &stat);
	if (err)
		return err;
	out.nlink = stat_nr_links(&stat);
	out.mode = (uint16_t)stat_mode(&stat);
	out.uid = stat.uid;
	out.gid = stat.gid;
	out.rdev_major = stat.dev >> 8 & 0xfff;
	out.rdev_minor = (stat.dev & 0xff) | (stat.dev >> 12 & 0xfff00);
	out.dev_minor = user_dev(&stat);
	out.ino = user_ino(&stat);
	out.size = stat.size;
	out.blocks = stat_blocks(&stat);
	out.atime = stat_time_x(stat.atime_ns);
	out.mtime = stat_time_x(stat.mtime_ns);
	out.ctime = stat_time_x(stat.ctime_ns);
	return copy_to_user(buffer, &out, sizeof(out)) ? -EFAULT : 0;
}

/* The bits of access() are those of MAY_READ and the others. */
static int stat_access(int dfd, const char *filename, int mode, int flags)
{
	struct vfs_stat stat;
	int err = stat_find(dfd, filename, flags, &stat);

	return err || stat.type == VFS_LINK ? err : inode_permission(&stat, (unsigned int)mode);
}

/* The question is what the real user might do: the thread has his rights meanwhile. */
long sys_faccessat2(int dfd, const char *filename, int mode, int flags)
{
	struct cred *cred = &current_task()->cred;
	const struct cred old = *cred;
	long err;

	if (mode & ~7 || flags & ~(STAT_FLAGS | ACCESS_EFFECTIVE))
		return -EINVAL;
	if (!(flags & ACCESS_EFFECTIVE)) {
		cred->user.fs = cred->user.real;
		cred->group.fs = cred->group.real;
		cred->effective = cred->user.real ? 0 : cred->permitted;
	}
	err = stat_access(dfd, filename, mode, flags);
	*cred = old;
	return err;
}

long sys_faccessat(int dfd, const char *filename, int mode)
{
	return sys_faccessat2(dfd, filename, mode, 0);
}

long sys_access(const char *filename, int mode)
{
	return sys_faccessat2(AT_FDCWD, filename, mode, 0);
}

long sys_readlinkat(int dfd, const char *pathname, char *buf, int bufsiz)
{
	char target[VFS_PATH_MAX];
	struct user_path path;
	int len, err = bufsiz <= 0 ? -EINVAL : user_path_read(dfd, pathname, &path);

	if (err)
		return err;
	err = vfs_readlink_at(&path.at, target);
	user_path_put(&path);
	if (err)
		return err;
	len = (int)strlen(target);
	if (len > bufsiz)
		len = bufsiz;
	return copy_to_user(buf, target, (size_t)len) ? -EFAULT : len;
}

long sys_readlink(const char *path, char *buf, int bufsiz)
{
	return sys_readlinkat(AT_FDCWD, path, buf, bufsiz);
}
