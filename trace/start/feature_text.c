/*
 * Texts, raw data and stack traces as lines: print/output.h. See instance/feature.h.
 */
#include "features.h"
#include "print/output.h"

static int text_init(void)
{
	int err = trace_text_events_init();

	return err ? err : trace_stack_events_init();
}

const struct trace_feature trace_feature_text = {
	.name = "text",
	.init = text_init,
};
