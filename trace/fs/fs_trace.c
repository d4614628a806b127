/*
 * The file `trace`, of an instance and of a CPU: reads without consuming; writing to it only has an
 * effect when it truncates, which empties the buffer. With a tracer that keeps its worst case in
 * the snapshot, it is about that. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/snapshot.h"
#include "print/iter.h"
#include "print/output.h"
#include "text/str.h"

static bool pauses(const struct trace_handle *handle)
{
	return handle->private_bytes;
}

/* The option counts when the file is opened; private_bytes says whether this handle pauses. */
static void pause_if_asked(struct trace_handle *handle)
{
	if (!(handle->tr->options & TRACE_OPT_BIT(TRACE_OPT_PAUSE_ON_TRACE)))
		return;
	handle->private_bytes = 1;
	trace_snapshot_pause(handle->tr);
	ring_buffer_record_disable(handle->tr->buffer);
}

static void resume(struct trace_handle *handle)
{
	if (!pauses(handle))
		return;
	ring_buffer_record_enable(handle->tr->buffer);
	trace_snapshot_resume(handle->tr);
}

/* Config lock held. */
static void fs_trace_empty(struct trace_array *tr, int cpu)
{
	if (tr->tracer->uses_snapshot)
		trace_array_reset_snapshot(tr, cpu);
	else
		trace_array_reset(tr, cpu, "`> trace`");
}

static int trace_open(struct trace_handle *handle)
{
	struct trace_array *tr = handle->tr;
	int cpu = trace_handle_cpu(handle);

	if ((handle->flags & TRACE_FS_WRITE) && (handle->flags & TRACE_FS_TRUNC)) {
		trace_plat_lock(&trace_config_lock);
		fs_trace_empty(tr, cpu);
		trace_plat_unlock(&trace_config_lock);
	}
	if (!(handle->flags & TRACE_FS_READ))
		return 0;
	trace_plat_lock(&trace_config_lock);
	pause_if_asked(handle);
	handle->private = trace_iter_open(
		tr, cpu, tr->tracer->uses_snapshot ? TRACE_ITER_SNAPSHOT : TRACE_ITER_PEEKING);
	trace_plat_unlock(&trace_config_lock);
	if (handle->private)
		return 0;
	resume(handle);
	return -ENOMEM;
}

static int trace_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_iter *iter = handle->private;

	if (!handle->is_shown) {
		handle->is_shown = true;
		trace_print_header(iter, seq);
		return 1;
	}
	if (!trace_iter_next(iter))
		return 0;
	trace_handle_make_room(handle, iter->event.len);
	trace_print_line(iter, seq);
	return 1;
}

static void trace_rewind(struct trace_handle *handle)
{
	trace_iter_rewind(handle->private);
}

static int64_t trace_write(struct trace_handle *handle, const char *buf, size_t len)
{
	(void)handle;
	(void)buf;
	return (int64_t)len;
}

static int trace_close(struct trace_handle *handle)
{
	if (handle->private)
		trace_iter_close(handle->private);
	resume(handle);
	return 0;
}

const struct trace_file trace_trace_file = {
	.name = "trace",
	.mode = TRACE_MODE_WRITE,
	.open = trace_open,
	.next = trace_next,
	.rewind = trace_rewind,
	.write = trace_write,
	.close = trace_close,
};
