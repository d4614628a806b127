/*
 * Probes at instructions: kprobes/. See instance/feature.h.
 */
#include "features.h"

const struct trace_feature trace_feature_kprobes = {
	.name = "kprobes",
};
