/*
 * The function profiler: tracers/profile.h. See instance/feature.h.
 */
#include "features.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "tracers/graph_tracer.h"
#include "tracers/profile.h"

/* The profiler obeys sleep-time and graph-time of function_graph in the global instance. */
static int profile_option(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
			  bool on)
{
	if (tracer != &tracer_function_graph || !trace_array_is_global(tr))
		return 0;
	return trace_profile_set_option(bit, on);
}

const struct trace_feature trace_feature_profile = {
	.name = "profile",
	.files = &trace_profile_files,
	.tracer_option = profile_option,
};
