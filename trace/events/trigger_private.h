/*
 * What the files of triggers share: the condition of a trigger. See trigger.h.
 */
#ifndef TRACE_TRIGGER_PRIVATE_H
#define TRACE_TRIGGER_PRIVATE_H

#include "trigger.h"

/*
 * The trigger acts only on events for which `condition` is true. 0, -ENOMEM, or an error of the
 * filter after a call of blame.
 */
int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const char *condition);
void trace_trigger_clear_condition(struct trace_trigger *trigger);

#endif
