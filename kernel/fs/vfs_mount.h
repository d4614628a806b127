/*
 * File systems, those that are mounted, and how nodes that are not plain files get into the ram tree.
 *
 * Context: thread. Locking: inside. Ownership: see <kernel/vfs.h>.
 */
#ifndef KERNEL_VFS_MOUNT_H
#define KERNEL_VFS_MOUNT_H

#include <kernel/string.h>
#include <kernel/vfs.h>

/*
 * A file system: how to walk and change one tree. Only put, create, mkdir, remove, rename and the members
 * marked optional may be missing; without mkdir, remove or rename, such changes fail with -EPERM, and without
 * create with -EACCES. Functions that return int: 0 or -errno.
 */
struct vfs_fs {
	const char *name;
	uint8_t nr;	     /* tells ids of its files from those of others; 1 and up */
	void *(*root)(void); /* the root's node, held until put() */
	/* The node of one name in a directory, held until put(). -ENOENT: none there, or `dir` is no directory. */
	int (*lookup)(void *dir, const char *name, void **out_node);
	void (*put)(void *node);			     /* let go of a node */
	void (*stat)(void *node, struct vfs_stat *out_stat); /* its id has 56 bits */
	/* Fill ops and object of `file`; its flags are set. The node stays the caller's. */
	int (*open)(void *node, struct file *file);
	/* Name of entry `index`, into VFS_NAME_MAX bytes; -ENOENT behind the last one. */
	int (*entry)(void *dir, uint32_t index, char *out_name);
	/* Make a file or a directory with these bits of a mode. *out_node is the file, held until put(). */
	int (*create)(void *dir, const char *name, uint32_t mode, void **out_node);
	int (*mkdir)(void *dir, const char *name, uint32_t mode);
	/* Optional: a file of another kind, by its type, bits of a mode and number of a device. */
	int (*mknod)(void *dir, const char *name, const struct vfs_stat *like);
	int (*remove)(void *dir, const char *name, bool is_dir);
	/* Change what `which` (VFS_SET_*) names of mode, uid, gid. Optional: they stay as they are. */
	int (*set_attr)(void *node, unsigned int which, const struct vfs_stat *to);
	/* The same for all files that there are, and those to come. Optional. */
	void (*set_owner)(unsigned int which, const struct vfs_stat *to);
	/* Move the file to another directory and name; `how` (VFS_RENAME_*) tells of a file that is there. */
	int (*rename)(void *dir, const char *name, void *new_dir, const char *new_name,
		      unsigned int how);
	/* Optional. The text of a link, into VFS_PATH_MAX bytes; -EINVAL: the node is no link. */
	int (*readlink)(void *node, char *out_target);
	int (*symlink)(void *dir, const char *name, const char *target);
	/* Optional: give a node, which is no directory, a name in `dir`. */
	int (*link)(void *node, void *dir, const char *name);
	/* Optional: the text of this link is no path; to follow it is to open the node itself. */
	bool (*is_magic_link)(void *node);
	/*
	 * All three of a file system whose directories may be renamed: hold a node once more; the parent of a directory,
	 * held, or NULL when it has been removed; the own path of a directory, into VFS_PATH_MAX bytes: 0; -ENOENT: it
	 * has been removed; -ENAMETOOLONG.
	 */
	void (*get)(void *node);
	void *(*parent)(void *dir);
	int (*path)(void *dir, char *out_path);
	/*
	 * Changes ask vfs_may_create() and its like, and setattr_prepare(), themselves: under the lock that guards names
	 * and attributes, so that nothing comes between question and change. For other file systems the caller asks.
	 */
	bool asks_itself;
};

/* May a name be made, or removed, in `dir`? `there` is its node; NULL: there is none. 0 or -errno. */
int vfs_may_create(const struct vfs_fs *fs, void *dir, void *there);
int vfs_may_remove(const struct vfs_fs *fs, void *dir, void *there, bool is_dir);
/* May `node` in `dir` go to `new_dir`, and replace `over`, which may be NULL? */
int vfs_may_rename(const struct vfs_fs *fs, void *dir, void *node, void *new_dir, void *over);

extern const struct vfs_fs vfs_livepatch_fs;
extern const struct vfs_fs vfs_trace_fs;
extern const struct vfs_fs vfs_ram_fs;
/* The directories of processes in /proc, which is in the ram tree otherwise. */
extern const struct vfs_fs vfs_proc_fs;
/* The rest of /proc where proc is mounted at a further place; vfs_proc_place.c. */
extern const struct vfs_fs vfs_proc_place_fs;

#ifdef WITH_PROCESSES

/* NULL: the kernel has no programs, which are the ones that need proc elsewhere. */
static inline const struct vfs_fs *vfs_proc_place(void)
{
	return &vfs_proc_place_fs;
}

/* Does this part of a path, below a mount of proc, begin with the directory of a process? */
static inline bool vfs_names_process(const char *below)
{
	if (strncmp(below, "thread-self", strlen("thread-self")) == 0)
		below += strlen("thread-");
	return (*below >= '1' && *below <= '9') ||
	       (strncmp(below, "self", 4) == 0 && (!below[4] || below[4] == '/'));
}
/*
 * Name `*index` of the processes in /proc, into VFS_NAME_MAX bytes. -ENOENT behind the last one, and *index
 * is less by their number.
 */
