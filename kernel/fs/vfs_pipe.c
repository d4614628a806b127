/*
 * Pipes: one ring of bytes, two ends. See <kernel/vfs.h>.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include <kernel/vfs.h>

#define PIPE_ORDER 2
#define PIPE_BYTES (PAGE_SIZE << PIPE_ORDER)

struct pipe {
	struct mutex lock;
	uint8_t *ring;	       /* PIPE_BYTES; contents guarded by lock */
	_Atomic uint64_t head; /* bytes written so far */
	_Atomic uint64_t tail; /* bytes read so far */
	_Atomic uint32_t ends; /* the ends that are not closed yet */
	_Atomic bool has_reader;
	_Atomic bool has_writer;
	struct waitq readers;
	struct waitq writers;
};

static size_t pipe_used(const struct pipe *pipe)
{
	return atomic_load(&pipe->head) - atomic_load(&pipe->tail);
}

/* Is there room for the largest atomic write when `used` bytes are taken? */
static bool pipe_has_room(size_t used)
{
	return PIPE_BYTES - used >= PIPE_ATOMIC;
}

static bool pipe_can_read(void *arg)
{
	struct pipe *pipe = arg;

	return pipe_used(pipe) || !atomic_load(&pipe->has_writer);
}

static bool pipe_can_write(void *arg)
{
	struct pipe *pipe = arg;

	return pipe_has_room(pipe_used(pipe)) || !atomic_load(&pipe->has_reader);
}

/* Copy between the ring at `pos` and `buf`; the caller has made sure of room. */
static void pipe_ring_copy(struct pipe *pipe, uint64_t pos, uint8_t *buf, size_t len,
			   bool into_ring)
{
	while (len) {
		size_t offset = pos % PIPE_BYTES;
		size_t part = PIPE_BYTES - offset < len ? PIPE_BYTES - offset : len;

		if (into_ring)
			memcpy(pipe->ring + offset, buf, part);
		else
			memcpy(buf, pipe->ring + offset, part);
		pos += part;
		buf += part;
		len -= part;
	}
}

/* Take out at most `len` bytes. Returns how many; 0 when there are none now. */
static size_t pipe_take_bytes(struct pipe *pipe, void *buf, size_t len)
{
	size_t used;

	mutex_lock(&pipe->lock);
	used = pipe_used(pipe);
	if (len > used)
		len = used;
	pipe_ring_copy(pipe, atomic_load(&pipe->tail), buf, len, false);
	atomic_fetch_add(&pipe->tail, len);
	mutex_unlock(&pipe->lock);
	/* Waiting writers need room for an atomic write: wake them only by the read that makes it. */
	if (!pipe_has_room(used) && pipe_has_room(used - len))
		waitq_wake_all(&pipe->writers);
	return len;
}

/* Wait until `can` is true of the file's pipe. 0; -EINTR; -EAGAIN: the file is one that never waits. */
static int pipe_wait(struct file *file, struct waitq *queue, bool (*can)(void *))
{
	if (can(file->object))
		return 0;
	if (file->flags & VFS_NONBLOCK)
		return -EAGAIN;
	return waitq_wait(queue, can, file->object, true, WAIT_FOREVER);
}

static ssize_t pipe_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct pipe *pipe = file->object;

	(void)pos;
	while (len) {
		int err = pipe_wait(file, &pipe->readers, pipe_can_read);
		bool ended = !atomic_load(&pipe->has_writer);
		size_t got;

		if (err)
			return err;
		got = pipe_take_bytes(pipe, buf, len);
		if (got || ended)
			return (ssize_t)got;
	}
	return 0;
}

static bool pipe_is_readable(struct file *file)
{
	return pipe_can_read(file->object);
}

/* Put in all of `len` bytes, or none when there is no room for all. Returns how many. */
static size_t pipe_give_bytes(struct pipe *pipe, const uint8_t *buf, size_t len)
{
	size_t used;

	mutex_lock(&pipe->lock);
	used = pipe_used(pipe);
	if (PIPE_BYTES - used < len)
		len = 0;
	pipe_ring_copy(pipe, atomic_load(&pipe->head), (uint8_t *)(uintptr_t)buf, len, true);
	atomic_fetch_add(&pipe->head, len);
	mutex_unlock(&pipe->lock);
	if (!used && len)
		waitq_wake_all(&pipe->readers);
	return len;
}

static ssize_t pipe_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct pipe *pipe = file->object;
	size_t done = 0;

	(void)pos;
	while (done < len) {
		size_t part = len - done < PIPE_ATOMIC ? len - done : PIPE_ATOMIC;
		int err = pipe_wait(file, &pipe->writers, pipe_can_write);

		if (!atomic_load(&pipe->has_reader))
			err = -EPIPE;
		if (err)
			return done ? (ssize_t)done : err;
		done += pipe_give_bytes(pipe, (const uint8_t *)buf + done, part);
	}
	return (ssize_t)done;
}

static void pipe_free_pipe(struct pipe *pipe)
{
	free_pages(pipe->ring, PIPE_ORDER);
	kfree(pipe);
}

/*
 * The end that is closed last frees the pipe. As soon as this end is taken off `ends` the other may
 * free it, so nothing of the pipe is touched after that.
 */
static int pipe_close(struct file *file)
{
	struct pipe *pipe = file->object;

	atomic_store((file->flags & VFS_READ) ? &pipe->has_reader : &pipe->has_writer, false);
	waitq_wake_all(&pipe->readers);
	waitq_wake_all(&pipe->writers);
	if (atomic_fetch_sub(&pipe->ends, 1) == 1)
		pipe_free_pipe(pipe);
	return 0;
}

static uint32_t pipe_poll_read(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->object;
	bool has_writer;

	poll_wait(table, &pipe->readers);
	has_writer = atomic_load(&pipe->has_writer); /* first: the last bytes are seen, too */
	return (pipe_used(pipe) ? POLLIN : 0) | (has_writer ? 0 : POLLHUP);
}

static uint32_t pipe_poll_write(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->object;

	poll_wait(table, &pipe->writers);
	return (pipe_has_room(pipe_used(pipe)) ? POLLOUT : 0) |
	       (atomic_load(&pipe->has_reader) ? 0 : POLLERR);
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
	return file->ops == &pipe_read_ops || file->ops == &pipe_write_ops;
}

static struct pipe *pipe_create_pipe(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe));

	if (!pipe)
		return NULL;
	pipe->ring = alloc_pages(PIPE_ORDER);
	if (!pipe->ring) {
		kfree(pipe);
		return NULL;
	}
	atomic_init(&pipe->ends, 2);
	atomic_init(&pipe->has_reader, true);
	atomic_init(&pipe->has_writer, true);
	return pipe;
}

int pipe_create(struct file **out_read, struct file **out_write)
{
	struct pipe *pipe = pipe_create_pipe();

	if (!pipe)
		return -ENOMEM;
	*out_read = file_create(&pipe_read_ops, pipe, VFS_READ);
	*out_write = file_create(&pipe_write_ops, pipe, VFS_WRITE);
	if (*out_read && *out_write)
		return 0;
	kfree(*out_read);
	kfree(*out_write);
	*out_read = NULL;
	*out_write = NULL;
	pipe_free_pipe(pipe);
	return -ENOMEM;
}
