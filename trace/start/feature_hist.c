/*
 * Histograms of trace events: hist/hist.h. See instance/feature.h.
 */
#include "hist/hist_action.h"
#include "hist/hist_trigger.h"
#include "hist/hist_why.h"
#include "features.h"
#include "fs/fs_file.h"

const struct trace_feature trace_feature_hist = {
	.name = "hist",
	.event_files = trace_event_hist_files,
	.type_files = trace_type_hist_files,
	.triggers = trace_hist_triggers,
	.hist_action = &trace_hist_save_type,
	.whys = trace_hist_whys,
};
