/*
 * The files of tracefs about threads: their names. See fs_file.h, cmdlines.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/cmdlines.h"
#include "text/str.h"

#define WORD_MAX 64u

/* ---- saved_cmdlines, saved_cmdlines_size ---- */

/*
 * Tools read this file to interpret a trace, so the names of living threads are saved, too, while
 * there is room.
 */
static int saved_cmdlines_open(struct trace_handle *handle)
{
	(void)handle;
	trace_cmdlines_save_living();
	return 0;
}

static int saved_cmdlines_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_cmdline line;

	if (!trace_cmdlines_get(handle->index, &line))
		return 0;
	handle->index++;
	trace_seq_printf(seq, "%d %s\n", line.pid, line.comm);
	return 1;
}

static int saved_cmdlines_size_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%zu\n", trace_cmdlines_size());
	return 0;
}

static int saved_cmdlines_size_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	(void)handle;
	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = trace_cmdlines_resize(value);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EINVAL)
		trace_handle_blame(handle, text,
				   value ? "more names than there can be"
					 : "room for no name at all");
	return err;
}

static const struct trace_file saved_cmdlines_file = {
	.name = "saved_cmdlines",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.open = saved_cmdlines_open,
	.next = saved_cmdlines_next,
};

static const struct trace_file saved_cmdlines_size_file = {
	.name = "saved_cmdlines_size",
	.mode = TRACE_MODE_WRITE,
	.root_only = true,
	.show = saved_cmdlines_size_show,
	.store = saved_cmdlines_size_store,
	.store_max = WORD_MAX,
};

static const struct trace_file *const files[] = {
	&saved_cmdlines_file,
	&saved_cmdlines_size_file,
};

const struct trace_file_table trace_thread_files = { .files = files,
						     .nr = TRACE_ARRAY_SIZE(files) };
