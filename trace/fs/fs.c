/*
 * Open files of tracefs: from system calls to the functions of a file. See <trace/fs.h>, fs_file.h.
 */
#include <trace/fs.h>
#include <trace/trace.h>
#include "fs_file.h"
#include "instance/array.h"
#include "instance/grace.h"
#include "text/str.h"

#define USUAL_EVENT 2048u /* bytes of the longest event whose line fits into every handle */
#define PER_BYTE    3u	  /* characters for each byte that is printed in hex */
#define SKIP_BYTES  256u

int trace_handle_cpu(const struct trace_handle *handle)
{
	return (int)handle->node->arg;
}

static void fs_free_text(struct trace_handle *handle)
{
	if (handle->seq.buf != handle->text)
		trace_plat_free(handle->seq.buf, handle->seq.size);
}

void trace_handle_make_room(struct trace_handle *handle, size_t event_bytes)
{
	size_t size = PER_BYTE * (USUAL_EVENT + event_bytes);
	char *text;

	if (event_bytes <= USUAL_EVENT || size <= handle->seq.size)
		return;
	text = trace_plat_alloc(size);
	if (!text)
		return;
	fs_free_text(handle);
	trace_seq_init(&handle->seq, text, size);
}

/*
 * The system call may have unregistered callbacks that threads are still on the way to. Wait until
 * they have passed, so that a user who reads afterwards sees no late events. The user may interrupt
 * this, because nothing else depends on it. No lock is held.
 */
static void wait_for_threads(uint64_t mark)
{
	trace_grace_wait_since(mark);
}

/* The caller has a reference to the instance. */
static int open_file(struct trace_node *node, struct trace_array *tr, unsigned int flags,
		     struct trace_handle **out_handle)
{
	struct trace_handle *handle = trace_plat_alloc(TRACE_HANDLE_BYTES);
	int err;

	if (!handle)
		return -ENOMEM;
	handle->node = node;
	handle->tr = tr;
	handle->flags = flags;
	trace_seq_init(&handle->seq, handle->text, TRACE_HANDLE_BYTES - sizeof(*handle));
	err = node->file->open ? node->file->open(handle) : 0;
	if (err) {
		trace_plat_free(handle, TRACE_HANDLE_BYTES);
		return err;
	}
	*out_handle = handle;
	return 0;
}

int trace_fs_open(struct trace_node *node, unsigned int flags, struct trace_handle **out_handle)
{
	uint64_t mark = trace_grace_mark();
	struct trace_array *tr;
	int err;

	if (node->is_dir)
		return -EISDIR;
	tr = trace_fs_get_array(node);
	if (!tr)
		return -ENODEV;
	err = open_file(node, tr, flags, out_handle);
	if (err)
		trace_fs_put_array(node, tr);
	wait_for_threads(mark);
	return err;
}

int trace_fs_close(struct trace_handle *handle)
{
	struct trace_node *node = handle->node;
	const struct trace_file *file = node->file;
	uint64_t mark = trace_grace_mark();
	struct trace_array *tr = handle->tr;
	int err = file->close ? file->close(handle) : 0;

	fs_free_text(handle);
	trace_plat_free(handle, TRACE_HANDLE_BYTES);
	trace_fs_put_array(node, tr);
	wait_for_threads(mark);
	return err;
}

static void rewind_handle(struct trace_handle *handle)
{
	handle->position = 0;
	handle->seq.len = 0;
	handle->taken = 0;
	handle->is_shown = false;
	handle->index = 0;
	if (handle->node->file->rewind)
		handle->node->file->rewind(handle);
}

/* Make the next piece of text. 1, 0 at the end, or -errno. */
static int refill(struct trace_handle *handle)
{
	const struct trace_file *file = handle->node->file;
	int err;

	handle->seq.len = 0;
	handle->seq.overflowed = false;
	handle->taken = 0;
	if (file->next)
		return file->next(handle, &handle->seq);
	if (handle->is_shown)
		return 0;
	handle->is_shown = true;
	err = file->show(handle, &handle->seq);
	return err ? err : 1;
}

