/* Calls that change names and attributes of files, and the current directory. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "path.h"
#include "syscall.h"

#define RENAME_FLAGS (VFS_RENAME_KEEP | VFS_RENAME_EXCHANGE)
#define ID_SAME	     UINT32_MAX /* of chown(): leave it as it is */

long sys_unlinkat(int dfd, const char *pathname, int flag)
{
	struct user_path path;
	int err = flag & ~AT_REMOVEDIR ? -EINVAL : user_path_read(dfd, pathname, &path);

	if (err)
		return err;
	err = vfs_remove_at(&path.at, flag & AT_REMOVEDIR);
	user_path_put(&path);
	return err;
}

long sys_rmdir(const char *pathname)
{
	return sys_unlinkat(AT_FDCWD, pathname, AT_REMOVEDIR);
}

long sys_unlink(const char *pathname)
{
	return sys_unlinkat(AT_FDCWD, pathname, 0);
}

long sys_mkdirat(int dfd, const char *pathname, unsigned int mode)
{
	struct user_path path;
	int err = user_path_read(dfd, pathname, &path);

	if (err)
		return err;
	err = vfs_mkdir_at(&path.at, mode & ~current_process()->fs->umask & 01777);
	user_path_put(&path);
	return err;
}

long sys_mkdir(const char *pathname, unsigned int mode)
{
	return sys_mkdirat(AT_FDCWD, pathname, mode);
}

#define MODE_TYPE    0170000u
#define MODE_FIFO    0010000u
#define MODE_CHAR    0020000u
#define MODE_DIR     0040000u
#define MODE_BLOCK   0060000u
#define MODE_REGULAR 0100000u
#define MODE_SOCKET  0140000u

/* The type and the number of a file that mknod() makes; directories have a call of their own. */
static int names_kind(unsigned int mode, unsigned int dev, struct vfs_stat *out)
{
	switch (mode & MODE_TYPE) {
	case 0:
	case MODE_REGULAR:
		out->type = VFS_REGULAR;
		return 0;
	case MODE_FIFO:
		out->type = VFS_PIPE;
		return 0;
	case MODE_SOCKET:
		out->type = VFS_SOCKET;
		return 0;
	case MODE_CHAR:
	case MODE_BLOCK:
		out->type = (mode & MODE_TYPE) == MODE_CHAR ? VFS_DEVICE : VFS_BLOCK;
		out->dev = dev;
		return 0;
	default:
		return (mode & MODE_TYPE) == MODE_DIR ? -EPERM : -EINVAL;
	}
}

static int names_make_file(const struct vfs_at *at, uint32_t mode)
{
	struct file *file;
	int err = vfs_open_at(at, VFS_READ | VFS_CREATE | VFS_EXCL, mode, &file);

	if (!err)
		fput(file);
	return err;
}

long sys_mknodat(int dfd, const char *filename, unsigned int mode, unsigned int dev)
{
	struct vfs_stat like = { .mode = mode & ~current_process()->fs->umask & 07777 };
	struct user_path path;
	int err = names_kind(mode, dev, &like);

	if (!err)
		err = user_path_read(dfd, filename, &path);
	if (err)
		return err;
	err = like.type == VFS_REGULAR ? names_make_file(&path.at, like.mode)
				       : vfs_mknod_at(&path.at, &like);
	user_path_put(&path);
	return err;
}

long sys_mknod(const char *filename, unsigned int mode, unsigned int dev)
{
	return sys_mknodat(AT_FDCWD, filename, mode, dev);
}

long sys_symlinkat(const char *oldname, int newdfd, const char *newname)
{
	char target[VFS_PATH_MAX];
	struct user_path path;
	long len = strncpy_from_user(target, oldname, sizeof(target));
	int err = len < 0 ? (int)len : user_path_read(newdfd, newname, &path);

	if (err)
		return err;
	err = vfs_symlink(&path.at, (size_t)len, target);
	user_path_put(&path);
	return err;
}

long sys_symlink(const char *oldname, const char *newname)
{
	return sys_symlinkat(oldname, AT_FDCWD, newname);
}

/* A name that there is, and the new one. */
struct names_pair {
	struct user_path old, new;
};

static int names_read_pair(int olddfd, const char *oldname, int newdfd, const char *newname,
			   struct names_pair *out)
{
	int err = user_path_read(olddfd, oldname, &out->old);

