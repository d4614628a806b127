/*
 * Synthetic events that histograms write: the action trace() of hist/hist_action.h. See
 * instance/feature.h.
 */
#include "hist/hist_action.h"
#include "features.h"

const struct trace_feature trace_feature_hist_trace = {
	.name = "hist_trace",
	.hist_action = &trace_hist_trace_type,
};
