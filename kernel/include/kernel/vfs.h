/*
 * Names for everything that can be read or written: the ram tree at `/`, devices, pipes, and the
 * trace tree, which is mounted at two places from the start and may be mounted at others, too.
 *
 *   path --vfs_open--> mount --walk--> node --fs->open--> struct file --vfs_read/write--> bytes
 *
 * Of a path the longest mount that is a prefix is chosen, then its file system looks up one name after
 * the other. Symbolic links are followed, up to 40 of them: -ELOOP.
 *
 * Context:   thread. vfs_read() may sleep (pipe, console, trace_pipe) and then gives -EINTR when
 *            the thread is interrupted.
 * Locking:   each file system locks itself. Reads and writes of one struct file that has a position
 *            are serialised by its lock; console and pipe ends have none, and need none.
 * Ownership: vfs_open() gives one reference; get_file() adds one; the last fput() closes.
 *            A node found by lookup is held until fs->put().
 */
#ifndef KERNEL_VFS_H
#define KERNEL_VFS_H

#include <kernel/base.h>
#include <kernel/lock.h>

#define VFS_PATH_MAX 256 /* with NUL */
#define VFS_NAME_MAX 128 /* with NUL */

#define VFS_READ     0x01u
#define VFS_WRITE    0x02u
#define VFS_CREATE   0x04u
#define VFS_TRUNCATE 0x08u
#define VFS_APPEND   0x10u
#define VFS_NONBLOCK 0x20u /* reads and writes give -EAGAIN instead of waiting */
/* How to open, as the O_ flags of programs that have these names. */
#define VFS_EXCL     0x40u  /* with VFS_CREATE: -EEXIST when it is there */
#define VFS_NOFOLLOW 0x80u  /* -ELOOP when the last name is a link */
#define VFS_ONLY_DIR 0x100u /* O_DIRECTORY: -ENOTDIR when it is something else */
#define VFS_PLACE                                                                                  \
	0x200u /* O_PATH: a place in the tree, of which only the attributes can be asked for */
#define VFS_MAY_LIST 0x400u  /* directories are opened, too, for reading; without it -EISDIR */
#define VFS_IS_NEW   0x800u  /* set by the open that made the file */
#define VFS_FOR_EXEC 0x1000u /* to be executed: that is what has to be allowed, not reading */
#define VFS_NOCTTY   0x2000u /* a terminal does not become that of the session */

enum vfs_type {
	VFS_REGULAR,
	VFS_DIRECTORY,
	VFS_DEVICE,
	VFS_PIPE,
	VFS_LINK, /* a symbolic one */
	VFS_SOCKET,
	VFS_BLOCK /* a device of blocks; VFS_DEVICE is one of characters */
};

struct vfs_stat {
	enum vfs_type type;
	uint32_t mode; /* permission bits, 0644 and the like */
	uint32_t uid;  /* 0: root */
	uint32_t gid;
	uint32_t dev;	    /* of a device: its number, as Linux has it in `st_rdev` */
	int32_t more_links; /* names beside the usual ones; less than 0: some are gone */
	uint64_t size;	    /* bytes; 0 for a file without a fixed size */
	uint64_t id;	    /* no two files have the same, and a file has the same each time */
	/* Nanoseconds since 1970 of the last read, change of contents, other change; 0: not known. */
	uint64_t atime_ns, mtime_ns, ctime_ns;
};

/* The members of a struct vfs_stat that vfs_set_attr() is to change. */
#define VFS_SET_MODE	1u
#define VFS_SET_UID	2u
#define VFS_SET_GID	4u
#define VFS_SET_ATIME	8u
#define VFS_SET_MTIME	16u
#define VFS_SET_OF_LINK 32u /* of a link itself, not of what it points to */
#define VFS_SET_TO_NOW	64u /* the times are the present: to whom may write, this is allowed, too */