	if (err)
		return err;
	err = user_path_read(newdfd, newname, &out->new);
	if (err)
		user_path_put(&out->old);
	return err;
}

static void names_put_pair(struct names_pair *pair)
{
	user_path_put(&pair->old);
	user_path_put(&pair->new);
}

long sys_linkat(int olddfd, const char *oldname, int newdfd, const char *newname, int flags)
{
	struct names_pair pair;
	int err = flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)
			  ? -EINVAL
			  : names_read_pair(olddfd, oldname, newdfd, newname, &pair);

	if (err)
		return err;
	err = vfs_link_at(&pair.old.at, flags & AT_SYMLINK_FOLLOW, &pair.new.at);
	names_put_pair(&pair);
	return err;
}

long sys_link(const char *oldname, const char *newname)
{
	return sys_linkat(AT_FDCWD, oldname, AT_FDCWD, newname, 0);
}

long sys_renameat2(int olddfd, const char *oldname, int newdfd, const char *newname,
		   unsigned int flags)
{
	struct names_pair pair;
	int err = flags & ~RENAME_FLAGS || flags == RENAME_FLAGS
			  ? -EINVAL
			  : names_read_pair(olddfd, oldname, newdfd, newname, &pair);

	if (err)
		return err;
	err = vfs_rename_at(&pair.old.at, &pair.new.at, flags);
	names_put_pair(&pair);
	return err;
}

long sys_renameat(int olddfd, const char *oldname, int newdfd, const char *newname)
{
	return sys_renameat2(olddfd, oldname, newdfd, newname, 0);
}

long sys_rename(const char *oldname, const char *newname)
{
	return sys_renameat2(AT_FDCWD, oldname, AT_FDCWD, newname, 0);
}

/* By its path, if only that can. */
int names_set_open(unsigned int fd, unsigned int which, const struct vfs_stat *to)
{
	struct file *file = files_get_file(current_process()->files, fd);
	int err;

	if (!file)
		return -EBADF;
	err = file_set_attr(file, which, to);
	if (err == -EOPNOTSUPP)
		err = file->path ? vfs_set_attr(VFS_REAL, file->path, which, to) : -EPERM;
	fput(file);
	return err;
}

int names_set(int dfd, const char *filename, int flags, unsigned int which,
	      const struct vfs_stat *to)
{
	struct user_path path;
	char first = '\0';
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH && !copy_from_user(&first, filename, 1) && !first)
		return names_set_open((unsigned int)dfd, which, to);
	err = user_path_read(dfd, filename, &path);
	if (err)
		return err;
	err = vfs_set_attr_at(&path.at, which | (flags & AT_SYMLINK_NOFOLLOW ? VFS_SET_OF_LINK : 0),
			      to);
	user_path_put(&path);
	return err;
}

long sys_fchmodat(int dfd, const char *filename, unsigned int mode)
{
	const struct vfs_stat to = { .mode = mode & 07777 };

	return names_set(dfd, filename, 0, VFS_SET_MODE, &to);
}

long sys_chmod(const char *filename, unsigned int mode)
{
	return sys_fchmodat(AT_FDCWD, filename, mode);
}

long sys_fchmod(unsigned int fd, unsigned int mode)
{
	const struct vfs_stat to = { .mode = mode & 07777 };

	return names_set_open(fd, VFS_SET_MODE, &to);
}

static unsigned int names_owner_flags(const struct vfs_stat *to)
{
	return (to->uid == ID_SAME ? 0 : VFS_SET_UID) | (to->gid == ID_SAME ? 0 : VFS_SET_GID);
}

long sys_fchownat(int dfd, const char *filename, unsigned int user, unsigned int group, int flag)
{
	const struct vfs_stat to = { .uid = user, .gid = group };

	return names_set(dfd, filename, flag, names_owner_flags(&to), &to);
}

long sys_chown(const char *filename, unsigned int user, unsigned int group)
{
	return sys_fchownat(AT_FDCWD, filename, user, group, 0);
}

long sys_lchown(const char *filename, unsigned int user, unsigned int group)
{
	return sys_fchownat(AT_FDCWD, filename, user, group, AT_SYMLINK_NOFOLLOW);
}

long sys_fchown(unsigned int fd, unsigned int user, unsigned int group)
{
	const struct vfs_stat to = { .uid = user, .gid = group };

	return names_set_open(fd, names_owner_flags(&to), &to);
}

