/*
 * Pipes: one ring of bytes, two ends. See <kernel/vfs.h> and vfs_pipe.h. Pages come with the first bytes that are written
 * to them, and stay until the pipe ends or is given another size.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include "vfs_pipe.h"

#define PIPE_BYTES (16 * PAGE_SIZE) /* as long as none asks for another size */

static size_t pipe_used(const struct pipe *pipe)
{
	return atomic_load(&pipe->head) - atomic_load(&pipe->tail);
}

/* Is there room for the largest atomic write when `used` bytes are taken? */
static bool pipe_has_room(const struct pipe *pipe, size_t used)
{
	return atomic_load(&pipe->size) >= used + PIPE_ATOMIC;
}

bool pipe_can_read(void *arg)
{
	struct pipe *pipe = arg;

	return pipe_used(pipe) || !atomic_load(&pipe->nr_writers);
}

static bool pipe_can_write(void *arg)
{
	struct pipe *pipe = arg;

	return pipe_has_room(pipe, pipe_used(pipe)) || !atomic_load(&pipe->nr_readers);
}

static void **pipe_page_at(struct pipe *pipe, uint64_t pos)
{
	return &pipe->pages[pos / PAGE_SIZE % (pipe->size / PAGE_SIZE)];
}

/* Copy between the ring at `pos` and `buf`; the caller has made sure of room and pages. */
static void pipe_ring_copy(struct pipe *pipe, uint64_t pos, uint8_t *buf, size_t len,
			   bool into_ring)
{
	while (len) {
		size_t offset = pos % PAGE_SIZE;
		size_t part = PAGE_SIZE - offset < len ? PAGE_SIZE - offset : len;
		uint8_t *ring = (uint8_t *)*pipe_page_at(pipe, pos) + offset;

		memcpy(into_ring ? ring : buf, into_ring ? buf : ring, part);
		pos += part;
		buf += part;
		len -= part;
	}
}

/* Make the pages of the ring for `len` bytes at its head. */
static bool pipe_make_pages(struct pipe *pipe, size_t len)
{
	uint64_t pos = atomic_load(&pipe->head), end = pos + len;

	for (; pos < end; pos = ALIGN_DOWN(pos, PAGE_SIZE) + PAGE_SIZE) {
		void **page = pipe_page_at(pipe, pos);

		if (!*page)
			*page = alloc_pages(0);
		if (!*page)
			return false;
	}
	return true;
}

/* Take out at most `len` bytes, or `peeks` at them. Returns how many; 0 when there are none now. */
static size_t pipe_take_bytes(struct pipe *pipe, void *buf, size_t len, bool peeks)
{
	size_t used;

	mutex_lock(&pipe->lock);
	used = pipe_used(pipe);
	if (len > used)
		len = used;
	pipe_ring_copy(pipe, atomic_load(&pipe->tail), buf, len, false);
	if (!peeks)
		atomic_fetch_add(&pipe->tail, len);
	mutex_unlock(&pipe->lock);
	/* Waiting writers need room for an atomic write: wake them only by the read that makes it. */
	if (!pipe_has_room(pipe, used) && pipe_has_room(pipe, used - len))
		waitq_wake_all(&pipe->writers);
	return len;
}

/* Wait until `can` is true of the end's pipe. 0; -EINTR; -EAGAIN: it is not to wait. */
static int pipe_wait(const struct file *end, unsigned int how, struct waitq *queue,
		     bool (*can)(void *))
{
	if (can(end->object))
		return 0;
	if (end->flags & VFS_NONBLOCK || how & PIPE_NOWAIT)
		return -EAGAIN;
	return waitq_wait(queue, can, end->object, true, WAIT_FOREVER);
}

ssize_t pipe_receive(const struct file *end, void *buf, size_t len, unsigned int how)
{
	struct pipe *pipe = end->object;

	while (len) {
		int err = pipe_wait(end, how, &pipe->readers, pipe_can_read);
		bool ended = !atomic_load(&pipe->nr_writers);
		size_t got;

		if (err)
			return err;
		got = pipe_take_bytes(pipe, buf, len, how & PIPE_PEEK);
		if (got || ended)
			return (ssize_t)got;
	}
	return 0;
}

