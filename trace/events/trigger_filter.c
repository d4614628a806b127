/*
 * The conditions of triggers. See trigger.h, filter.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "filter.h"
#include "trigger_private.h"
#include "text/str.h"

/* Keep the condition's text for the list. */
static int keep_text(struct trace_trigger *trigger, const char *condition)
{
	trigger->filter_bytes = trace_strlen(condition) + 1;
	trigger->filter_text = trace_plat_alloc(trigger->filter_bytes);
	if (!trigger->filter_text)
		return -ENOMEM;
	memcpy(trigger->filter_text, condition, trigger->filter_bytes);
	return 0;
}

int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const char *condition)
{
	struct expr_error error = { 0 };
	int err = trace_filter_compile(&trigger->file->call->event, condition, &trigger->filter,
				       &error);

	if (!err && trigger->filter->needs_head)
		trigger->marks |= TRACE_TRIGGER_HEAD;
	if (!err) {
		trigger->marks |= TRACE_TRIGGER_IF;
		return keep_text(trigger, condition);
	}
	return error.why ? trace_trigger_blame(args, condition + error.pos, error.why, err) : err;
}

void trace_trigger_clear_condition(struct trace_trigger *trigger)
{
	trace_expr_free(trigger->filter);
	if (trigger->filter_text)
		trace_plat_free(trigger->filter_text, trigger->filter_bytes);
}