int vfs_entry_of_process(uint32_t *index, char *out_name);
/* Make the files of /proc that programs alone look at. 0 or -ENOMEM. Boot only. */
int vfs_programs_init(void);
/* As vfs_device_of(), of terminals that programs make. */
const struct vfs_special *pty_device_of(uint32_t dev);

#else

static inline const struct vfs_fs *vfs_proc_place(void)
{
	return NULL;
}
static inline bool vfs_names_process(const char *below)
{
	(void)below;
	return false;
}
static inline int vfs_entry_of_process(uint32_t *index, char *out_name)
{
	(void)index;
	(void)out_name;
	return -ENOENT;
}
static inline int vfs_programs_init(void)
{
	return 0;
}
static inline const struct vfs_special *pty_device_of(uint32_t dev)
{
	(void)dev;
	return NULL;
}

#endif

/*
 * The file system that a resolved `path` is in. *out_rest points to the part of `path` that lies
 * below the mount, without a slash in front.
 */
const struct vfs_fs *vfs_mount_of(const char *path, const char **out_rest);
/* Is proc mounted at this resolved path? */
bool vfs_mount_is_proc(const char *path);
/* Is there a mount at this resolved path, or below it? */
bool vfs_mount_is_in(const char *path);

/*
 * A file of /dev, /proc or /sys. Text files have `show`, which writes the whole text, cut to fit `size`
 * bytes with a NUL, and returns the length written; the others have `ops`.
 */
struct vfs_special {
	const char *dir;
	const char *name;
	uint32_t mode;
	uint32_t dev; /* of a device: Linux's number; 0: it is none */
	const struct file_ops *ops;
	size_t (*show)(char *buf, size_t size);
	const void *data; /* for `ops`, to use as it likes */
};

/* The number of a device that programs know by it: VFS_DEV(1, 3) is null. */
#define VFS_DEV(major, minor) ((uint32_t)(major) << 8 | (minor))
/* The device of characters with that number; NULL: there is none. */
const struct vfs_special *vfs_device_of(uint32_t dev);

/* Make the root and these directories, parents first. 0 or -ENOMEM. Boot only, once. */
int vfs_ram_init(const char *const *dirs, size_t nr_dirs);
/* Then make files in these directories. 0 or -ENOMEM. Boot only. */
int vfs_ram_add(const struct vfs_special *specials, size_t nr_specials);
/*
 * One more directory in these that has what the kernel makes alone, if it is not there yet. 0 or -ENOMEM. Boot only.
 */
int vfs_ram_add_dir(const char *path);
/*
 * The same for one file that is shown with that size, and can be removed: then its ops->removed is called.
 * *special stays until then.
 */
int vfs_ram_add_sized(const struct vfs_special *special, uint64_t size);
/* The operations of files with `show`; the object of such a file is its struct vfs_special. */
extern const struct file_ops vfs_text_ops;

/* Of devices: zeros are read, until the thread is interrupted; what is written is dropped. */
ssize_t vfs_zero_read(struct file *file, void *buf, size_t len, uint64_t *pos);
ssize_t vfs_null_write(struct file *file, const void *buf, size_t len, uint64_t *pos);
/*
 * Write the line of a text at position `*pos` (0: the first) and set `*pos` to that of the next
 * line. Returns the line's length, 0 at the end.
 */
typedef size_t (*vfs_line_fn)(char *line, size_t size, uint64_t *pos);
#define VFS_LINE_MAX 256
/*
 * Read any bytes of such a text: the read goes on where the last one ended, and for bytes before
 * that the text is made anew.
 */
ssize_t vfs_lines_read(struct file *file, void *buf, size_t len, uint64_t *pos,
		       vfs_line_fn next_line);
/* Files of a switch, "0\n" or "1\n": reading one, and the value of a write, by str_to_bool(). 0 or -EINVAL. */
ssize_t vfs_switch_read(bool on, void *buf, size_t len, uint64_t *pos);
int vfs_switch_parse(const void *buf, size_t len, bool *out);
extern const struct file_ops console_file_ops;
extern const struct file_ops tty_file_ops;
/* A file that runs the commands written to it; a read gives their output. vfs_shell.c. */
extern const struct file_ops shell_file_ops;
/* The files of /proc/sys/kernel and /proc/sys/debug. */
extern const struct vfs_special vfs_sysctl_specials[];
extern const size_t vfs_nr_sysctl_specials;

/* Facts about the machine in /proc, and devices; vfs_machine.c. */
extern const struct vfs_special vfs_machine_specials[];
extern const size_t vfs_nr_machine_specials;
/* Threads that run or could run now, of all CPUs. */
uint32_t vfs_machine_nr_running(void);

/* Make the files of /sys/devices/system/cpu. 0 or -ENOMEM. Boot only. */
int vfs_cpus_init(void);

/* Put the files of the loader's archive into the ram tree, if there is one. Boot only. */
void initramfs_unpack(void);

/* The files of /sys/kernel/debug/kprobes. */
extern const struct vfs_special vfs_kprobes_specials[];
extern const size_t vfs_nr_kprobes_specials;

#endif
