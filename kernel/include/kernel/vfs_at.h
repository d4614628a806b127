/*
 * Files by a path that begins at a directory which is held open: what <kernel/vfs.h> has for paths that begin at
 * the path of a directory, with the same results. The directory is the one that was opened, whatever name it has now.
 *
 * Context:   thread.
 * Locking:   each file system locks itself.
 * Ownership: that of <kernel/vfs.h>; the caller holds the directory.
 */
#ifndef KERNEL_VFS_AT_H
#define KERNEL_VFS_AT_H

#include <kernel/vfs.h>

/* A path, and the directory that it begins at when it has no slash in front. */
struct vfs_at {
	const char *path;
	const char *cwd;	/* an absolute path; VFS_REAL; not looked at with `dir` */
	const struct file *dir; /* is open, and stays so meanwhile; NULL: `cwd` */
	/* As `dir`: where paths and links begin that have a slash in front, and `..` ends; NULL: the root of all. */
	const struct file *root;
};

int vfs_real_path_at(const struct vfs_at *at, bool follows, char *out_path);
/* A file that is made has these bits of a mode from its beginning. */
int vfs_open_at(const struct vfs_at *at, uint32_t flags, uint32_t mode, struct file **out_file);
int vfs_stat_at(const struct vfs_at *at, bool follows, struct vfs_stat *out_stat);
/* VFS_SET_OF_LINK: of a link itself. */
int vfs_set_attr_at(const struct vfs_at *at, unsigned int which, const struct vfs_stat *to);
int vfs_mkdir_at(const struct vfs_at *at, uint32_t mode);
/* A pipe with a name, a device or a socket, as type, mode and number say. -EPERM: there are none there, or only root may. */
int vfs_mknod_at(const struct vfs_at *at, const struct vfs_stat *like);
int vfs_remove_at(const struct vfs_at *at, bool is_dir);
int vfs_link_at(const struct vfs_at *from, bool follows, const struct vfs_at *to);
/* To a target of `len` characters. */
int vfs_symlink(const struct vfs_at *at, size_t len, const char *target);
int vfs_readlink_at(const struct vfs_at *at, char *out_target);
/* By Linux's numbers. Without one of them, a file that has the new name is replaced. */
#define VFS_RENAME_KEEP 1u /* -EEXIST when the new name is there */
#define VFS_RENAME_EXCHANGE                                                                        \
	2u /* both names stay, each with the other's file; -ENOENT when one is missing */
int vfs_rename_at(const struct vfs_at *from, const struct vfs_at *to, unsigned int how);
/* Name of entry `index` of an open directory; see vfs_entry(). */
int vfs_entry_of(const struct file *dir, uint32_t index, char *out_name);
/* The own path that an open directory has now. -ENOENT: it has been removed; -ENAMETOOLONG. */
int file_dir_path(const struct file *dir, char *out_path);

#endif
