/*
 * Snapshots that histograms take: the action snapshot() of hist/hist_action.h. See
 * instance/feature.h.
 */
#include "hist/hist_action.h"
#include "features.h"

const struct trace_feature trace_feature_hist_snapshot = {
	.name = "hist_snapshot",
	.hist_action = &trace_hist_snapshot_type,
};
