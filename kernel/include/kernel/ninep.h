/*
 * The machine channel: the whole file tree for programs on another machine, over 9P2000.L. Each
 * channel has one client: docs/channel.md.
 *
 * Context:   thread, boot.
 * Locking:   none.
 * Ownership: none.
 */
#ifndef KERNEL_NINEP_H
#define KERNEL_NINEP_H

/* Listen on every channel that this machine has. After vfs_init(), once. */
void ninep_init(void);

#endif
