/*
 * The tracer `function`: tracers/function_tracer.h. See instance/feature.h.
 */
#include "features.h"
#include "instance/array.h"
#include "tracers/function_tracer.h"

static int function_init(void)
{
	return register_tracer(&tracer_function);
}

const struct trace_feature trace_feature_function = {
	.name = "function",
	.init = function_init,
	.instance_free = trace_repeats_free,
};
