/*
 * Pipes, with a name (a FIFO, vfs_fifo.c) and without one (vfs_pipe.c): a ring of pages, readers and writers.
 *
 * Context: thread. Locking: inside. Ownership: the end that is closed last frees a pipe without a name; that of a FIFO
 * is its node's.
 */
#ifndef KERNEL_VFS_PIPE_H
#define KERNEL_VFS_PIPE_H

#include <kernel/lock.h>
#include <kernel/vfs.h>

struct pipe {
	struct mutex lock;
	void **pages; /* of the ring: NULL until something is written there; guarded by lock */
	_Atomic uint32_t size; /* bytes: a power of two, of pages; changes under lock */
	_Atomic uint64_t head; /* bytes written so far */
	_Atomic uint64_t tail; /* bytes read so far */
	_Atomic uint32_t ends; /* of a pipe without a name: those that are not closed yet */
	_Atomic uint32_t nr_readers, nr_writers;
	_Atomic uint32_t reader_opens, writer_opens; /* of a FIFO: how many there have been */
	void *node;				     /* that of a FIFO, not held; otherwise NULL */
	struct waitq readers;
	struct waitq writers;
};

/* A pipe with no end. NULL: no memory. */
struct pipe *pipe_alloc(void);
/* It has no end any more. NULL is allowed. */
void pipe_free(struct pipe *pipe);
/* Forget what was written. The lock is held, or there is no end. */
void pipe_drop_bytes(struct pipe *pipe);
void pipe_wake_all(struct pipe *pipe);
/* The object of the file is the pipe. Members of struct file_ops. */
ssize_t pipe_read(struct file *file, void *buf, size_t len, uint64_t *pos);
ssize_t pipe_write(struct file *file, const void *buf, size_t len, uint64_t *pos);
uint32_t pipe_poll_read(struct file *file, struct poll_table *table);
uint32_t pipe_poll_write(struct file *file, struct poll_table *table);
/* Would a read return at once? `pipe` is a struct pipe. */
bool pipe_can_read(void *pipe);

/*
 * Open the FIFO of a node: wait for the other side, as Linux does. 0, and the file has operations and object; -ENXIO: no reader,
 * and the file never waits; -EINTR. The caller holds the node for the file.
 */
int fifo_open(struct pipe *pipe, struct file *file);
extern const struct file_ops fifo_file_ops;

#endif
