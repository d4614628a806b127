/*
 * trace_marker and trace_marker_raw: what is written there goes into the trace. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/entry.h"
#include "instance/printk.h"
#include "text/str.h"

static bool takes_markers(const struct trace_handle *handle)
{
	return handle->tr->options & TRACE_OPT_BIT(TRACE_OPT_MARKERS);
}

/*
 * The name of this function is shown in the trace, so it is that of Linux. Of a text that is longer
 * than an event only a part is taken; the caller writes the rest.
 */
static int64_t tracing_mark_write(struct trace_handle *handle, const char *buf, size_t len)
{
	size_t room = ring_buffer_max_event_size(handle->tr->buffer);
	size_t max = room - sizeof(struct trace_print_entry) - 2; /* a newline, NUL */
	int err;

	if (!takes_markers(handle))
		return -EINVAL;
	if (len > max)
		len = max;
	err = trace_write_text(handle->tr, (uintptr_t)tracing_mark_write, buf, len);
	return err ? err : (int64_t)len;
}

static int64_t tracing_mark_raw_write(struct trace_handle *handle, const char *buf, size_t len)
{
	size_t room = ring_buffer_max_event_size(handle->tr->buffer);
	uint32_t id;
	int err;

	if (!takes_markers(handle) || len < sizeof(id))
		return -EINVAL;
	if (len > room - sizeof(struct trace_raw_data_entry) + sizeof(id))
		return -EINVAL;
	memcpy(&id, buf, sizeof(id));
	err = trace_write_raw(handle->tr, id, buf + sizeof(id), len - sizeof(id));
	return err ? err : (int64_t)len;
}

static const struct trace_file trace_marker_file = {
	.name = "trace_marker",
	.mode = 0220,
	.write = tracing_mark_write,
};

static const struct trace_file trace_marker_raw_file = {
	.name = "trace_marker_raw",
	.mode = 0220,
	.write = tracing_mark_raw_write,
};

static const struct trace_file *const files[] = {
	&trace_marker_file,
	&trace_printk_formats_file,
	&trace_marker_raw_file,
};

const struct trace_file_table trace_marker_files = { .files = files,
						     .nr = TRACE_ARRAY_SIZE(files) };