struct file;
struct poll_table;
struct vfs_fs;
struct vfs_special;

/* Takes bytes of a file, some at a time. 0, or -errno, which ends the read. May sleep. */
typedef int (*vfs_put_fn)(const void *bytes, size_t len, void *arg);

/* The operations of one kind of open file. A missing read or write gives -EINVAL. */
struct file_ops {
	/* Optional, of special files: called by the open that made `file`. 0 or -errno. */
	int (*open)(struct file *file);
	/* Bytes moved, or -errno; a read gives 0 at the end. Both move `pos`, the position. */
	ssize_t (*read)(struct file *file, void *buf, size_t len, uint64_t *pos);
	ssize_t (*write)(struct file *file, const void *buf, size_t len, uint64_t *pos);
	/* Optional: as read, without a buffer: see vfs_read_to(). */
	ssize_t (*read_to)(struct file *file, size_t len, uint64_t *pos, vfs_put_fn put, void *arg);
	/* Would a read return at once, without waiting? When this is missing, the answer is yes. */
	bool (*is_readable)(struct file *file);
	/* The answer of file_events(). When this is missing: FILE_IN, if it is readable. */
	uint32_t (*events)(struct file *file, uint32_t wanted);
	/* The answer of vfs_poll(); see poll.h. When this is missing: as file_events(), and POLLOUT. */
	uint32_t (*poll)(struct file *file, struct poll_table *table);
	/* The answer of file_may_wait(). When this is missing: yes, if there is is_readable. */
	bool (*may_wait)(const struct file *file);
	long (*ioctl)(struct file *file, unsigned int cmd, unsigned long arg); /* optional */
	void (*set_nonblock)(struct file *file, bool on);		       /* optional */
	/* Optional: the attributes of the file, even if it has lost its name; and a new size. */
	void (*stat)(struct file *file, struct vfs_stat *out_stat);
	int (*truncate)(struct file *file, uint64_t size); /* 0 or -errno */
	/* Optional: zeros from `begin` up to `end`, and no memory for them. The size stays. 0 or -errno. */
	int (*punch)(struct file *file, uint64_t begin, uint64_t end);
	int (*set_attr)(struct file *file, unsigned int which, const struct vfs_stat *to);
	/*
	 * Page `index` of the contents, with one more user, for put_page(); NULL behind the end, or
	 * without memory. Optional: programs cannot map the file without it.
	 */
	void *(*map_page)(struct file *file, uint64_t index);
	int (*close)(struct file *file); /* optional; frees the object, whatever it returns */
	/* Of special files that can be removed: the name is gone. The file may still be open. */
	void (*removed)(const struct vfs_special *special);
	bool has_position;   /* reads and writes are serialised by the file's lock */
	bool is_console;     /* people read it: commands flush at each end of a line */
	bool ends_by_signal; /* a call that waits for it gives EINTR, and is not begun again */
};

/* The name under which a file was opened. */
struct dentry {
	const char *name; /* the last one of its path */
	char path[];	  /* the file's own, without links */
};

struct file {
	const struct file_ops *ops;
	void *object;	       /* the open object: node, handle, pipe */
	struct dentry *dentry; /* its own; NULL: pipe, console */
	const char *path;      /* that of the dentry; NULL without one */
	const struct vfs_fs
		*fs; /* of directories and places that are held by their node; otherwise NULL */
	void *node;
	uint32_t flags; /* VFS_* of the open */
	_Atomic uint64_t
		watch_id; /* of epoll, which knows the file by it; 0: none has watched it */
	_Atomic uint32_t refs;
	bool has_locks;	   /* of file_lock.h: perhaps */
	struct mutex lock; /* guards what follows */
	uint64_t pos;
	/* For a text that is made line by line: line number next_line begins at byte next_pos. */
	uint64_t next_pos;
	uint64_t next_line;
};

/*
 * Build the ram tree with /dev and /proc. 0, or -errno when out of memory. Once, before the first
 * shell.
 */
