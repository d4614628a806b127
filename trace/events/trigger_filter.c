/*
 * The conditions of triggers. See trigger.h.
 */
#include <trace/platform.h>
#include "trigger_private.h"

int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const char *condition)
{
	(void)trigger;
	return trace_trigger_blame(args, condition, "conditions are not known yet", -EINVAL);
}

void trace_trigger_clear_condition(struct trace_trigger *trigger)
{
	if (trigger->filter_text)
		trace_plat_free(trigger->filter_text, trigger->filter_bytes);
}

bool trace_trigger_passes(const struct trace_trigger *trigger, const void *entry, uint32_t bytes)
{
	(void)entry;
	(void)bytes;
	return !trigger->filter;
}
