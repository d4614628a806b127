/*
 * send(), recv() and their kinds, of the pairs of socket.c: as reads and writes, with flags for the one call. Descriptors
 * are passed by socket_parcel.c; there are no other messages beside the bytes.
 */
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include "socket.h"
#include "syscall.h"

#define EISCONN	  106
#define MSG_BYTES (1u << 20) /* of one call, at most */
#define MSG_IOV	  1024u
#define MSG_FEW	  8u /* places that need no memory */

enum {
	MSG_OOB = 1,
	MSG_PEEK = 2,
	MSG_DONTWAIT = 0x40,
	MSG_WAITALL = 0x100,
	MSG_NOSIGNAL = 0x4000,
	MSG_CMSG_CLOEXEC = 0x40000000
};

struct user_msghdr {
	void *name;
	int32_t namelen, pad;
	const struct user_iovec *iov;
	uint64_t iovlen;
	void *control;
	uint64_t controllen;
	int32_t flags, pad2;
};

/* Bytes of a program, for one call. */
struct socket_msg {
	struct user_iovec few[MSG_FEW], *places;
	size_t nr_places, bytes;
	int flags;
	struct parcel *parcel; /* to be sent, or that has come */
};

static unsigned int socket_msg_how(const struct socket_msg *msg)
{
	return (msg->flags & MSG_DONTWAIT ? PIPE_NOWAIT : 0) |
	       (msg->flags & MSG_PEEK ? PIPE_PEEK : 0);
}

/* Copy between the places and a buffer of the kernel. */
static int socket_msg_copy(const struct socket_msg *msg, char *buf, size_t bytes, bool is_write)
{
	for (size_t i = 0; i < msg->nr_places && bytes; i++) {
		const struct user_iovec *place = &msg->places[i];
		size_t part = place->len < bytes ? place->len : bytes;

		if (is_write ? copy_from_user(buf, place->base, part)
			     : copy_to_user(place->base, buf, part))
			return -EFAULT;
		buf += part;
		bytes -= part;
	}
	return 0;
}

static int socket_msg_check(struct socket_msg *msg)
{
	size_t bytes = 0;

	for (size_t i = 0; i < msg->nr_places; i++) {
		if (msg->places[i].len > INT64_MAX - bytes)
			return -EINVAL;
		if (!access_ok((uintptr_t)msg->places[i].base, msg->places[i].len))
			return -EFAULT;
		bytes += msg->places[i].len;
	}
	msg->bytes = bytes < MSG_BYTES ? bytes : MSG_BYTES;
	return msg->flags & MSG_OOB ? -EOPNOTSUPP : 0;
}

static ssize_t socket_send(const struct socket *sock, struct socket_msg *msg, char *buf)
{
	int err = socket_msg_copy(msg, buf, msg->bytes, true);
	struct parcel *parcel = msg->parcel;

	if (err)
		return err;
	msg->parcel = NULL; /* taken over */
	return parcel_send(sock, buf, msg->bytes, socket_msg_how(msg), parcel);
}

