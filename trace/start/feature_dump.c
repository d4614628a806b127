/*
 * The trace on the console after a crash: print/dump.h. See instance/feature.h.
 */
#include "features.h"
#include "print/dump.h"

const struct trace_feature trace_feature_dump = {
	.name = "dump",
	.init = trace_dump_init,
	.instance_gone = trace_dump_forget,
};
