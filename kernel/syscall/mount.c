/* mount() and umount(): file systems that the kernel has, at further places. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "path.h"
#include "syscall.h"

#define MS_REMOUNT  (1ul << 5)
#define MS_PRIVATE  (1ul << 18)
#define MS_REC	    (1ul << 14)
#define MS_SILENT   (1ul << 15)
#define MS_MAGIC    0xc0ed0000ul
#define MS_MAGIC_OF 0xffff0000ul
/* Set-user-ID, devices, programs, times: files in memory are as they are. SYNCHRONOUS, DIRSYNC, MANDLOCK ask for nothing more. */
#define MS_IGNORED                                                                                 \
	(0x2ul | 0x4ul | 0x8ul | 0x10ul | 0x40ul | 0x80ul | 0x400ul | 0x800ul | MS_SILENT |        \
	 1ul << 21 | 1ul << 23 | 1ul << 24 | 1ul << 25)

#define UMOUNT_NOFOLLOW 8
#define MOUNT_TEXT_MAX	256u

static void mount_take_options(char *text, unsigned int *which, struct vfs_stat *to)
{
	for (char *option = text, *end; option; option = end) {
		end = strchr(option, ',');
		if (end)
			*end++ = '\0';
		vfs_mount_option(option, which, to);
	}
}

/* A text of the program, into MOUNT_TEXT_MAX bytes; without one it is empty. 0 or -errno. */
static int mount_read(const char *from, char *to)
{
	long len = from ? strncpy_from_user(to, from, MOUNT_TEXT_MAX) : 0;

	if (!from)
		*to = '\0';
	return len == -ENAMETOOLONG ? -EINVAL : len < 0 ? (int)len : 0;
}

static int mount_do(const char *path, const char *type, unsigned long flags, char *options)
{
	struct vfs_stat to = { 0 };
	unsigned int which = 0;
	int err = 0;

	mount_take_options(options, &which, &to);
	if (!(flags & MS_REMOUNT))
		err = vfs_mount(VFS_REAL, path, type);
	return !err && (which || flags & MS_REMOUNT) ? vfs_remount(VFS_REAL, path, which, &to)
						     : err;
}

/* There is one space of names, which no other hears of: to make it private changes nothing. */
long sys_mount(char *dev_name, char *dir_name, char *type, unsigned long flags, void *data)
{
	char path[VFS_PATH_MAX], kind[MOUNT_TEXT_MAX], options[MOUNT_TEXT_MAX];
	int err = mount_read(type, kind);

	(void)dev_name;
	if ((flags & MS_MAGIC_OF) == MS_MAGIC)
		flags &= ~MS_MAGIC_OF;
	if (!err)
		err = mount_read(data, options);
	if (!err)
		err = user_path(dir_name, path);
	if (err)
		return err;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if ((flags & ~(MS_REC | MS_SILENT)) == MS_PRIVATE)
		return 0;
	return flags & ~(MS_IGNORED | MS_REMOUNT) ? -EINVAL : mount_do(path, kind, flags, options);
}

long sys_umount(char *name, int flags)
{
	char path[VFS_PATH_MAX];
	int err = flags & ~UMOUNT_NOFOLLOW ? -EINVAL : user_path(name, path);

	if (err)
		return err;
	return capable(CAP_SYS_ADMIN) ? vfs_umount(VFS_REAL, path) : -EPERM;
}
