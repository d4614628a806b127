/* Shared declarations of the files of triggers: the condition. See trigger.h. */
#ifndef TRACE_TRIGGER_PRIVATE_H
#define TRACE_TRIGGER_PRIVATE_H

#include "trigger.h"

/*
 * Limit the trigger to events for which `condition` is true. Returns 0, -ENOMEM, or an error of the
 * filter after a call of blame.
 */
int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const struct expr_word *condition);
void trace_trigger_clear_condition(struct trace_trigger *trigger);

#endif
