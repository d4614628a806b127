/*
 * Strings and paths that programs give.
 *
 * Context: thread of a program.
 */
#ifndef KERNEL_SYSCALL_PATH_H
#define KERNEL_SYSCALL_PATH_H

#include <kernel/base.h>
#include <kernel/vfs_at.h>

/* A path as a program gives it, and the directory that it is seen from. */
struct user_path {
	struct vfs_at at;
	struct file *dir;  /* held; NULL: the path begins with a slash, or at the root */
	struct file *root; /* of the process, held; NULL: that of all */
	char text[VFS_PATH_MAX];
};

/* Copy a string and its NUL. Its length; -EFAULT; -ENAMETOOLONG when it does not fit `size` bytes. */
long strncpy_from_user(char *to, const char *from, size_t size);
/*
 * The path in a program's memory, seen from the directory that descriptor `dfd` is, or the current one for
 * AT_FDCWD. 0, and `out_path` is for user_path_put(); -EFAULT, -ENOENT, -ENAMETOOLONG, -EBADF, -ENOTDIR.
 */
int user_path_read(int dfd, const char *path, struct user_path *out_path);
void user_path_put(struct user_path *path);
/*
 * The path in a program's memory as an absolute one without links, into VFS_PATH_MAX bytes. The
 * file may be missing. 0, -EFAULT, -ENOENT, -ENAMETOOLONG, -ELOOP.
 */
int user_path(const char *path, char *out_path);

#endif
