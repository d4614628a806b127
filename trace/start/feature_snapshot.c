/*
 * The second buffer, and what was recorded in it: instance/snapshot.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_snapshot = {
	.name = "snapshot",
	.files = &trace_snapshot_files,
};
