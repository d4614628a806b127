/*
 * The tracer `function`: tracers/function_tracer.h. See instance/feature.h.
 */
#include "features.h"
#include "instance/array.h"
#include "tracers/function_entry.h"
#include "tracers/function_tracer.h"

static int function_init(void)
{
	int err = trace_function_events_init();

	return err ? err : register_tracer(&tracer_function);
}

const struct trace_feature trace_feature_function = {
	.name = "function",
	.init = function_init,
	.instance_free = trace_repeats_free,
};
