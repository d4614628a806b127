/*
 * Types of functions, from the host's BTF: types/btf.h, tracers/call_args.h. See
 * instance/feature.h.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "features.h"
#include "tracers/call_args.h"
#include "types/btf.h"

/* A host without types, or with damaged ones, does without. */
static int types_init(void)
{
	size_t bytes;
	const void *data = trace_plat_btf(&bytes);
	int err = data ? trace_btf_load(data, bytes) : 0;

	if (err)
		trace_plat_log("trace: types (BTF) cannot be used: error %d", -err);
	trace_call_types = &trace_btf_call_types;
	return 0;
}

const struct trace_feature trace_feature_types = {
	.name = "types",
	.init = types_init,
};
