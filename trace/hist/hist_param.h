/*
 * Arguments of actions: fields of this event and of others, variables. See hist_action.h.
 *
 * A field of another event is read through a variable `synthetic_FIELD=FIELD` of a histogram that
 * is set on that event for this purpose, with the keys of a histogram that is there. The histogram
 * is removed with the last user of the variable.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PARAM_H
#define HIST_PARAM_H

#include "hist_action.h"

/*
 * Compile param->text: FIELD, SYSTEM.EVENT.FIELD, $VARIABLE or SYSTEM.EVENT.$VARIABLE. With
 * onmatch, a field that this event lacks belongs to the other event. Returns 0, or -errno after a
 * blame.
 */
int trace_hist_compile_param(struct hist_parse *parse, const struct hist_action *action,
			     struct hist_param *param);

#endif
