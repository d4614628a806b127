/*
 * The kinds of probes, for dynamic_events. See probe.h, events/dyn_event.h.
 */
#include "events/event_call.h"
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

static struct dyn_event_kinds probe_kinds = { .kinds = trace_probe_dyn_kinds };
static struct trace_event_guard probe_event_guard = { .goes = trace_probe_event_goes };

static int probe_events_init(void)
{
	trace_dyn_event_kinds_register(&probe_kinds);
	trace_event_guard_register(&probe_event_guard);
	return 0;
}

const struct trace_feature trace_feature_probe_events = {
	.name = "probe_events",
	.init = probe_events_init,
};
