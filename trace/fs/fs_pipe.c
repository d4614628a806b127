/*
 * trace_pipe and trace_pipe_raw: reading that consumes and waits. See fs_file.h.
 *
 * End of file is returned when something was read, nothing is left and tracing is off. A reader
 * that has read nothing yet goes on waiting, because it may have come before tracing is switched
 * on.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "print/iter.h"
#include "print/output.h"
#include "text/str.h"

/* ---- trace_pipe: one for each CPU, or one for all of them ---- */

static bool is_mine(const struct trace_handle *handle, uint32_t cpu)
{
	int own = trace_handle_cpu(handle);

	return own == RING_BUFFER_ALL_CPUS || (uint32_t)own == cpu;
}

/* Config lock held. */
static bool fs_pipe_is_taken(const struct trace_handle *handle)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (is_mine(handle, cpu) && handle->tr->cpus[cpu].is_piped)
			return true;
	}
	return false;
}

static void set_piped(struct trace_array_cpu *cpu, bool taken)
{
	if (taken)
		cpu->piped_by = trace_plat_current_pid();
	__atomic_store_n(&cpu->is_piped, taken, __ATOMIC_RELAXED);
}

static void fs_pipe_mark(struct trace_handle *handle, bool taken)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (is_mine(handle, cpu))
			set_piped(&handle->tr->cpus[cpu], taken);
	}
	handle->tr->nr_pipes += taken ? 1u : -1u;
}

