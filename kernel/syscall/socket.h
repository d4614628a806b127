/*
 * Pairs of sockets, and the files that are passed through them (SCM_RIGHTS).
 *
 *     side 0  in  <----- pipe, parcels ----- out  side 1
 *             out ------ pipe, parcels ----> in
 *
 * A parcel is some files that go with a range of the bytes of a pipe: who reads the first of these gets the files, and no
 * bytes behind the range with them. Each way has a list of them, which both sides hold.
 *
 * Context:   thread of a program.
 * Locking:   the lock of struct parcels.
 * Ownership: a parcel holds its files; a list has a use for each side.
 */
#ifndef KERNEL_SYSCALL_SOCKET_H
#define KERNEL_SYSCALL_SOCKET_H

#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/vfs.h>

#define PARCEL_FILES_MAX 253u /* as SCM_MAX_FD of Linux */

struct parcel {
	struct list link;
	uint64_t start, end; /* the range, as pipe_position() counts */
	uint32_t nr;
	struct file *files[];
};

struct parcels {
	struct mutex lock;
	struct list list; /* struct parcel, oldest first */
	uint32_t uses;
};

/* socket.c. A side of a pair: the object of its file. */
struct socket {
	struct file *in, *out; /* ends of pipes, its own */
	struct parcels *parcels_in, *parcels_out;
};
/* The file of a descriptor that is a socket, with a reference. 0, -EBADF or -ENOTSOCK. */
int socket_get(int fd, struct file **out_file);
bool file_is_socket(const struct file *file);

/* socket_parcel.c. With two uses; NULL when out of memory. */
struct parcels *parcels_create(void);
/* One use less. `reads`: of the side that would have taken what is left, which goes. NULL is allowed. */
void parcels_put(struct parcels *parcels, bool reads);
/*
 * The files of a message to be sent, from the control bytes of its header; *out_parcel is NULL without any. 0; -EINVAL: the bytes make no
 * sense, or a file is a socket itself; -EBADF, -ENOMEM, -EFAULT.
 */
int parcel_read(const void *control, size_t len, struct parcel **out_parcel);
/* To be freed, with the files that are left in it; NULL is allowed. */
void parcel_free(struct parcel *parcel);
/* Send bytes, with or without a parcel, which is taken over. As pipe_send(). */
ssize_t parcel_send(const struct socket *sock, const void *buf, size_t len, unsigned int how,
		    struct parcel *parcel);
/* Receive bytes, and the parcel that goes with them, or NULL. As pipe_receive(); with PIPE_PEEK a parcel stays. */
ssize_t parcel_receive(const struct socket *sock, void *buf, size_t len, unsigned int how,
		       struct parcel **out_parcel);
/*
 * Give the files of a parcel, or NULL, descriptors, as many as there is room for at `control`. The bytes written there, and MSG_CTRUNC in
 * *out_flags if files were left out.
 */
size_t parcel_install(struct parcel *parcel, void *control, size_t len, bool cloexec,
		      int *out_flags);

#endif
