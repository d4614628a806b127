/*
 * Synthetic events: events/synth_event.h. See instance/feature.h.
 */
#include "events/synth_event.h"
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_synth = {
	.name = "synth",
	.files = &trace_synth_files,
	.dyn_events = trace_synth_event_kinds,
};
