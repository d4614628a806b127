/*
 * Arguments of probe events by the names that they have in the source: probes/fetch_name.c. See
 * instance/feature.h.
 */
#include "features.h"
#include "probes/fetch.h"
#include "types/btf.h"

static int names_init(void)
{
	trace_fetch_names = &trace_fetch_btf_names;
	return 0;
}

const struct trace_feature trace_feature_probe_names = {
	.name = "probe_names",
	.is_there = trace_btf_is_loaded,
	.init = names_init,
};