static int pipe_open(struct trace_handle *handle)
{
	int err = 0;

	if (!(handle->flags & TRACE_FS_READ))
		return 0;
	trace_plat_lock(&trace_config_lock);
	if (fs_pipe_is_taken(handle)) {
		err = -EBUSY;
		goto unlock;
	}
	handle->private =
		trace_iter_open(handle->tr, trace_handle_cpu(handle), TRACE_ITER_CONSUMING);
	if (handle->private)
		fs_pipe_mark(handle, true);
	else
		err = -ENOMEM;
unlock:
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int pipe_close(struct trace_handle *handle)
{
	if (!handle->private)
		return 0;
	trace_plat_lock(&trace_config_lock);
	fs_pipe_mark(handle, false);
	trace_iter_close(handle->private);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static bool is_over(const struct trace_handle *handle)
{
	return handle->position && !ring_buffer_record_is_set_on(handle->tr->buffer);
}

static bool is_empty(const struct trace_handle *handle)
{
	int cpu = trace_handle_cpu(handle);

	if (cpu == RING_BUFFER_ALL_CPUS)
		return ring_buffer_empty(handle->tr->buffer);
	return ring_buffer_empty_cpu(handle->tr->buffer, (uint32_t)cpu);
}

static bool is_ready(void *arg)
{
	const struct trace_handle *handle = arg;

	return !is_empty(handle) || is_over(handle) || handle->is_cancelled;
}

/*
 * As on Linux: with the option block each pipe is always ready, and the read waits; buffer_percent
 * counts for the pipe of one CPU only, others are ready at any event.
 */
static bool pipe_poll(struct trace_handle *handle)
{
	int cpu = trace_handle_cpu(handle);
	bool is_filled;

	if (handle->tr->options & TRACE_OPT_BIT(TRACE_OPT_BLOCK))
		return true;
	if (cpu == RING_BUFFER_ALL_CPUS || is_over(handle))
		return is_ready(handle);
	is_filled = ring_buffer_is_filled(handle->tr->buffer, (uint32_t)cpu,
					  handle->tr->buffer_percent);
	handle->tr->cpus[cpu].polled_ns = is_filled ? 0 : trace_plat_clock_ns();
	return is_filled;
}

/* 1: there is something to read, 0: there will be nothing more, or -errno. */
static int wait_for_events(struct trace_handle *handle)
{
	int err;

	if (!is_ready(handle)) {
		if (handle->flags & TRACE_FS_NONBLOCK)
			return -EAGAIN;
		err = trace_plat_wait(&handle->tr->pipe_wait, is_ready, handle);
		if (err)
			return err;
	}
	if (!is_empty(handle))
		return 1;
	return handle->is_cancelled && !is_over(handle) ? -EINTR : 0;
}

/* Print the next event if there is one. */
static bool print_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_iter *iter = handle->private;
	bool found;

	trace_plat_lock(&handle->tr->read_lock);
	found = trace_iter_next(iter);
	if (found) {
		trace_handle_make_room(handle, iter->event.len);
		trace_print_line(iter, seq);
	}
	trace_plat_unlock(&handle->tr->read_lock);
	return found;
}

static int pipe_next(struct trace_handle *handle, struct trace_seq *seq)
{
	int more;

	while (!print_next(handle, seq)) {
		if (handle->given)
			return 0; /* a read that has something does not wait for more */
		more = wait_for_events(handle);
		if (more <= 0)
			return more;
	}
	return 1;
}

/* ---- trace_pipe_raw, and code shared with snapshot_raw: sub-buffers as they are ---- */

struct raw_reader {
	size_t taken;		/* bytes of the page that were read */
	size_t bytes;		/* bytes in the page; 0 before the first one */
	struct ring_page *page; /* NULL before the first one */
	size_t page_bytes;
};

int trace_raw_open(struct trace_handle *handle)
{
	handle->private = trace_plat_alloc(sizeof(struct raw_reader));
	return handle->private ? 0 : -ENOMEM;
}

static void free_page(struct raw_reader *reader)
{
	if (reader->page)
		trace_plat_free(reader->page, reader->page_bytes);
	reader->page = NULL;
}

int trace_raw_close(struct trace_handle *handle)
{
	free_page(handle->private);
	trace_plat_free(handle->private, sizeof(struct raw_reader));
	return 0;
}

/* Make reader->page as large as sub-buffers are now; their size may have changed. 0 or -ENOMEM. */
static int get_page(struct raw_reader *reader, size_t bytes)
{
	if (reader->page && reader->page_bytes == bytes)
		return 0;
	free_page(reader);
	reader->page = trace_plat_alloc(bytes);
	reader->page_bytes = bytes;
	return reader->page ? 0 : -ENOMEM;
}

/* 0, -EAGAIN: there is nothing, -ENOMEM. */
static int read_page(struct trace_handle *handle, trace_raw_buffer_fn buffer_of)
{
	struct raw_reader *reader = handle->private;
	uint32_t cpu = (uint32_t)trace_handle_cpu(handle);
	struct ring_buffer *buffer;
	int err = -EAGAIN;

	trace_plat_lock(&handle->tr->read_lock); /* the size of sub-buffers stays */
	buffer = buffer_of(handle->tr);
	if (buffer)
		err = get_page(reader, ring_buffer_subbuf_size(buffer));
	if (buffer && !err)
		err = ring_buffer_read_page(buffer, cpu, false, reader->page);
	trace_plat_unlock(&handle->tr->read_lock);
	reader->taken = 0;
	reader->bytes = err ? 0 : reader->page_bytes;
	return err;
}

int64_t trace_raw_read(struct trace_handle *handle, trace_raw_buffer_fn buffer_of, char *buf,
		       size_t len)
{
	struct raw_reader *reader = handle->private;
	int err;

	if (!len)
		return 0;
	if (reader->taken == reader->bytes) {
		err = read_page(handle, buffer_of);
		if (err)
			return err;
	}
	if (len > reader->bytes - reader->taken)
		len = reader->bytes - reader->taken;
	memcpy(buf, (const char *)reader->page + reader->taken, len);
	reader->taken += len;
	return (int64_t)len;
}

static struct ring_buffer *recorded_into(const struct trace_array *tr)
{
	return tr->buffer;
}

static int64_t pipe_raw_read(struct trace_handle *handle, char *buf, size_t len)
{
	int64_t got;
	int more;

	while ((got = trace_raw_read(handle, recorded_into, buf, len)) == -EAGAIN) {
		more = wait_for_events(handle);
		if (more <= 0)
			return more;
	}
	return got;
}

const struct trace_file trace_pipe_file = {
	.name = "trace_pipe",
	.mode = TRACE_MODE_READ,
	.is_stream = true,
	.open = pipe_open,
	.next = pipe_next,
	.poll = pipe_poll,
	.close = pipe_close,
};

const struct trace_file trace_pipe_raw_file = {
	.name = "trace_pipe_raw",
	.mode = TRACE_MODE_READ,
	.is_stream = true,
	.open = trace_raw_open,
	.read = pipe_raw_read,
	.poll = pipe_poll,
	.close = trace_raw_close,
};
