/*
 * The conditions of triggers. See trigger.h, filter.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "filter.h"
#include "trigger_private.h"
#include "text/str.h"

/* Keep the condition's text for the list. */
static int keep_text(struct trace_trigger *trigger, const struct expr_word *condition)
{
	trigger->filter_bytes = condition->len + 1;
	trigger->filter_text = trace_plat_alloc(trigger->filter_bytes);
	if (!trigger->filter_text)
		return -ENOMEM;
	(void)trace_expr_copy(trigger->filter_text, trigger->filter_bytes, condition);
	return 0;
}

int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const struct expr_word *condition)
{
	struct expr_error error = { 0 };
	int err = keep_text(trigger, condition);

	if (!err)
		err = trace_filter_compile(&trigger->file->call->event, trigger->filter_text,
					   &trigger->filter, &error);
	if (err)
		return error.why ? trace_trigger_blame(args, condition->at + error.pos, error.why,
						       err)
				 : err;
	trigger->marks |= TRACE_TRIGGER_IF;
	if (trigger->filter->needs_head)
		trigger->marks |= TRACE_TRIGGER_HEAD;
	return 0;
}

void trace_trigger_clear_condition(struct trace_trigger *trigger)
{
	trace_expr_free(trigger->filter);
	if (trigger->filter_text)
		trace_plat_free(trigger->filter_text, trigger->filter_bytes);
}
