/*
 * The file `why`: instance/why.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_why = {
	.name = "why",
	.files = &trace_why_files,
};