static int64_t fs_read_text(struct trace_handle *handle, char *buf, size_t len)
{
	size_t part;
	int more;

	while (handle->given < len) {
		if (handle->taken == handle->seq.len) {
			more = refill(handle);
			if (more < 0 && !handle->given)
				return more;
			if (more <= 0)
				break;
		}
		part = handle->seq.len - handle->taken;
		if (part > len - handle->given)
			part = len - handle->given;
		memcpy(buf + handle->given, handle->seq.buf + handle->taken, part);
		handle->taken += part;
		handle->given += part;
	}
	return (int64_t)handle->given;
}

/* Read from where the last read ended. Returns the bytes read, 0 at the end, or -errno. */
static int64_t read_on(struct trace_handle *handle, char *buf, size_t len)
{
	const struct trace_file *file = handle->node->file;
	int64_t got;

	handle->given = 0;
	got = file->read ? file->read(handle, buf, len) : fs_read_text(handle, buf, len);
	if (got > 0)
		handle->position += (uint64_t)got;
	return got;
}

/*
 * Skip to position `pos` of a text that can be made anew; before the current position it is made
 * again from the start. 1; 0: the text ends before `pos`; -errno.
 */
static int seek(struct trace_handle *handle, uint64_t pos)
{
	char skipped[SKIP_BYTES];
	uint64_t left;
	int64_t got;

	if (pos < handle->position)
		rewind_handle(handle);
	while ((left = pos - handle->position)) {
		got = read_on(handle, skipped, left < sizeof(skipped) ? left : sizeof(skipped));
		if (got <= 0)
			return (int)got;
	}
	return 1;
}

int64_t trace_fs_read(struct trace_handle *handle, void *buf, size_t len, uint64_t *pos)
{
	const struct trace_file *file = handle->node->file;
	int64_t got;
	int found;

	if (!(handle->flags & TRACE_FS_READ))
		return -EBADF;
	if (!file->read && !file->next && !file->show)
		return -EINVAL;
	if (*pos == 0 && handle->position)
		rewind_handle(handle);
	if (*pos != handle->position) {
		if (file->is_stream)
			return -ESPIPE;
		found = seek(handle, *pos);
		if (found <= 0)
			return found;
	}
	got = read_on(handle, buf, len);
	if (got > 0)
		*pos += (uint64_t)got;
	return got;
}

void trace_fs_cancel(struct trace_handle *handle)
{
	handle->is_cancelled = true;
	trace_plat_wake(&handle->tr->pipe_wait);
}

void trace_fs_resume(struct trace_handle *handle)
{
	handle->is_cancelled = false;
}

int64_t trace_fs_write(struct trace_handle *handle, const void *buf, size_t len, uint64_t *pos)
{
	const struct trace_file *file = handle->node->file;
	uint64_t mark = trace_grace_mark();
	int64_t put;

	if (!(handle->flags & TRACE_FS_WRITE))
		return -EBADF;
	if (!file->store && !file->write)
		return -EINVAL;
	put = file->write ? file->write(handle, buf, len) : trace_handle_store(handle, buf, len);
	if (put > 0)
		*pos += (uint64_t)put;
	if (!file->is_quick)
		wait_for_threads(mark);
	return put;
}

bool trace_fs_poll(struct trace_handle *handle)
{
	const struct trace_file *file = handle->node->file;

	return !file->poll || file->poll(handle);
}

uint32_t trace_fs_events(struct trace_handle *handle, uint32_t wanted)
{
	const struct trace_file *file = handle->node->file;
	uint32_t events;

	if (file->events)
		events = file->events(handle, wanted);
	else
		events = trace_fs_poll(handle) ? TRACE_FS_IN : 0;
	return events & wanted;
}

void trace_fs_set_nonblock(struct trace_handle *handle, bool on)
{
	if (on)
		__atomic_or_fetch(&handle->flags, TRACE_FS_NONBLOCK, __ATOMIC_RELAXED);
	else
		__atomic_and_fetch(&handle->flags, ~(unsigned int)TRACE_FS_NONBLOCK,
				   __ATOMIC_RELAXED);
}

bool trace_fs_may_wait(const struct trace_handle *handle)
{
	if (handle->flags & TRACE_FS_WRITE && !handle->node->file->is_quick)
		return true;
	return handle->node->file->poll && !(handle->flags & TRACE_FS_NONBLOCK);
}
