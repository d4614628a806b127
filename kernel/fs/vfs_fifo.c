/*
 * FIFOs: pipes with a name in the tree in memory. Each opening is an end, for reading, writing or both; an opening for one
 * of them waits until there is one for the other. See vfs_pipe.h.
 */
#include <stdatomic.h>
#include <kernel/poll.h>
#include "vfs_mount.h"
#include "vfs_pipe.h"
#include "vfs_ram.h"
#include "vfs_walk.h"

/* An opening that waits for one of the other side. */
struct fifo_wait {
	struct waitq *queue;
	const _Atomic uint32_t *opens; /* of the other side */
	uint32_t opens_before;
	bool is_early; /* there was no end of the other side */
	bool waits;    /* for one */
};

/* One that has left again by now counts, too. */
static bool fifo_has_partner(void *arg)
{
	const struct fifo_wait *wait = arg;

	return !wait->waits || atomic_load(wait->opens) != wait->opens_before;
}

static void fifo_prepare_wait(struct pipe *pipe, uint32_t flags, struct fifo_wait *wait)
{
	bool reads = flags & VFS_READ;

	wait->queue = reads ? &pipe->readers : &pipe->writers;
	wait->opens = reads ? &pipe->writer_opens : &pipe->reader_opens;
	wait->opens_before = atomic_load(wait->opens);
	wait->is_early = !atomic_load(reads ? &pipe->nr_writers : &pipe->nr_readers);
	wait->waits = wait->is_early && !(flags & VFS_NONBLOCK);
}

/* The opening counts, unless there is no reader for one that never waits. */
static int fifo_enter(struct pipe *pipe, uint32_t flags, struct fifo_wait *wait)
{
	int err = 0;

	mutex_lock(&pipe->lock);
	if (flags & VFS_NONBLOCK && !(flags & VFS_READ) && !atomic_load(&pipe->nr_readers)) {
		err = -ENXIO;
	} else {
		atomic_fetch_add(&pipe->nr_readers, flags & VFS_READ ? 1 : 0);
		atomic_fetch_add(&pipe->reader_opens, flags & VFS_READ ? 1 : 0);
		atomic_fetch_add(&pipe->nr_writers, flags & VFS_WRITE ? 1 : 0);
		atomic_fetch_add(&pipe->writer_opens, flags & VFS_WRITE ? 1 : 0);
		fifo_prepare_wait(pipe, flags, wait);
	}
	mutex_unlock(&pipe->lock);
	pipe_wake_all(pipe);
	return err;
}

/* When the last one leaves, so does all that was not read. */
static void fifo_leave(struct pipe *pipe, uint32_t flags)
{
	mutex_lock(&pipe->lock);
	atomic_fetch_sub(&pipe->nr_readers, flags & VFS_READ ? 1 : 0);
	atomic_fetch_sub(&pipe->nr_writers, flags & VFS_WRITE ? 1 : 0);
	if (!atomic_load(&pipe->nr_readers) && !atomic_load(&pipe->nr_writers))
		pipe_drop_bytes(pipe);
	mutex_unlock(&pipe->lock);
	pipe_wake_all(pipe);
}

int fifo_open(struct pipe *pipe, struct file *file)
{
	struct fifo_wait wait;
	int err = fifo_enter(pipe, file->flags, &wait);

	if (err)
		return err;
	file->ops = &fifo_file_ops;
	file->object = pipe;
	file->pos = wait.is_early ? wait.opens_before : 0;
	err = waitq_wait(wait.queue, fifo_has_partner, &wait, true, WAIT_FOREVER);
	if (err)
		fifo_leave(pipe, file->flags);
	return err;
}

static bool fifo_is_readable(struct file *file)
{
	return file->flags & VFS_READ && pipe_can_read(file->object);
}

/* For a reader that was there before all writers, they have not gone before one has come; file->pos is their number then. */
static uint32_t fifo_poll(struct file *file, struct poll_table *table)
{
	const struct pipe *pipe = file->object;
	uint32_t events = 0;

	if (file->flags & VFS_READ)
		events = pipe_poll_read(file, table);
	if (atomic_load(&pipe->writer_opens) == file->pos)
		events &= ~POLLHUP;
	return events | (file->flags & VFS_WRITE ? pipe_poll_write(file, table) : 0);
}

static void fifo_stat(struct file *file, struct vfs_stat *out_stat)
{
	const struct pipe *pipe = file->object;
	const struct place place = { .fs = &vfs_ram_fs, .node = pipe->node };

	place_stat(&place, out_stat);
}

static int fifo_set_attr(struct file *file, unsigned int which, const struct vfs_stat *to)
{
	const struct pipe *pipe = file->object;

	return ram_set_attr(pipe->node, which, to);
}

static int fifo_close(struct file *file)
{
	struct pipe *pipe = file->object;

	fifo_leave(pipe, file->flags);
	ram_put(pipe->node);
	return 0;
}

const struct file_ops fifo_file_ops = {
	.read = pipe_read,
	.write = pipe_write,
	.is_readable = fifo_is_readable,
	.poll = fifo_poll,
	.stat = fifo_stat,
	.set_attr = fifo_set_attr,
	.close = fifo_close,
};
