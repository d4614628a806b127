/*
 * Pipes: bytes written to one end are read at the other. A write sleeps while the buffer is full and gives -EPIPE when no
 * reader is left; a read sleeps while it is empty and gives 0 when no writer is left. A write of up to PIPE_ATOMIC bytes is not
 * mixed with others.
 *
 * Context: thread. Locking: inside. Ownership: each end is a file; the one that is closed last frees the pipe.
 */
#ifndef KERNEL_PIPE_H
#define KERNEL_PIPE_H

#include <kernel/vfs.h>

#define PIPE_ATOMIC 4096u
int pipe_create(struct file **out_read, struct file **out_write);
/* As reads and writes of an end, which wait as its flags say; PIPE_NOWAIT: not at all. PIPE_PEEK: what is read stays. */
#define PIPE_NOWAIT 1u
#define PIPE_PEEK   2u
ssize_t pipe_receive(const struct file *end, void *buf, size_t len, unsigned int how);
ssize_t pipe_send(const struct file *end, const void *buf, size_t len, unsigned int how);
/* Bytes that have gone through this end so far. */
uint64_t pipe_position(const struct file *end);
/* To be called of either end: writes give -EPIPE from now on, and reads what is left and then the end. */
void pipe_shut(const struct file *end);
bool file_is_pipe(const struct file *file);
/* The bytes that a pipe has room for, and another number of them, a power of two, of pages. 0; -EBUSY: it has more; -ENOMEM. */
size_t pipe_size(const struct file *file);
int pipe_set_size(struct file *file, size_t size);

#endif
