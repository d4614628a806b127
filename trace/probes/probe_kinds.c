/*
 * The kinds of probes, for dynamic_events. See probe.h, events/dyn_event.h.
 */
#include "probe_shell.h"
#include "feature/feature.h"
#include "probe.h"

const struct dyn_event_kind trace_probe_dyn_kinds[] = {
	[PROBE_DYN_TRACEPOINT] = { .name = "tracepoint",
				   .claims = trace_probe_tracepoint_claims,
				   .create = trace_probe_tracepoint_create,
				   .show = trace_probe_show,
				   .explain = trace_probe_explain,
				   .complete = trace_probe_tracepoint_complete,
				   .matches = trace_probe_matches,
				   .free = trace_probe_free },
	[PROBE_DYN_EVENT] = { .name = "eprobe",
			      .claims = trace_probe_event_claims,
			      .create = trace_probe_event_create,
			      .show = trace_probe_show,
			      .explain = trace_probe_explain,
			      .complete = trace_probe_event_complete,
			      .matches = trace_probe_matches,
			      .free = trace_probe_free },
	{ .name = NULL },
};

/* ---- The feature ---- */

const struct trace_feature trace_feature_probe_events = {
	.name = "probe_events",
	.dyn_events = trace_probe_dyn_kinds,
	.event_goes = trace_probe_event_goes,
};