int vfs_init(void);

/*
 * `path` seen from directory `cwd` as an absolute path without `.`, `..` and double slashes, into
 * VFS_PATH_MAX bytes, by its text alone: links stay. The file need not exist. 0; -ENAMETOOLONG; -ENOENT
 * for an empty path.
 */
int vfs_resolve(const char *cwd, const char *path, char *out_path);
/*
 * The file's own path, without links; the last name may be one unless `follows`. 0, also when there is
 * no such file: then the path is that of the missing one, as far as it is known. Errors of a walk.
 */
int vfs_real_path(const char *cwd, const char *path, bool follows, char *out_path);

/* As `cwd` of what follows: the path is from vfs_real_path(), so its directories are not asked again. */
#define VFS_REAL NULL
/*
 * Open with VFS_* flags. 0 and a reference to the file, or -errno, such as -ENOENT, -EISDIR,
 * -EACCES (owner and mode do not allow it, or no file can be made there) or -ENOMEM.
 * The path is walked along once.
 */
int vfs_open(const char *cwd, const char *path, uint32_t flags, struct file **out_file);
/* The operations of a directory that is open. */
extern const struct file_ops vfs_directory_ops;
/* A file in memory that has no name. 0 or -ENOMEM. */
int vfs_open_unnamed(uint32_t flags, struct file **out_file);
int vfs_stat(const char *cwd, const char *path, struct vfs_stat *out_stat);
/* The same of a link itself, if the last name is one. */
int vfs_lstat(const char *cwd, const char *path, struct vfs_stat *out_stat);
/*
 * chmod and chown: change what `which` (VFS_SET_*) names of mode, uid and gid. 0; -EPERM: files there
 * stay as they are, and the values are others.
 */
int vfs_set_attr(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to);
/* Name of entry `index` (from 0) of a directory, into VFS_NAME_MAX bytes; -ENOENT at the end. */
int vfs_entry(const char *cwd, const char *path, uint32_t index, char *out_name);
int vfs_mkdir(const char *cwd, const char *path);
int vfs_rmdir(const char *cwd, const char *path);
int vfs_unlink(const char *cwd, const char *path);
/* Make a symbolic link. -EPERM: there are none there. */
int vfs_make_symlink(const char *cwd, const char *path, const char *target);
/*
 * Give the file or directory at `path` the name `new_path`. One that was there before is removed in the same moment: a file
 * by a file, an empty directory by a directory. Files that are open stay so. 0; -EXDEV: the names are in different file systems;
 * -EPERM: that one cannot rename; -EBUSY: something is mounted there or below, or the kernel needs it;
 * -EINVAL: a directory into itself; -ENOTEMPTY, -EISDIR, -ENOTDIR: about what is there.
 */
int vfs_rename(const char *cwd, const char *path, const char *new_path);

/*
 * Mount the file system of that type at a directory. 0, also when it is mounted there already. -ENODEV: no such type;
 * -ENOENT, -ENOTDIR: no such directory; -EPERM: only the trace tree, proc and tmpfs, an empty one each, can be mounted at further
 * places; -EBUSY: another one is mounted there; -ENOSPC: too many.
 */
int vfs_mount(const char *cwd, const char *path, const char *type);
/*
 * As the options uid=, gid= and mode= of a mount: all files of the trace tree mounted at `path` belong to them, or the directory
 * of a tmpfs does; its directory has the mode. Ignored by other file systems. 0; -EINVAL: nothing is mounted there.
 */
void vfs_mount_option(const char *option, unsigned int *which,
		      struct vfs_stat *to); /* take one of them; others are ignored */
