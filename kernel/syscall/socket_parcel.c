/* Files that are passed through pairs of sockets: see socket.h. */
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include "socket.h"
#include "syscall.h"

enum {
	SOL_SOCKET = 1,
	SCM_RIGHTS = 1,
	MSG_CTRUNC = 8
};

/* The head of each message in control bytes; those of a message begin and end at words. */
struct user_cmsghdr {
	uint64_t len; /* with this head */
	int32_t level, type;
};
#define CMSG_ALIGN(len) ALIGN_UP(len, sizeof(uint64_t))

struct parcels *parcels_create(void)
{
	struct parcels *parcels = kzalloc(sizeof(*parcels));

	if (!parcels)
		return NULL;
	list_init(&parcels->list);
	parcels->uses = 2;
	return parcels;
}

void parcel_free(struct parcel *parcel)
{
	for (uint32_t i = 0; parcel && i < parcel->nr; i++)
		fput(parcel->files[i]);
	kfree(parcel);
}

/* Parcels that nothing will take any more go. Lock held. */
static void parcels_drop(struct parcels *parcels)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &parcels->list)
		parcel_free(list_entry(pos, struct parcel, link));
	list_init(&parcels->list);
}

void parcels_put(struct parcels *parcels, bool reads)
{
	bool is_last;

	if (!parcels)
		return;
	mutex_lock(&parcels->lock);
	is_last = !--parcels->uses;
	if (reads || is_last)
		parcels_drop(parcels);
	mutex_unlock(&parcels->lock);
	if (is_last)
		kfree(parcels);
}

/* ---- From and to control bytes ---- */

/* A socket in a parcel of its own pair would never be closed, and nothing looks for such rings. */
static int parcel_add(struct parcel *parcel, int fd)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)fd);

	if (!file)
		return -EBADF;
	parcel->files[parcel->nr++] = file;
	return file_is_socket(file) ? -EINVAL : 0;
}

static int parcel_read_files(const void *from, size_t nr, struct parcel *parcel)
{
	int err = 0, fd;

	if (parcel->nr + nr > PARCEL_FILES_MAX)
		return -EINVAL;
	for (size_t i = 0; i < nr && !err; i++) {
		err = copy_from_user(&fd, (const int *)from + i, sizeof(fd)) ? -EFAULT : 0;
		if (!err)
			err = parcel_add(parcel, fd);
	}
	return err;
}

static int parcel_read_all(const char *control, size_t len, struct parcel *parcel)
{
	struct user_cmsghdr head;
	int err = 0;

	for (size_t at = 0; at + sizeof(head) <= len && !err; at += CMSG_ALIGN(head.len)) {
		if (copy_from_user(&head, control + at, sizeof(head)))
			return -EFAULT;
		if (head.len < sizeof(head) || head.len > len - at ||
		    (head.level == SOL_SOCKET && head.type != SCM_RIGHTS))
			return -EINVAL;
		if (head.level == SOL_SOCKET)
			err = parcel_read_files(control + at + sizeof(head),
						(head.len - sizeof(head)) / sizeof(int), parcel);
	}
	return err;
}

int parcel_read(const void *control, size_t len, struct parcel **out_parcel)
{
	struct parcel *parcel = NULL;
	int err;

	*out_parcel = NULL;
	if (!control || len < sizeof(struct user_cmsghdr))
		return 0;
	parcel = kzalloc(sizeof(*parcel) + PARCEL_FILES_MAX * sizeof(struct file *));
	if (!parcel)
		return -ENOMEM;
	err = parcel_read_all(control, len, parcel);
	if (err || !parcel->nr) {
		parcel_free(parcel);
		return err;
	}
	*out_parcel = parcel;
	return 0;
}

/* The next descriptor is written to `to`. The file is the parcel's no more, if there is a descriptor for it. */
static int parcel_install_one(struct parcel *parcel, int *to, bool cloexec)
{
	int fd = files_install(current_process()->files, get_file(parcel->files[parcel->nr - 1]), 0,
			       cloexec);

	if (fd < 0 || !copy_to_user(to, &fd, sizeof(fd)))
		return fd < 0 ? fd : 0;
	files_close(current_process()->files, (unsigned int)fd);
	return -EFAULT;
}

