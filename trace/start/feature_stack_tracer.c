/*
 * The stack tracer: tracers/stack_tracer.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_stack_tracer = {
	.name = "stack_tracer",
	.files = &trace_stack_files,
};