int vfs_remount(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to);
/* -EINVAL: nothing is mounted there; -EBUSY: mounted for good, or in use. */
int vfs_umount(const char *cwd, const char *path);
/* Type of the mount that a file's own path is in. */
const char *vfs_mount_type(const char *path);
/*
 * Path of mount `index` (from 0, the oldest first), into VFS_PATH_MAX bytes, and its options with a comma before each (",gid=5"),
 * into VFS_OPTIONS_MAX, or NULL. Returns its type; NULL behind the last one.
 */
#define VFS_OPTIONS_MAX 64u
const char *vfs_mount_get(uint32_t index, char *out_path, char *out_options);

/*
 * Bytes moved, 0 at the end of what can be read, or -errno; -EBADF when the file was not opened for
 * that. At *pos, which moves on; NULL: at the file's own position. One vfs_write() is one write of
 * the file system: it is neither split nor joined with others.
 */
ssize_t vfs_read(struct file *file, void *buf, size_t count, uint64_t *pos);
ssize_t vfs_write(struct file *file, const void *buf, size_t count, uint64_t *pos);

/*
 * As vfs_read(), but `put` gets the bytes from where the file has them: they are copied once. Bytes that
 * it took, or its error if it took none. -EOPNOTSUPP: files of that kind need a buffer.
 */
ssize_t vfs_read_to(struct file *file, size_t count, uint64_t *pos, vfs_put_fn put, void *arg);

static inline ssize_t file_read(struct file *file, void *buf, size_t len)
{
	return vfs_read(file, buf, len, NULL);
}

static inline ssize_t file_write(struct file *file, const void *buf, size_t len)
{
	return vfs_write(file, buf, len, NULL);
}

/* The same at a position of one's own; that of the file neither counts nor changes. */
static inline ssize_t file_read_at(struct file *file, void *buf, size_t len, uint64_t pos)
{
	return vfs_read(file, buf, len, &pos);
}

static inline ssize_t file_write_at(struct file *file, const void *buf, size_t len, uint64_t pos)
{
	return vfs_write(file, buf, len, &pos);
}

/* Would a read return at once, without waiting? See struct file_ops. */
bool file_is_readable(struct file *file);
/* The attributes of an open file; -EOPNOTSUPP: only its path, or its kind, can tell them. */
int file_stat(struct file *file, struct vfs_stat *out_stat);
/* As vfs_set_attr(), of an open file; -EOPNOTSUPP: only by its path. */
int file_set_attr(struct file *file, unsigned int which, const struct vfs_stat *to);
/* Set the size: zeros are added, or bytes cut off. -EINVAL: that file has none, or cannot be written. */
int file_truncate(struct file *file, uint64_t size);
/* The events that file_events() tells of, as poll(2) does. */
enum file_event {
	FILE_IN = 1, /* reading is worth while */
	FILE_PRI = 2 /* something has happened since this was last said */
};
uint32_t file_events(struct file *file, uint32_t wanted);
/*
 * Are there reads or writes of this file that wait for something to happen? They end with -EINTR
 * when the thread is interrupted.
 */
bool file_may_wait(const struct file *file);
/*
 * Have reads give -EAGAIN instead of waiting, or have them wait again; as VFS_NONBLOCK, for the
 * files that obey it.
 */
void file_set_nonblock(struct file *file, bool on);
/* One more reference to `file`, which is also the result. */
struct file *get_file(struct file *file);
/* Returns the result of close when this was the last reference, otherwise 0. NULL is allowed. */
int fput(struct file *file);
/* A new file with one reference; NULL when out of memory. */
struct file *file_create(const struct file_ops *ops, void *object, uint32_t flags);
/* The same, without operations yet, with the name `path`, whose last name begins at `last_at`. */
struct file *file_create_named(const char *path, size_t len, size_t last_at, uint32_t flags);
void dput(struct dentry *dentry); /* free the name, and the file with it */

/* The console as a file, one reference; NULL when out of memory. Reading gives edited lines. */
struct file *console_file_open(void);
/* Go to a new line if the last output to the console did not end its line. */
void console_fresh_line(void);

#endif
