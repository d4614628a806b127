/*
 * Nodes of the tree in memory, and the contents of its files.
 *
 * Context: thread. Locking: the caller holds tree_lock of vfs_ram.c. Ownership: see there.
 */
#ifndef KERNEL_VFS_RAM_H
#define KERNEL_VFS_RAM_H

#include <kernel/base.h>

struct ram_block;
struct vfs_special;

struct ram_node {
	struct ram_node *children; /* of a directory, sorted by name */
	struct ram_node *sibling;
	struct ram_node *parent;	   /* NULL when it has been removed; the root is its own */
	struct ram_block *data;		   /* of a file */
	const struct vfs_special *special; /* of a file in /dev or /proc; otherwise NULL */
	uint64_t size;			   /* bytes */
	uint64_t id;			   /* no other node has had the same */
	uint32_t mode;
	uint32_t uid, gid;
	uint32_t refs; /* holders; the name in a directory counts as one */
	bool is_dir;
	bool is_fixed; /* can be neither removed nor renamed */
	char *name;
};

/*
 * Copy out the contents from `pos` on; bytes that were never written are read as zeros. Bytes
 * copied.
 */
size_t ram_data_read(struct ram_node *node, uint64_t pos, void *buf, size_t len);
/* Store at `pos`. Bytes stored: fewer than `len` when memory runs short. */
size_t ram_data_write(struct ram_node *node, uint64_t pos, const void *buf, size_t len);
/* Page `index` of the contents, with one more user; NULL behind their end, and without memory. */
void *ram_data_page(struct ram_node *node, uint64_t index);
/* Free the contents: the size is 0 afterwards. */
void ram_data_free(struct ram_node *node);

#endif