/* MSG_WAITALL: until all has come, or the end, or files. */
static ssize_t socket_receive(const struct socket *sock, struct socket_msg *msg, char *buf)
{
	bool waits = (msg->flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
	size_t done = 0;
	ssize_t got;

	do {
		got = parcel_receive(sock, buf + done, msg->bytes - done, socket_msg_how(msg),
				     &msg->parcel);
		if (got > 0)
			done += (size_t)got;
	} while (waits && got > 0 && done < msg->bytes && !msg->parcel);
	if (!done)
		return got;
	return socket_msg_copy(msg, buf, done, false) ? -EFAULT : (ssize_t)done;
}

/* Either, if the message is as it should be. */
static long socket_msg_run(int fd, struct socket_msg *msg, bool is_write)
{
	struct file *file;
	ssize_t result = socket_get(fd, &file);
	char *buf;

	if (result)
		return result;
	result = socket_msg_check(msg);
	buf = !result && msg->bytes ? kmalloc(msg->bytes) : NULL;
	if (!result && msg->bytes && !buf)
		result = -ENOMEM;
	if (buf)
		result = is_write ? socket_send(file->object, msg, buf)
				  : socket_receive(file->object, msg, buf);
	kfree(buf);
	fput(file);
	if (result == -EPIPE && !(msg->flags & MSG_NOSIGNAL))
		kill_self(SIGPIPE);
	return result == -EINTR ? -ERESTARTSYS : result;
}

/* The other side has no name that a message could be sent to. */
static long socket_msg_named(int fd)
{
	struct file *file;
	int err = socket_get(fd, &file);

	if (!err)
		fput(file);
	return err ? err : -EISCONN;
}

static long socket_msg_one(int fd, const struct user_iovec *place, int flags, bool is_write)
{
	struct socket_msg msg = { .few[0] = *place, .nr_places = 1, .flags = flags };
	long result;

	msg.places = msg.few;
	result = socket_msg_run(fd, &msg, is_write);
	parcel_free(msg.parcel);
	return result;
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_sendto(int fd, void *buff, size_t len, unsigned int flags, void *addr, int addr_len)
{
	const struct user_iovec place = { .base = buff, .len = len };

	if (addr && addr_len)
		return socket_msg_named(fd);
	return socket_msg_one(fd, &place, (int)flags, true);
}

/* The name of the sender is none, of 0 bytes. */
// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_recvfrom(int fd, void *ubuf, size_t size, unsigned int flags, void *addr, int *addr_len)
{
	const int none = 0;
	const struct user_iovec place = { .base = ubuf, .len = size };
	long got = socket_msg_one(fd, &place, (int)flags, false);

	if (got >= 0 && addr && addr_len && copy_to_user(addr_len, &none, sizeof(none)))
		return -EFAULT;
	return got;
}

static int socket_msg_read(const struct user_msghdr *from, struct user_msghdr *header,
			   struct socket_msg *msg)
{
	if (copy_from_user(header, from, sizeof(*header)))
		return -EFAULT;
	if (header->iovlen > MSG_IOV)
		return -EMSGSIZE;
	msg->nr_places = header->iovlen;
	msg->places = msg->few;
	if (header->iovlen > MSG_FEW)
		msg->places = kmalloc(header->iovlen * sizeof(*header->iov));
	if (!msg->places)
		return -ENOMEM;
	return copy_from_user(msg->places, header->iov, header->iovlen * sizeof(*header->iov))
		       ? -EFAULT
		       : 0;
}

static void socket_msg_end(struct socket_msg *msg)
{
	if (msg->places != msg->few)
		kfree(msg->places);
	parcel_free(msg->parcel);
}

static long socket_msg_send(int fd, struct socket_msg *msg, const struct user_msghdr *header)
{
	int err;

	if (header->name && header->namelen)
		return socket_msg_named(fd);
	err = parcel_read(header->control, header->controllen, &msg->parcel);
	return err ? err : socket_msg_run(fd, msg, true);
}

long sys_sendmsg(int fd, const void *umsg, unsigned int flags)
{
	struct socket_msg msg = { .flags = (int)flags };
	struct user_msghdr header;
	long result = socket_msg_read(umsg, &header, &msg);

	if (!result)
		result = socket_msg_send(fd, &msg, &header);
	socket_msg_end(&msg);
	return result;
}

/* Bytes that come have no name; files that come with them are given descriptors. */
static long socket_msg_receive(int fd, struct socket_msg *msg, struct user_msghdr *header)
{
	long got = socket_msg_run(fd, msg, false);

	if (got < 0)
		return got;
	header->namelen = 0;
	header->flags = msg->flags & MSG_CMSG_CLOEXEC;
	header->controllen = parcel_install(msg->parcel, header->control, header->controllen,
					    msg->flags & MSG_CMSG_CLOEXEC, &header->flags);
	return got;
}

long sys_recvmsg(int fd, void *umsg, unsigned int flags)
{
	struct socket_msg msg = { .flags = (int)flags };
	struct user_msghdr header;
	long got = socket_msg_read(umsg, &header, &msg);

	if (!got)
		got = socket_msg_receive(fd, &msg, &header);
	if (got >= 0 && copy_to_user(umsg, &header, sizeof(header)))
		got = -EFAULT;
	socket_msg_end(&msg);
	return got;
}
