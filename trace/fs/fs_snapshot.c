/*
 * The file `snapshot` of an instance and of a CPU. Reading shows the snapshot without consuming it;
 * writing 0 frees it, 1 takes one (after making room), another number empties it. And snapshot_raw,
 * from which the snapshot is read as sub-buffers, consuming. See fs_file.h, snapshot.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/snapshot.h"
#include "print/iter.h"
#include "print/output.h"
#include "text/str.h"

#define NUMBER_MAX 64u

/* Does the tracer use the snapshot for its maximum? Then these files do not work. */
static bool fs_snapshot_is_taken(const struct trace_array *tr)
{
	return tr->tracer->uses_snapshot;
}

static int snapshot_open(struct trace_handle *handle)
{
	if (!(handle->flags & TRACE_FS_READ))
		return 0;
	trace_plat_lock(&trace_config_lock);
	handle->private =
		trace_iter_open(handle->tr, trace_handle_cpu(handle), TRACE_ITER_SNAPSHOT);
	trace_plat_unlock(&trace_config_lock);
	return handle->private ? 0 : -ENOMEM;
}

static int snapshot_close(struct trace_handle *handle)
{
	if (handle->private)
		trace_iter_close(handle->private);
	return 0;
}

static void snapshot_rewind(struct trace_handle *handle)
{
	trace_iter_rewind(handle->private);
}

static void print_help(const struct trace_iter *iter, struct trace_seq *seq)
{
	bool is_all = iter->cpu == RING_BUFFER_ALL_CPUS;

	trace_seq_printf(seq, "# tracer: %s\n#\n#\n", iter->tracer->name);
	trace_seq_printf(seq, "# * Snapshot is %s *\n#\n",
			 trace_snapshot_of(iter->tr)->has_room ? "allocated" : "freed");
	trace_seq_puts(seq, "# Snapshot commands:\n");
	if (is_all)
		trace_seq_puts(seq, "# echo 0 > snapshot : gives the snapshot's memory back\n");
	else
		trace_seq_puts(seq, "# echo 0 > snapshot : is refused for one CPU\n");
	trace_seq_printf(
		seq,
		"# echo 1 > snapshot : makes room if there is none, and keeps what %s has\n"
		"#                     recorded so far\n",
		is_all ? "the trace" : "this CPU");
	trace_seq_printf(seq,
			 "# echo 2 > snapshot : forgets what is kept%s; as does any other number\n",
			 is_all ? "" : " of this CPU");
}

static int snapshot_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_iter *iter = handle->private;

	if (fs_snapshot_is_taken(handle->tr))
		return -EBUSY;
	if (!handle->is_shown) {
		handle->is_shown = true;
		if (trace_iter_is_empty(iter))
			print_help(iter, seq);
		else
			trace_print_header(iter, seq);
		return 1;
	}
	if (!trace_iter_next(iter))
		return 0;
	trace_handle_make_room(handle, iter->event.len);
	trace_print_line(iter, seq);
	return 1;
}

/* Config lock held. */
static int fs_snapshot_take(struct trace_array *tr, int cpu)
{
	int err = trace_snapshot_alloc(tr);

	if (err)
		return err;
	if (cpu == RING_BUFFER_ALL_CPUS)
		return trace_snapshot_take(tr, cpu);
	return trace_snapshot_take_on(tr, (uint32_t)cpu);
}

/* Config lock held. */
static int command(struct trace_array *tr, int cpu, uint64_t number)
{
	if (fs_snapshot_is_taken(tr) || trace_snapshot_of(tr)->is_claimed)
		return -EBUSY;
	switch (number) {
	case 0:
		return cpu == RING_BUFFER_ALL_CPUS ? trace_snapshot_free(tr) : -EINVAL;
	case 1:
		return fs_snapshot_take(tr, cpu);
	default:
		trace_array_reset_snapshot(tr, cpu);
		return 0;
	}
}

static int snapshot_store(struct trace_handle *handle, char *text)
{
	uint64_t number;
	int err = trace_handle_number(handle, text, &number);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = trace_array_expand(handle->tr);
	if (!err)
		err = command(handle->tr, trace_handle_cpu(handle), number);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EINVAL)
		trace_handle_blame(handle, text, "memory is given back for all CPUs at once");
	else if (err == -EBUSY)
		trace_handle_blame(
			handle, text,
			"the snapshot is in use, by a reader, the tracer or a histogram");
	return err;
}

static const struct trace_file snapshot_file = {
	.name = "snapshot",
	.mode = TRACE_MODE_WRITE,
	.open = snapshot_open,
	.next = snapshot_next,
	.rewind = snapshot_rewind,
	.store = snapshot_store,
	.store_max = NUMBER_MAX,
	.close = snapshot_close,
};

/* ---- snapshot_raw ---- */

static int snapshot_raw_open(struct trace_handle *handle)
{
	return fs_snapshot_is_taken(handle->tr) ? -EBUSY : trace_raw_open(handle);
}

static struct ring_buffer *snapshot_buffer(const struct trace_array *tr)
{
	return trace_snapshot_of(tr)->buffer;
}

static int64_t snapshot_raw_read(struct trace_handle *handle, char *buf, size_t len)
{
	int64_t got;

	if (len && fs_snapshot_is_taken(handle->tr))
		return -EBUSY;
	got = trace_raw_read(handle, snapshot_buffer, buf, len);
	return got == -EAGAIN ? 0 : got;
}

static const struct trace_file snapshot_raw_file = {
	.name = "snapshot_raw",
	.mode = TRACE_MODE_READ,
	.is_stream = true,
	.open = snapshot_raw_open,
	.read = snapshot_raw_read,
	.close = trace_raw_close,
};

static const struct trace_file *const fs_snapshot_files[] = { &snapshot_file };
static const struct trace_file *const fs_snapshot_cpu_files[] = { &snapshot_file,
								  &snapshot_raw_file };

const struct trace_file_table trace_snapshot_files = {
	.files = fs_snapshot_files,
	.nr = TRACE_ARRAY_SIZE(fs_snapshot_files),
	.cpu_files = fs_snapshot_cpu_files,
	.nr_cpu = TRACE_ARRAY_SIZE(fs_snapshot_cpu_files),
};
