/*
 * README, error_log and text_poke_stats. See fs_file.h.
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

/* ---- text_poke_stats: what live patching has done ---- */

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

static const struct trace_file poke_stats_file = {
	.name = "text_poke_stats",
	.mode = TRACE_MODE_READ,
	.root_only = true,
	.show = poke_stats_show,
};

static const struct trace_file *const files[] = {
	&readme_file,
	&error_log_file,
	&poke_stats_file,
};

const struct trace_file_table trace_info_files = { .files = files, .nr = TRACE_ARRAY_SIZE(files) };
