/*
 * The files of tracefs about call sites: lists of functions, filters, patching. See fs_file.h and
 * <trace/ftrace_files.h>, which does the work.
 */
#include <trace/fmt.h>
#include <trace/ftrace_files.h>
#include "fs_functions.h"
#include "instance/array.h"
#include "instance/error_log.h"
#include "text/str.h"

#define COMMAND_MAX 256u

struct functions_handle {
	struct ftrace_iter iter;
	struct ftrace_edit *edit;
};

static struct ftrace_ops *tracer_ops(struct trace_array *tr)
{
	return tr->ops;
}

static const struct trace_functions_source *
fs_functions_source_of(const struct trace_handle *handle)
{
	return handle->node->file->about;
}

void trace_functions_rewind(struct trace_handle *handle)
{
	const struct trace_functions_source *source = fs_functions_source_of(handle);
	struct functions_handle *own = handle->private;

	ftrace_iter_start(&own->iter, source->list, source->ops(handle->tr));
	if (source->has_commands)
		own->iter.tr = handle->tr;
}

int trace_functions_open(struct trace_handle *handle)
{
	handle->private_bytes = sizeof(struct functions_handle);
	handle->private = trace_plat_alloc(handle->private_bytes);
	if (!handle->private)
		return -ENOMEM;
	if (handle->flags & TRACE_FS_READ)
		trace_functions_rewind(handle);
	return 0;
}

int trace_functions_close(struct trace_handle *handle)
{
	trace_plat_free(handle->private, handle->private_bytes);
	return 0;
}

int trace_functions_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct functions_handle *own = handle->private;

	seq->len = ftrace_iter_next(&own->iter, seq->buf);
	return seq->len ? 1 : 0;
}

/* ---- Filters: words are collected, and take effect when the file is closed ---- */

int trace_functions_filter_open(struct trace_handle *handle)
{
	const struct trace_functions_source *source = fs_functions_source_of(handle);
	bool truncate = handle->flags & TRACE_FS_TRUNC;
	struct functions_handle *own;
	int err = trace_functions_open(handle);

	if (err || !(handle->flags & TRACE_FS_WRITE))
		return err;
	own = handle->private;
	err = (source->is_set ? ftrace_edit_open_set : ftrace_edit_open)(
		source->ops(handle->tr), source->list == FTRACE_LIST_NOTRACE, truncate, &own->edit);
	if (err)
		trace_functions_close(handle);
	else if (source->takes_commands)
		ftrace_edit_allow_commands(own->edit, handle->tr);
	return err;
}

/* Log the word that was refused: it is the first in the text, perhaps behind blanks. */
static void fs_functions_report(struct trace_handle *handle, const char *buf, size_t len)
{
	struct functions_handle *own = handle->private;
	char command[COMMAND_MAX];
	size_t pos = 0;

	if (len > sizeof(command) - 1)
		len = sizeof(command) - 1;
	memcpy(command, buf, len);
	command[len] = '\0';
	while (pos < len && trace_is_space(command[pos]))
		pos++;
	trace_error_log(handle->tr, handle->node->name, ftrace_edit_why(own->edit), command,
			pos + ftrace_edit_why_pos(own->edit));
}

int64_t trace_functions_filter_write(struct trace_handle *handle, const char *buf, size_t len)
{
	struct functions_handle *own = handle->private;
	int64_t taken = ftrace_edit_write(own->edit, buf, len);

	if (taken == -EINVAL || (taken < 0 && ftrace_edit_why(own->edit)[0]))
		fs_functions_report(handle, buf, len);
	return taken;
}

int trace_functions_filter_close(struct trace_handle *handle)
{
	const struct trace_functions_source *source = fs_functions_source_of(handle);
	struct functions_handle *own = handle->private;
	int err = own->edit ? ftrace_edit_close(own->edit) : 0;

	if (own->edit && source->changed) {
		trace_plat_lock(&trace_config_lock);
		(void)source->changed(handle->tr);
		trace_plat_unlock(&trace_config_lock);
	}
	trace_functions_close(handle);
	return err;
}

/* ---- dyn_ftrace_total_info ---- */

static int total_info_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	seq->len = ftrace_total_info(seq->buf, seq->size);
	return 0;
}

static const struct trace_file total_info_file = {
	.name = "dyn_ftrace_total_info",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.show = total_info_show,
};

/* ---- text_poke_stats: counts of live patching ---- */

static int poke_stats_show(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_poke_stats stats;

	(void)handle;
	trace_plat_poke_stats(&stats);
	trace_seq_printf(seq, "batches: %llu\n", (unsigned long long)stats.batches);
	trace_seq_printf(seq, "sites: %llu\n", (unsigned long long)stats.sites);
	trace_seq_printf(seq, "syncs: %llu\n", (unsigned long long)stats.syncs);
	trace_seq_printf(seq, "int3 hits: %llu\n", (unsigned long long)stats.int3_hits);
	trace_seq_printf(seq, "emulated: %llu\n", (unsigned long long)stats.emulated);
	trace_seq_printf(seq, "stale: %llu\n", (unsigned long long)stats.stale);
	return 0;
}

static const struct trace_file poke_stats_file = {
	.name = "text_poke_stats",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.show = poke_stats_show,
};

static const struct trace_functions_source available = { .list = FTRACE_LIST_AVAILABLE,
							 .ops = tracer_ops };
static const struct trace_functions_source addrs = { .list = FTRACE_LIST_ADDRS, .ops = tracer_ops };
static const struct trace_functions_source enabled = { .list = FTRACE_LIST_ENABLED,
						       .ops = tracer_ops };
static const struct trace_functions_source touched = { .list = FTRACE_LIST_TOUCHED,
						       .ops = tracer_ops };
static const struct trace_functions_source fs_functions_filter = {
	.list = FTRACE_LIST_FILTER,
	.ops = tracer_ops,
	.takes_commands = true,
	.has_commands = true,
};
static const struct trace_functions_source notrace = {
	.list = FTRACE_LIST_NOTRACE,
	.ops = tracer_ops,
	.takes_commands = true,
};

static const struct trace_file available_file = {
	.name = "available_filter_functions",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	TRACE_FUNCTIONS_LIST(available),
};

static const struct trace_file addrs_file = {
	.name = "available_filter_functions_addrs",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	TRACE_FUNCTIONS_LIST(addrs),
};

static const struct trace_file fs_functions_enabled_file = {
	.name = "enabled_functions",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	TRACE_FUNCTIONS_LIST(enabled),
};

static const struct trace_file touched_file = {
	.name = "touched_functions",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	TRACE_FUNCTIONS_LIST(touched),
};

static const struct trace_file filter_file = {
	.name = "set_ftrace_filter",
	.mode = TRACE_MODE_WRITE,
	TRACE_FUNCTIONS_FILTER(fs_functions_filter),
};

static const struct trace_file notrace_file = {
	.name = "set_ftrace_notrace",
	.mode = TRACE_MODE_WRITE,
	TRACE_FUNCTIONS_FILTER(notrace),
};

static const struct trace_file *const fs_functions_files[] = {
	&available_file, &addrs_file,	&fs_functions_enabled_file, &touched_file,
	&filter_file,	 &notrace_file, &total_info_file,	    &poke_stats_file,
};

const struct trace_file_table trace_function_files = { .files = fs_functions_files,
						       .nr = TRACE_ARRAY_SIZE(fs_functions_files) };
