/*
 * The function profiler: tracers/profile.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_profile = {
	.name = "profile",
	.files = &trace_profile_files,
};
