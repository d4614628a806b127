/*
 * The kinds of probes, for dynamic_events. See probe.h, events/dyn_event.h.
 */
#include "probe_shell.h"

const struct dyn_event_kind probe_dyn_kinds[] = {
	[PROBE_DYN_TRACEPOINT] = { .name = "tracepoint",
				   .claims = probe_tracepoint_claims,
				   .create = probe_tracepoint_create,
				   .show = probe_show,
				   .explain = probe_explain,
				   .complete = probe_tracepoint_complete,
				   .matches = probe_matches,
				   .free = probe_free },
	[PROBE_DYN_EVENT] = { .name = "eprobe",
			      .claims = probe_event_claims,
			      .create = probe_event_create,
			      .show = probe_show,
			      .explain = probe_explain,
			      .complete = probe_event_complete,
			      .matches = probe_matches,
			      .free = probe_free },
	{ .name = NULL },
};
