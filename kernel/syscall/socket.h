/*
 * A side of a pair of sockets, see socket.c.
 *
 * Context: thread of a program. Locking: that of pipes. Ownership: a side holds its two ends.
 */
#ifndef KERNEL_SYSCALL_SOCKET_H
#define KERNEL_SYSCALL_SOCKET_H

#include <kernel/vfs.h>

struct socket {
	struct file *in, *out; /* ends of pipes, its own */
};

/* The file of a descriptor that is a socket, with a reference; its object is a struct socket. 0, -EBADF or -ENOTSOCK. */
int socket_get(int fd, struct file **out_file);

#endif