ssize_t pipe_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)pos;
	return pipe_receive(file, buf, len, 0);
}

static bool pipe_is_readable(struct file *file)
{
	return pipe_can_read(file->object);
}

/* Put in all of `len` bytes, or none when there is no room for all. Returns how many; -ENOMEM. */
static ssize_t pipe_give_bytes(struct pipe *pipe, const uint8_t *buf, size_t len)
{
	size_t used;

	mutex_lock(&pipe->lock);
	used = pipe_used(pipe);
	if (pipe->size < used + len)
		len = 0;
	if (!pipe_make_pages(pipe, len)) {
		mutex_unlock(&pipe->lock);
		return -ENOMEM;
	}
	pipe_ring_copy(pipe, atomic_load(&pipe->head), (uint8_t *)(uintptr_t)buf, len, true);
	atomic_fetch_add(&pipe->head, len);
	mutex_unlock(&pipe->lock);
	if (!used && len)
		waitq_wake_all(&pipe->readers);
	return (ssize_t)len;
}

/*
 * The bytes that are put in at once, first of all: a long write fills the page that others have begun with what it has beyond
 * whole pages, as Linux does, and then page after page.
 */
static size_t pipe_first_part(const struct pipe *pipe, size_t len)
{
	size_t begun = atomic_load(&pipe->head) % PAGE_SIZE, odd = len % PAGE_SIZE;

	if (len <= PIPE_ATOMIC)
		return len;
	return begun && odd && begun + odd <= PAGE_SIZE ? odd : PIPE_ATOMIC;
}

ssize_t pipe_send(const struct file *end, const void *buf, size_t len, unsigned int how)
{
	struct pipe *pipe = end->object;
	size_t done = 0, part = pipe_first_part(pipe, len);

	while (done < len) {
		ssize_t put = -EPIPE;

		if (atomic_load(&pipe->nr_readers))
			put = pipe_give_bytes(pipe, (const uint8_t *)buf + done, part);
		if (!put)
			put = pipe_wait(end, how, &pipe->writers, pipe_can_write);
		if (put < 0)
			return done ? (ssize_t)done : put;
		done += (size_t)put;
		if (put)
			part = len - done < PIPE_ATOMIC ? len - done : PIPE_ATOMIC;
	}
	return (ssize_t)done;
}

ssize_t pipe_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	(void)pos;
	return pipe_send(file, buf, len, 0);
}

static void pipe_free_pages(void **pages, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free_pages(pages[i], 0);
	kfree(pages);
}

void pipe_free(struct pipe *pipe)
{
	if (!pipe)
		return;
	pipe_free_pages(pipe->pages, pipe->size / PAGE_SIZE);
	kfree(pipe);
}

void pipe_drop_bytes(struct pipe *pipe)
{
	atomic_store(&pipe->tail, atomic_load(&pipe->head));
	for (size_t i = 0; i < pipe->size / PAGE_SIZE; i++) {
		free_pages(pipe->pages[i], 0);
		pipe->pages[i] = NULL;
	}
}

void pipe_wake_all(struct pipe *pipe)
{
	waitq_wake_all(&pipe->readers);
	waitq_wake_all(&pipe->writers);
}

uint64_t pipe_position(const struct file *end)
{
	const struct pipe *pipe = end->object;

	return atomic_load(end->flags & VFS_READ ? &pipe->tail : &pipe->head);
}

void pipe_shut(const struct file *end)
{
	struct pipe *pipe = end->object;

	atomic_store(&pipe->nr_readers, 0);
	atomic_store(&pipe->nr_writers, 0);
	pipe_wake_all(pipe);
}

/*
 * The end that is closed last frees the pipe. As soon as this end is taken off `ends` the other may
 * free it, so nothing of the pipe is touched after that.
 */
static int pipe_close(struct file *file)
{
	struct pipe *pipe = file->object;

	atomic_store((file->flags & VFS_READ) ? &pipe->nr_readers : &pipe->nr_writers, 0);
	pipe_wake_all(pipe);
	if (atomic_fetch_sub(&pipe->ends, 1) == 1)
		pipe_free(pipe);
	return 0;
}

