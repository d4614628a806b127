/*
 * Nodes of the tree in memory, and the contents of its files.
 *
 * Context: thread. Locking: the tree's lock, held by the caller. Ownership: see vfs_ram.c.
 */
#ifndef KERNEL_VFS_RAM_H
#define KERNEL_VFS_RAM_H

#include <kernel/base.h>

struct ram_block;
struct vfs_special;

struct ram_node {
	struct ram_node *children; /* of a directory, sorted by name */
	struct ram_node *sibling;
	struct ram_block *data; /* of a file */
	const struct vfs_special *special;
	uint64_t size;
	uint32_t mode;
	uint32_t refs; /* its name is one */
	bool is_dir;
	bool is_fixed; /* cannot be removed */
	char name[];
};

/* Bytes copied; holes read as zeros. */
size_t ram_data_read(struct ram_node *node, uint64_t pos, void *buf, size_t len);
/* Bytes stored: fewer than `len` when memory runs short. */
size_t ram_data_write(struct ram_node *node, uint64_t pos, const void *buf, size_t len);
/* Back to size 0. */
void ram_data_free(struct ram_node *node);

#endif
