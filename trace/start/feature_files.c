/*
 * The files of tracefs: fs/. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"
#include "instance/array.h"

static int files_init(void)
{
	return trace_fs_create(&trace_global);
}

/* The last in the table, so that all tracers are registered, and their options get files. */
const struct trace_feature trace_feature_files = {
	.name = "files",
	.init = files_init,
	.instance_made = trace_fs_create,
	.instance_hidden = trace_fs_detach,
	.tracer_added = trace_fs_add_tracer,
};
