/*
 * Events that users put at tracepoints, and on other events: probes/probe.h. See
 * instance/feature.h.
 */
#include "features.h"
#include "probes/probe.h"

const struct trace_feature trace_feature_probe_events = {
	.name = "probe_events",
	.dyn_events = trace_probe_dyn_kinds,
	.event_goes = trace_probe_event_goes,
};