static int names_truncate(struct file *file, long length)
{
	return length < 0 ? -EINVAL : file_truncate(file, (uint64_t)length);
}

long sys_truncate(const char *pathname, long length)
{
	struct vfs_stat stat = { 0 };
	struct user_path path;
	struct file *file;
	int err = user_path_read(AT_FDCWD, pathname, &path);

	if (err)
		return err;
	err = vfs_stat_at(&path.at, true, &stat);
	if (!err && stat.type == VFS_PIPE)
		err = -EINVAL;
	if (!err)
		err = vfs_open_at(&path.at, VFS_WRITE, 0, &file);
	user_path_put(&path);
	if (err)
		return err;
	err = names_truncate(file, length);
	fput(file);
	return err;
}

long sys_ftruncate(unsigned int fd, long length)
{
	struct file *file = files_get_file(current_process()->files, fd);
	int err;

	if (!file)
		return -EBADF;
	err = names_truncate(file, length);
	fput(file);
	return err;
}

/* The own path of a directory as the process sees it, whose root may be another than that of all. */
static int names_from_root(char *path)
{
	static const char unreachable[] = "(unreachable)";
	char root[VFS_PATH_MAX];
	int err = fs_root_path(current_process()->fs, root);
	size_t len = strlen(root);

	if (err || len < 2)
		return err;
	if (strncmp(path, root, len) == 0 && (!path[len] || path[len] == '/')) {
		memmove(path, path[len] ? path + len : "/", strlen(path + len) + 1 + !path[len]);
		return 0;
	}
	if (strlen(path) + sizeof(unreachable) > VFS_PATH_MAX)
		return -ENAMETOOLONG;
	memmove(path + sizeof(unreachable) - 1, path, strlen(path) + 1);
	memcpy(path, unreachable, sizeof(unreachable) - 1);
	return 0;
}

long sys_getcwd(char *buf, unsigned long size)
{
	char cwd[VFS_PATH_MAX];
	int err = fs_cwd_path(current_process()->fs, cwd);
	size_t len;

	if (!err)
		err = names_from_root(cwd);
	if (err)
		return err;
	len = strlen(cwd) + 1;
	if (len > size)
		return -ERANGE;
	return copy_to_user(buf, cwd, len) ? -EFAULT : (long)len;
}

/* May names be looked for in a directory that is open? */
static int names_may_search(struct file *dir)
{
	struct vfs_stat stat = { 0 };
	const struct vfs_at at = { .path = ".", .dir = dir };
	int err = file_stat(dir, &stat);

	if (err == -EOPNOTSUPP)
		err = vfs_stat_at(&at, true, &stat);
	if (!err)
		err = stat.type == VFS_DIRECTORY ? inode_permission(&stat, MAY_EXEC) : -ENOTDIR;
	return err;
}

/* Go to a directory that is open. The file is taken over. */
static int names_change_dir(struct file *dir)
{
	int err = names_may_search(dir);

	if (err)
		fput(dir);
	else
		fs_set_cwd(current_process()->fs, dir);
	return err;
}

static int names_open_dir(const char *filename, struct file **out_dir)
{
	struct user_path path;
	int err = user_path_read(AT_FDCWD, filename, &path);

	if (err)
		return err;
	err = vfs_open_at(&path.at, VFS_PLACE | VFS_ONLY_DIR, 0, out_dir);
	user_path_put(&path);
	return err;
}

long sys_chdir(const char *filename)
{
	struct file *dir;
	int err = names_open_dir(filename, &dir);

	return err ? err : names_change_dir(dir);
}

/* The current directory stays, even if it is outside. */
long sys_chroot(const char *filename)
{
	struct file *dir;
	int err = names_open_dir(filename, &dir);

	if (err)
		return err;
	err = names_may_search(dir);
	if (!err && !capable(CAP_SYS_CHROOT))
		err = -EPERM;
	if (err)
		fput(dir);
	else
		fs_set_root(current_process()->fs, dir);
	return err;
}

long sys_fchdir(unsigned int fd)
{
	struct file *file = files_get_file(current_process()->files, fd);

	if (!file)
		return -EBADF;
	if (file->path)
		return names_change_dir(file);
	fput(file);
	return -ENOTDIR;
}

long sys_umask(int mask)
{
	uint32_t old = current_process()->fs->umask;

	current_process()->fs->umask = (uint32_t)mask & 0777;
	return old;
}
