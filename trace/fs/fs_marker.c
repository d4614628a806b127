/*
 * trace_marker and trace_marker_raw: texts and bytes written there go into the trace, and into
 * those of instances that want a copy. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/entry.h"
#include "instance/printk.h"
#include "text/str.h"

/* A mark, as written into each instance that it goes to. */
struct mark {
	int (*write)(struct trace_array *tr, const struct mark *mark);
	const char *data;
	size_t len;
};

static bool takes_copies(const struct trace_array *tr)
{
	return tr->options & TRACE_OPT_BIT(TRACE_OPT_COPY_MARKER);
}

/*
 * A mark goes into the instance of its file; one of the global instance goes to all that have the
 * option copy_trace_marker, which usually is that instance alone. Returns the only one, or NULL:
 * the list has to be asked.
 */
static struct trace_array *only_target(struct trace_array *tr)
{
	bool is_only = true;

	if (!trace_array_is_global(tr))
		return tr;
	trace_plat_preempt_disable(); /* for the list */
	for (struct trace_array *other = tr->next; other && is_only; other = other->next)
		is_only = !takes_copies(other);
	trace_plat_preempt_enable();
	return is_only && takes_copies(tr) ? tr : NULL;
}

/* The next of all instances that a mark goes to. Start with NULL. Arrays lock held if !`only`. */
static struct trace_array *next_target(struct trace_array *only, struct trace_array *tr)
{
	if (only)
		return tr ? NULL : only;
	do
		tr = trace_array_next(tr);
	while (tr && !takes_copies(tr));
	return tr;
}

static size_t smallest_room(struct trace_array *only)
{
	size_t room = SIZE_MAX;

	for (struct trace_array *tr = NULL; (tr = next_target(only, tr));) {
		size_t bytes = ring_buffer_max_event_size(tr->buffer);

		room = bytes < room ? bytes : room;
	}
	return room;
}

/*
 * Write the mark into all instances, cut to the longest event: `head` bytes of an event are not
 * text. Returns the number of bytes taken, or -errno when no instance has recorded it.
 */
static int64_t write_everywhere(struct trace_array *only, struct mark *mark, size_t head,
				bool may_cut)
{
	size_t room = smallest_room(only) - head;
	int err = -ENODEV, failed;

	if (mark->len > room && !may_cut)
		return -EINVAL;
	if (mark->len > room)
		mark->len = room;
	for (struct trace_array *tr = NULL; (tr = next_target(only, tr));) {
		failed = mark->write(tr, mark);
		if (err)
			err = failed;
	}
	return err ? err : (int64_t)mark->len;
}

static int64_t write_mark(const struct trace_handle *handle, struct mark *mark, size_t head,
			  bool may_cut)
{
	struct trace_array *only = only_target(handle->tr);
	int64_t done;

	if (only)
		return write_everywhere(only, mark, head, may_cut);
	trace_plat_lock(&trace_arrays_lock);
	done = write_everywhere(NULL, mark, head, may_cut);
	trace_plat_unlock(&trace_arrays_lock);
	return done;
}

static bool takes_markers(const struct trace_handle *handle)
{
	return handle->tr->options & TRACE_OPT_BIT(TRACE_OPT_MARKERS);
}

static int write_text(struct trace_array *tr, const struct mark *mark);

/* The name of this function is shown in the trace, so it is that of Linux. */
static int64_t tracing_mark_write(struct trace_handle *handle, const char *buf, size_t len)
{
	struct mark mark = { .write = write_text, .data = buf, .len = len };
	size_t head = sizeof(struct trace_print_entry) + 2; /* a newline, NUL */

	if (!takes_markers(handle))
		return -EINVAL;
	return write_mark(handle, &mark, head, true); /* the caller writes the rest */
}

static int write_text(struct trace_array *tr, const struct mark *mark)
{
	uintptr_t ip = (uintptr_t)tracing_mark_write;
	int err = trace_write_text(tr, ip, mark->data, mark->len);
	/* Pairs with the release of who waits for it. */
	trace_marker_fn *written = atomic_load_explicit(&tr->marker_written, memory_order_acquire);

	if (!err && written)
		written(tr, ip, mark->data, mark->len);
	return err;
}

static int write_raw(struct trace_array *tr, const struct mark *mark)
{
	uint32_t id;

	memcpy(&id, mark->data, sizeof(id));
	return trace_write_raw(tr, id, mark->data + sizeof(id), mark->len - sizeof(id));
}

static int64_t tracing_mark_raw_write(struct trace_handle *handle, const char *buf, size_t len)
{
	struct mark mark = { .write = write_raw, .data = buf, .len = len };
	/* the id is in `buf` */
	size_t head = sizeof(struct trace_raw_data_entry) - sizeof(uint32_t);

	if (!takes_markers(handle) || len < sizeof(uint32_t))
		return -EINVAL;
	return write_mark(handle, &mark, head, false);
}

static const struct trace_file trace_marker_file = {
	.name = "trace_marker",
	.mode = 0220,
	.is_quick = true,
	.write = tracing_mark_write,
};

static const struct trace_file trace_marker_raw_file = {
	.name = "trace_marker_raw",
	.mode = 0220,
	.is_quick = true,
	.write = tracing_mark_raw_write,
};

static const struct trace_file *const fs_marker_files[] = {
	&trace_marker_file,
	&trace_printk_formats_file,
	&trace_marker_raw_file,
};

const struct trace_file_table trace_marker_files = { .files = fs_marker_files,
						     .nr = TRACE_ARRAY_SIZE(fs_marker_files) };