uint32_t pipe_poll_read(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->object;
	bool has_writer;

	poll_wait(table, &pipe->readers);
	has_writer = atomic_load(&pipe->nr_writers); /* first: the last bytes are seen, too */
	return (pipe_used(pipe) ? POLLIN : 0) | (has_writer ? 0 : POLLHUP);
}

uint32_t pipe_poll_write(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->object;

	poll_wait(table, &pipe->writers);
	return (pipe_has_room(pipe, pipe_used(pipe)) ? POLLOUT : 0) |
	       (atomic_load(&pipe->nr_readers) ? 0 : POLLERR);
}

static const struct file_ops pipe_read_ops = {
	.read = pipe_read,
	.is_readable = pipe_is_readable,
	.poll = pipe_poll_read,
	.close = pipe_close,
};

static const struct file_ops pipe_write_ops = {
	.write = pipe_write,
	.poll = pipe_poll_write,
	.close = pipe_close,
};

bool file_is_pipe(const struct file *file)
{
	return file->ops == &pipe_read_ops || file->ops == &pipe_write_ops ||
	       file->ops == &fifo_file_ops;
}

size_t pipe_size(const struct file *file)
{
	const struct pipe *pipe = file->object;

	return atomic_load(&pipe->size);
}

/* Copies of the bytes in the ring, in the pages of another that has room for them. 0 or -ENOMEM. */
static int pipe_copy_ring(struct pipe *pipe, void **pages, size_t nr)
{
	uint64_t pos = atomic_load(&pipe->tail), end = atomic_load(&pipe->head);

	while (pos < end) {
		size_t offset = pos % PAGE_SIZE, part = PAGE_SIZE - offset;
		void **page = &pages[pos / PAGE_SIZE % nr];

		if (part > end - pos)
			part = end - pos;
		if (!*page)
			*page = alloc_pages(0);
		if (!*page)
			return -ENOMEM;
		pipe_ring_copy(pipe, pos, (uint8_t *)*page + offset, part, false);
		pos += part;
	}
	return 0;
}

int pipe_set_size(struct file *file, size_t size)
{
	struct pipe *pipe = file->object;
	size_t nr = size / PAGE_SIZE, old_nr;
	void **pages = kzalloc(nr * sizeof(*pages)), **old = pages;
	int err = -ENOMEM;

	if (!pages)
		return err;
	mutex_lock(&pipe->lock);
	old_nr = nr;
	err = pipe_used(pipe) > size ? -EBUSY : pipe_copy_ring(pipe, pages, nr);
	if (!err) {
		old = pipe->pages;
		old_nr = pipe->size / PAGE_SIZE;
		pipe->pages = pages;
		atomic_store(&pipe->size, (uint32_t)size);
	}
	mutex_unlock(&pipe->lock);
	pipe_free_pages(old, old_nr);
	pipe_wake_all(pipe);
	return err;
}

struct pipe *pipe_alloc(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe));

	if (!pipe)
		return NULL;
	pipe->pages = kzalloc(PIPE_BYTES / PAGE_SIZE * sizeof(*pipe->pages));
	if (!pipe->pages) {
		kfree(pipe);
		return NULL;
	}
	atomic_init(&pipe->size, PIPE_BYTES);
	return pipe;
}

int pipe_create(struct file **out_read, struct file **out_write)
{
	struct pipe *pipe = pipe_alloc();

	if (!pipe || !pipe_make_pages(pipe, 1)) { /* a first short write finds its memory */
		pipe_free(pipe);
		return -ENOMEM;
	}
	atomic_init(&pipe->ends, 2);
	atomic_init(&pipe->nr_readers, 1);
	atomic_init(&pipe->nr_writers, 1);
	*out_read = file_create(&pipe_read_ops, pipe, VFS_READ);
	*out_write = file_create(&pipe_write_ops, pipe, VFS_WRITE);
	if (*out_read && *out_write)
		return 0;
	kfree(*out_read);
	kfree(*out_write);
	*out_read = NULL;
	*out_write = NULL;
	pipe_free(pipe);
	return -ENOMEM;
}
