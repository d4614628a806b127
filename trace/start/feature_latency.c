/*
 * The latency tracers: tracers/latency.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"
#include "tracers/latency.h"
#include "tracers/tracer_why.h"

const struct trace_feature trace_feature_latency = {
	.name = "latency",
	.init = trace_latency_init,
	.files = &trace_latency_files,
	.whys = trace_latency_whys,
};
