/*
 * Arguments of actions: fields of this event and of others, variables. See hist_action.h.
 *
 * What stands for a field of another event is a variable of a histogram that is set on that event
 * for this purpose: keys as of a histogram that is there, `synthetic_FIELD=FIELD`. It goes with the
 * last user of the variable.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PARAM_H
#define HIST_PARAM_H

#include "hist_action.h"

/*
 * Compile param->text: FIELD, SYSTEM.EVENT.FIELD, $VARIABLE or SYSTEM.EVENT.$VARIABLE. With onmatch
 * a field that this event does not have is one of the other event. 0, or -errno after a blame.
 */
int trace_hist_compile_param(struct hist_parse *parse, const struct hist_action *action,
			     struct hist_param *param);

#endif
