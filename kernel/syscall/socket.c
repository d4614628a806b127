/*
 * Sockets: pairs that are connected from the start, by socketpair(AF_UNIX, SOCK_STREAM). There are no names and no
 * network. Each side is a file that is both ends of two pipes:
 *
 *     side 0  in  <----- pipe ----- out  side 1
 *             out ------ pipe ----> in
 *
 * A side that is closed closes both its ends: the other one reads what is left and then the end, and gets EPIPE when it writes.
 */
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/poll.h>
#include "socket.h"
#include "syscall.h"

/* Errors of sockets alone. */
#define EPROTONOSUPPORT 93
#define ESOCKTNOSUPPORT 94

#define AF_UNIX	    1
#define SOCK_STREAM 1
#define SOCK_MAX    11 /* kinds of sockets are below */
#define SOCK_FLAGS  (O_CLOEXEC | O_NONBLOCK)

static ssize_t socket_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct parcel *parcel;
	ssize_t got = parcel_receive(file->object, buf, len, 0, &parcel);

	(void)pos;
	parcel_free(parcel); /* read() takes the bytes alone */
	return got;
}

static ssize_t socket_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const struct socket *sock = file->object;

	(void)pos;
	return file_write(sock->out, buf, len);
}

static bool socket_is_readable(struct file *file)
{
	const struct socket *sock = file->object;

	return file_is_readable(sock->in);
}

/* An end can be read where nothing comes any more. It is hung up when nothing goes, too, which is no error. */
static uint32_t socket_poll(struct file *file, struct poll_table *table)
{
	const struct socket *sock = file->object;
	uint32_t in = sock->in->ops->poll(sock->in, table);
	uint32_t out = sock->out->ops->poll(sock->out, table);

	if (in & POLLHUP)
		in = POLLIN | (out & POLLERR ? POLLHUP : 0);
	return in | (out & POLLOUT);
}

static void socket_set_nonblock(struct file *file, bool on)
{
	const struct socket *sock = file->object;
	uint32_t flag = on ? VFS_NONBLOCK : 0;

	sock->in->flags = (sock->in->flags & ~VFS_NONBLOCK) | flag;
	sock->out->flags = (sock->out->flags & ~VFS_NONBLOCK) | flag;
}

static void socket_free(struct socket *sock)
{
	fput(sock->in);
	fput(sock->out);
	parcels_put(sock->parcels_in, true);
	parcels_put(sock->parcels_out, false);
	kfree(sock);
}

static int socket_close(struct file *file)
{
	socket_free(file->object);
	return 0;
}

static void socket_stat(struct file *file, struct vfs_stat *out_stat)
{
	(void)file;
	*out_stat = (struct vfs_stat){ .type = VFS_SOCKET, .mode = 0777 };
}

static const struct file_ops socket_ops = {
	.read = socket_read,
	.write = socket_write,
	.is_readable = socket_is_readable,
	.poll = socket_poll,
	.set_nonblock = socket_set_nonblock,
	.stat = socket_stat,
	.close = socket_close,
};

/* A side whose ends and lists these are from then on, if there are any; NULL when out of memory. */
static struct file *socket_create(const struct socket *with, bool nonblock)
{
	struct socket *sock = kzalloc(sizeof(*sock));
	struct file *file = NULL;

	if (!sock) {
		fput(with->in);
		fput(with->out);
		parcels_put(with->parcels_in, true);
		parcels_put(with->parcels_out, false);
		return NULL;
	}
	*sock = *with;
	if (sock->in && sock->out && sock->parcels_in && sock->parcels_out)
		file = file_create(&socket_ops, sock, VFS_READ | VFS_WRITE);
	if (!file) {
		socket_free(sock);
		return NULL;
	}
	file->flags |= nonblock ? VFS_NONBLOCK : 0;
	file_set_nonblock(file, nonblock);
	return file;
}

/* Both sides, or -ENOMEM. */
static int socket_create_pair(bool nonblock, struct file *sides[2])
{
	struct socket with[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		if (pipe_create(&with[i].in, &with[!i].out))
			with[i].in = with[!i].out = NULL;
		with[i].parcels_in = with[!i].parcels_out = parcels_create();
	}
	for (int i = 0; i < 2; i++)
		sides[i] = socket_create(&with[i], nonblock);
	if (sides[0] && sides[1])
		return 0;
	fput(sides[0]);
	fput(sides[1]);
	return -ENOMEM;
}

/* There is no network, and no socket has a name. */
long sys_socket(int family, int type, int protocol)
{
	(void)family;
	(void)type;
	(void)protocol;
	return -EAFNOSUPPORT;
}

static int socket_check_kind(int family, int type, int protocol)
{
	int kind = type & ~SOCK_FLAGS;

	if (kind < 0 || kind > 0xf)
		return -EINVAL;
	if (family != AF_UNIX)
		return -EAFNOSUPPORT;
	if (kind >= SOCK_MAX)
		return -EINVAL;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	return kind == SOCK_STREAM ? 0 : -ESOCKTNOSUPPORT;
}

long sys_socketpair(int family, int type, int protocol, int *usockvec)
{
	struct file *sides[2];
	int err = socket_check_kind(family, type, protocol);

	if (!err)
		err = socket_create_pair(type & O_NONBLOCK, sides);
	return err ? err : files_install_two(sides[0], sides[1], type & O_CLOEXEC, usockvec);
}

/* The other side has no name: its address is the family alone. */
static long socket_put_name(void *to, int *ulen)
{
	const uint16_t family = AF_UNIX;
	int len, all = sizeof(family);

	if (copy_from_user(&len, ulen, sizeof(len)))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (copy_to_user(to, &family, (size_t)(len < all ? len : all)) ||
	    copy_to_user(ulen, &all, sizeof(all)))
		return -EFAULT;
	return 0;
}

bool file_is_socket(const struct file *file)
{
	return file->ops == &socket_ops;
}

int socket_get(int fd, struct file **out_file)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)fd);

	*out_file = file;
	if (file && file_is_socket(file))
		return 0;
	fput(file);
	return file ? -ENOTSOCK : -EBADF;
}

long sys_getpeername(int fd, void *usockaddr, int *usockaddr_len)
{
	struct file *file;
	int err = socket_get(fd, &file);

	if (err)
		return err;
	fput(file);
	return socket_put_name(usockaddr, usockaddr_len);
}

enum {
	SHUT_RD,
	SHUT_WR,
	SHUT_RDWR
};

long sys_shutdown(int fd, int how)
{
	const struct socket *sock;
	struct file *file;
	int err = socket_get(fd, &file);

	if (err)
		return err;
	sock = file->object;
	if (how < SHUT_RD || how > SHUT_RDWR)
		err = -EINVAL;
	if (how == SHUT_RD || how == SHUT_RDWR)
		pipe_shut(sock->in);
	if (how == SHUT_WR || how == SHUT_RDWR)
		pipe_shut(sock->out);
	fput(file);
	return err;
}
