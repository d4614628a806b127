/*
 * open() and its kind, getdents64(): files and directories by path.
 */
#include <kernel/string.h>
#include "path.h"
#include "syscall.h"

#define DIRENT_HEADER 19u /* bytes in front of the name */
#define DT_DIR	      4
#define DT_REG	      8
#define DT_CHR	      2
#define DT_FIFO	      1
#define DT_BLK	      6
#define DT_LNK	      10
#define DT_SOCK	      12

static uint32_t open_vfs_flags(int flags)
{
	uint32_t vfs = VFS_READ | VFS_MAY_LIST;

	if (flags & O_PATH)
		return VFS_PLACE | (flags & O_DIRECTORY ? VFS_ONLY_DIR : 0) |
		       (flags & O_NOFOLLOW ? VFS_NOFOLLOW : 0);
	if ((flags & O_ACCMODE) == O_WRONLY)
		vfs = VFS_WRITE;
	else if ((flags & O_ACCMODE) == O_RDWR)
		vfs = VFS_READ | VFS_WRITE;
	return vfs | (flags & O_CREAT ? VFS_CREATE : 0) | (flags & O_TRUNC ? VFS_TRUNCATE : 0) |
	       (flags & O_APPEND ? VFS_APPEND : 0) | (flags & O_NONBLOCK ? VFS_NONBLOCK : 0) |
	       (flags & O_EXCL ? VFS_EXCL : 0) | (flags & O_NOFOLLOW ? VFS_NOFOLLOW : 0) |
	       (flags & O_DIRECTORY ? VFS_ONLY_DIR : 0) | (flags & O_NOCTTY ? VFS_NOCTTY : 0);
}

static TRACE_NOINLINE long do_sys_openat2(int dfd, const char *filename, int flags, uint32_t mode)
{
	struct user_path path;
	struct file *file;
	int err = user_path_read(dfd, filename, &path);

	if (err)
		return err;
	err = vfs_open_at(&path.at, open_vfs_flags(flags),
			  mode & ~current_process()->fs->umask & 07777, &file);
	user_path_put(&path);
	if (err)
		return err == -EINTR ? -ERESTARTSYS : err;
	return files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

/* A function of its own, because probes that are written for Linux look for it. */
static TRACE_NOINLINE long do_sys_open(int dfd, const char *filename, int flags, uint32_t mode)
{
	return do_sys_openat2(dfd, filename, flags, mode);
}

long sys_open(const char *filename, int flags, unsigned int mode)
{
	return do_sys_open(AT_FDCWD, filename, flags, mode);
}

long sys_creat(const char *pathname, unsigned int mode)
{
	return do_sys_open(AT_FDCWD, pathname, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

long sys_openat(int dfd, const char *filename, int flags, unsigned int mode)
{
	return do_sys_open(dfd, filename, flags, mode);
}

struct open_dirent {
	uint64_t ino;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[VFS_NAME_MAX + 8];
} __attribute__((packed));

static uint8_t open_dirent_type(enum vfs_type type)
{
	static const uint8_t types[] = {
		[VFS_REGULAR] = DT_REG, [VFS_DIRECTORY] = DT_DIR, [VFS_DEVICE] = DT_CHR,
		[VFS_PIPE] = DT_FIFO,	[VFS_LINK] = DT_LNK,	  [VFS_SOCKET] = DT_SOCK,
		[VFS_BLOCK] = DT_BLK
	};

	return types[type];
}

/* Entry `index` of a directory: `.`, `..`, then those of the file system. 0 or -ENOENT at the end. */
static int open_make_dirent(const struct file *dir, uint64_t index, struct open_dirent *out)
{
	struct vfs_at at = { .dir = dir };
	struct vfs_stat stat = { 0 };
	size_t len;
	int err = 0;

	if (index < 2)
		strlcpy(out->name, index ? ".." : ".", sizeof(out->name));
	else
		err = vfs_entry_of(dir, (uint32_t)(index - 2), out->name);
	if (err)
		return err;
	at.path = out->name;
	vfs_stat_at(&at, false, &stat);
	len = strlen(out->name) + 1;
	out->ino = user_ino(&stat);
	out->next = (int64_t)index + 1;
	out->bytes = (uint16_t)ALIGN_UP(DIRENT_HEADER + len, 8ul);
	out->type = open_dirent_type(stat.type);
	memset(out->name + len, 0, out->bytes - DIRENT_HEADER - len);
	return 0;
}

static long open_read_directory(struct file *file, char *to, unsigned int count)
{
	struct open_dirent entry;
	unsigned int done = 0;

	while (open_make_dirent(file, file->pos, &entry) == 0) {
		if (entry.bytes > count - done)
			return done ? (long)done : -EINVAL;
		if (copy_to_user(to + done, &entry, entry.bytes))
			return -EFAULT;
		done += entry.bytes;
		file->pos++;
	}
	return done;
}

long sys_getdents64(unsigned int fd, void *dirent, unsigned int count)
{
	struct file *file = files_get_file(current_process()->files, fd);
	long result = -ENOTDIR;

	if (!file)
		return -EBADF;
	if (file->ops == &vfs_directory_ops)
		result = open_read_directory(file, dirent, count);
	fput(file);
	return result;
}
