/*
 * The file `why` of an instance: see instance/why.h. See fs_file.h.
 */
#include "fs/fs_file.h"
#include "text/str.h"
#include "why.h"
#include "feature/feature.h"

static int why_show(struct trace_handle *handle, struct trace_seq *seq)
{
	return trace_why_print(handle->tr, seq);
}

static const struct trace_file why_file = {
	.name = "why",
	.mode = TRACE_MODE_READ,
	.show = why_show,
};

static const struct trace_file *const why_files[] = { &why_file };

static const struct trace_file_table trace_why_files = { .files = why_files,
							 .nr = TRACE_ARRAY_SIZE(why_files) };

/* ---- The feature ---- */

static struct trace_files why_file_entry = { .table = &trace_why_files };

static int why_init(void)
{
	trace_files_register(&why_file_entry);
	return 0;
}

const struct trace_feature trace_feature_why = {
	.name = "why",
	.init = why_init,
};