static void parcel_reverse(struct parcel *parcel)
{
	for (uint32_t i = 0; i < parcel->nr / 2; i++) {
		struct file *file = parcel->files[i];

		parcel->files[i] = parcel->files[parcel->nr - 1 - i];
		parcel->files[parcel->nr - 1 - i] = file;
	}
}

size_t parcel_install(struct parcel *parcel, void *control, size_t len, bool cloexec,
		      int *out_flags)
{
	struct user_cmsghdr head = { .level = SOL_SOCKET, .type = SCM_RIGHTS };
	size_t room = len > sizeof(head) ? (len - sizeof(head)) / sizeof(int) : 0, nr = 0;
	int *to = (int *)((char *)control + sizeof(head)), err = 0;

	if (!parcel)
		return 0;
	parcel_reverse(parcel);
	while (control && parcel->nr && nr < room && !err) {
		err = parcel_install_one(parcel, to + nr, cloexec);
		if (!err) {
			fput(parcel->files[--parcel->nr]);
			nr++;
		}
	}
	*out_flags |= parcel->nr ? MSG_CTRUNC : 0;
	head.len = sizeof(head) + nr * sizeof(int);
	if (!nr || copy_to_user(control, &head, sizeof(head)))
		return 0;
	return CMSG_ALIGN(head.len) < len ? CMSG_ALIGN(head.len) : len;
}

/* ---- Through the pipe ---- */

/* Nothing was sent: the parcel goes, unless it was taken with bytes of another sender. */
static void parcel_take_back(struct parcels *parcels, struct parcel *parcel)
{
	bool is_there = false;
	struct list *pos;

	mutex_lock(&parcels->lock);
	list_for_each(pos, &parcels->list)
		is_there |= pos == &parcel->link;
	if (is_there)
		list_remove(&parcel->link);
	mutex_unlock(&parcels->lock);
	if (is_there)
		parcel_free(parcel);
}

ssize_t parcel_send(const struct socket *sock, const void *buf, size_t len, unsigned int how,
		    struct parcel *parcel)
{
	ssize_t put;

	if (!parcel || !len) {
		parcel_free(parcel);
		return pipe_send(sock->out, buf, len, how);
	}
	mutex_lock(&sock->parcels_out->lock);
	parcel->start = pipe_position(sock->out);
	parcel->end = parcel->start + len;
	list_add_tail(&sock->parcels_out->list, &parcel->link);
	mutex_unlock(&sock->parcels_out->lock);
	put = pipe_send(sock->out, buf, len, how);
	if (put <= 0)
		parcel_take_back(sock->parcels_out, parcel);
	return put;
}

/* Bytes that are there now, up to the end of the first parcel's range. */
static ssize_t parcel_receive_now(const struct socket *sock, void *buf, size_t len,
				  unsigned int how, struct parcel **out_parcel)
{
	struct parcels *parcels = sock->parcels_in;
	struct parcel *first = NULL;
	uint64_t from;
	ssize_t got;

	mutex_lock(&parcels->lock);
	from = pipe_position(sock->in);
	if (!list_empty(&parcels->list))
		first = list_entry(parcels->list.next, struct parcel, link);
	if (first && first->end > from && first->end - from < len)
		len = first->end - from;
	got = pipe_receive(sock->in, buf, len, how | PIPE_NOWAIT);
	if (first && got > 0 && from + (uint64_t)got > first->start && !(how & PIPE_PEEK)) {
		list_remove(&first->link);
		*out_parcel = first;
	}
	mutex_unlock(&parcels->lock);
	return got;
}

ssize_t parcel_receive(const struct socket *sock, void *buf, size_t len, unsigned int how,
		       struct parcel **out_parcel)
{
	ssize_t got;
	char byte;

	*out_parcel = NULL;
	do {
		got = parcel_receive_now(sock, buf, len, how, out_parcel);
		if (got != -EAGAIN)
			return got;
		got = pipe_receive(sock->in, &byte, 1, how | PIPE_PEEK);
	} while (got >= 0);
	return got;
}
