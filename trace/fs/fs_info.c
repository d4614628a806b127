/*
 * README, error_log and timestamp_mode. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/error_log.h"
#include "readme.h"
#include "text/str.h"

static int readme_next(struct trace_handle *handle, struct trace_seq *seq)
{
	return trace_readme_next(&handle->index, seq);
}

/* ---- error_log ---- */

static int error_log_open(struct trace_handle *handle)
{
	if ((handle->flags & TRACE_FS_WRITE) && (handle->flags & TRACE_FS_TRUNC))
		trace_error_log_clear(handle->tr);
	return 0;
}

static int error_log_next(struct trace_handle *handle, struct trace_seq *seq)
{
	return trace_error_log_show(handle->tr, handle->index++, seq);
}

/* Only truncation has an effect. */
static int64_t error_log_write(struct trace_handle *handle, const char *buf, size_t len)
{
	(void)handle;
	(void)buf;
	return (int64_t)len;
}

/* ---- timestamp_mode ---- */

/* Events have the time since the one before them. Linux keeps whole times for some histograms. */
static int timestamp_mode_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_puts(seq, "[delta] absolute\n");
	return 0;
}

static const struct trace_file readme_file = {
	.name = "README",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.next = readme_next,
};

static const struct trace_file error_log_file = {
	.name = "error_log",
	.mode = TRACE_MODE_WRITE,
	.open = error_log_open,
	.next = error_log_next,
	.write = error_log_write,
};

static const struct trace_file timestamp_mode_file = {
	.name = "timestamp_mode",
	.mode = TRACE_MODE_READ,
	.show = timestamp_mode_show,
};

static const struct trace_file *const fs_info_files[] = {
	&readme_file,
	&error_log_file,
	&timestamp_mode_file,
};

const struct trace_file_table trace_info_files = { .files = fs_info_files,
						   .nr = TRACE_ARRAY_SIZE(fs_info_files) };
