/*
 * The files of tracefs about threads: their names and processes. See fs_file.h, cmdlines.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/cmdlines.h"
#include "text/str.h"

#define WORD_MAX 64u

/* ---- saved_cmdlines, saved_tgids, saved_cmdlines_size ---- */

/*
 * Tools read these files to interpret a trace, so they have all living threads, too, however many
 * are saved. handle->private is the list of the living, made by the first read;
 * handle->index counts those and then the saved ones.
 */
static const struct trace_cmdline_list *living_of(struct trace_handle *handle, bool tgids)
{
	if (!handle->private)
		handle->private = trace_cmdlines_living(tgids);
	return handle->private;
}

static bool is_listed(const struct trace_cmdline_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->lines[i].pid == pid)
			return true;
	}
	return false;
}

/*
 * Find the next name. Returns false at the end. A thread that has ended since the list was made is
 * in it, once.
 */
static bool next_line(struct trace_handle *handle, const struct trace_cmdline_list *living,
		      struct trace_cmdline *out_line)
{
	if (handle->index < living->nr) {
		*out_line = living->lines[handle->index++];
		return true;
	}
	while (trace_cmdlines_get(handle->index - living->nr, out_line)) {
		handle->index++;
		if (!is_listed(living, out_line->pid))
			return true;
	}
	return false;
}

/* Find the next thread that has a name, or with `tgids` a process. 1; 0: the end; -ENOMEM. */
static int next_known(struct trace_handle *handle, bool tgids, struct trace_cmdline *out_line)
{
	const struct trace_cmdline_list *living = living_of(handle, tgids);

	if (!living)
		return -ENOMEM;
	do {
		if (!next_line(handle, living, out_line))
			return 0;
	} while (tgids ? !out_line->tgid : !out_line->comm[0]);
	return 1;
}

static int saved_cmdlines_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_cmdline line;
	int got = next_known(handle, false, &line);

	if (got == 1)
		trace_seq_printf(seq, "%d %s\n", line.pid, line.comm);
	return got;
}

static int saved_tgids_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_cmdline line;
	int got = next_known(handle, true, &line);

	if (got == 1)
		trace_seq_printf(seq, "%d %d\n", line.pid, line.tgid);
	return got;
}

static void saved_cmdlines_rewind(struct trace_handle *handle)
{
	trace_cmdlines_put_list(handle->private);
	handle->private = NULL;
}

static int saved_cmdlines_close(struct trace_handle *handle)
{
	saved_cmdlines_rewind(handle);
	return 0;
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
	.next = saved_cmdlines_next,
	.rewind = saved_cmdlines_rewind,
	.close = saved_cmdlines_close,
};

static const struct trace_file saved_tgids_file = {
	.name = "saved_tgids",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.next = saved_tgids_next,
	.rewind = saved_cmdlines_rewind,
	.close = saved_cmdlines_close,
};

static const struct trace_file saved_cmdlines_size_file = {
	.name = "saved_cmdlines_size",
	.mode = TRACE_MODE_WRITE,
	.root_only = true,
	.show = saved_cmdlines_size_show,
	.store = saved_cmdlines_size_store,
	.store_max = WORD_MAX,
};

static const struct trace_file *const fs_threads_files[] = {
	&saved_cmdlines_file,
	&saved_cmdlines_size_file,
	&saved_tgids_file,
};

const struct trace_file_table trace_thread_files = { .files = fs_threads_files,
						     .nr = TRACE_ARRAY_SIZE(fs_threads_files) };
