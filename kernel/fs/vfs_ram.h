/*
 * Nodes of the tree in memory, and the contents of its files.
 *
 * Context: thread. Locking: the caller holds ram_tree_lock, where nothing else is said. Ownership: see there.
 */
#ifndef KERNEL_VFS_RAM_H
#define KERNEL_VFS_RAM_H

#include <kernel/base.h>
#include <kernel/lock.h>
#include <kernel/vfs.h>

struct pipe;
struct vfs_special;

/* A name in a directory; it holds the node. */
struct ram_name {
	struct ram_name *sibling;
	struct ram_node *node;
	char text[];
};

/* Linux's errors differ: in proc, no name can be looked up that is not there. */
enum ram_closed {
	RAM_OPEN,
	RAM_PROC,
	RAM_SYS
};

struct ram_node {
	struct ram_name *children; /* of a directory, sorted by name */
	struct ram_node
		*parent; /* of a directory: NULL when it has been removed; the root is its own */
	const struct ram_name *name;	   /* of a directory that has a parent; the root has none */
	void **data;			   /* of a file: tables and pages, see vfs_ram_data.c */
	const struct vfs_special *special; /* of a file in /dev or /proc; otherwise NULL */
	uint64_t size;			   /* bytes */
	uint64_t id;			   /* no other node has had the same */
	uint32_t mode;
	uint32_t uid, gid;
	uint64_t atime_ns, mtime_ns, ctime_ns; /* since 1970; 0: of the boot */
	struct ram_node
		*covered;  /* the directory that this one stands over, held; see vfs_ram_mount.c */
	char *target;	   /* of a symbolic link; otherwise NULL */
	struct pipe *fifo; /* of a pipe with a name; otherwise NULL */
	uint32_t dev;	   /* of a device that mknod() has made: its number */
	_Atomic uint32_t refs; /* holders; each name in a directory counts as one */
	uint32_t nr_names;
	uint32_t nr_dirs; /* in a directory */
	uint8_t levels;	  /* of tables in `data` */
	uint8_t made; /* of a device or socket that mknod() has made: its type; otherwise VFS_REGULAR */
	bool is_dir;
	bool is_fixed;	/* can be neither removed nor renamed */
	uint8_t closed; /* RAM_*: a directory in which only the kernel makes names */
};

/*
 * Copy out the contents from `pos` on; bytes that were never written are read as zeros. Bytes
 * copied.
 */
size_t ram_data_read(struct ram_node *node, uint64_t pos, void *buf, size_t len);
/*
 * The contents from `pos` to the end of the page, at most *len bytes, which becomes their number; 0 at the
 * end. The page has one more user, for put_page(); NULL where bytes were never written.
 */
void *ram_data_peek(struct ram_node *node, uint64_t pos, size_t *len);
/* Store at `pos`. Bytes stored: fewer than `len` when memory runs short. */
size_t ram_data_write(struct ram_node *node, uint64_t pos, const void *buf, size_t len);
/* Page `index` of the contents, with one more user; NULL behind their end, and without memory. */
void *ram_data_page(struct ram_node *node, uint64_t index);
/* Give the contents another size. What is cut off is freed, what is added is zeros. */
void ram_data_resize(struct ram_node *node, uint64_t size);
/* Zeros from `begin` up to `end`: whole pages are freed. The size stays. */
void ram_data_punch(struct ram_node *node, uint64_t begin, uint64_t end);
/* Free the contents: the size is 0 afterwards. */
void ram_data_free(struct ram_node *node);

/* vfs_ram_name.c. The node of that name; NULL: there is none. */
struct ram_node *ram_find_child(struct ram_node *dir, const char *text);
/* NULL: no memory. For kfree(), as long as it is in no directory. */
struct ram_name *ram_create_name(const char *text);
/* Put a name into a directory that has none like it, for a node whose reference is taken over. */
void ram_add_name(struct ram_node *dir, struct ram_name *name, struct ram_node *node);
/* Take a name that is there out of its directory. The node, whose reference is the caller's. */
struct ram_node *ram_unlink(struct ram_node *dir, const char *text);
/* Two names that are there have each other's nodes from now on. */
void ram_exchange(struct ram_node *dir, const char *text, struct ram_node *other_dir,
		  const char *other_text);

/* Guards the whole tree. vfs_ram.c */
extern struct mutex ram_tree_lock;
/* The root. */
extern struct ram_node *ram_tree;
/* A node with one holder and no name; NULL: no memory. Without the lock. */
struct ram_node *ram_create_node(bool is_dir, uint32_t mode);
/* The contents of a file, or the names in a directory, have changed. With or without the lock. */
void ram_changed(struct ram_node *node);
/* As members of struct vfs_fs: without the lock. */
void ram_put(void *node);
int ram_set_attr(void *object, unsigned int which, const struct vfs_stat *to);
int ram_rename(void *dir, const char *name, void *new_dir, const char *new_name,
	       unsigned int how); /* vfs_ram_rename.c */
/* 0; -ENOENT: there is no node; -ENOTDIR, -EISDIR: it is of the other kind; -EBUSY, -ENOTEMPTY. */
int ram_can_remove(const struct ram_node *node, bool is_dir);
#ifdef WITH_PROCESSES

/*
 * vfs_ram_mount.c, without the lock. An empty directory over the one at a path, and its end with all files in it. 0; errors of
 * the walk; -EPERM: the directory is the kernel's own; -EINVAL: none stands there; -EBUSY: a file is held.
 */
int ram_mount(const char *path);
int ram_umount(const char *path);

#else

/* Programs alone need a tmpfs at further places. */
static inline int ram_mount(const char *path)
{
	(void)path;
	return -EPERM;
}
static inline int ram_umount(const char *path)
{
	(void)path;
	return -EINVAL;
}

#endif

/* The operations of open files, whose object is the node; vfs_ram_file.c. */
extern const struct file_ops ram_file_ops;

#endif
