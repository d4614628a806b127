/*
 * Functions for tracers of function calls about their instance, in builds with call sites. See
 * <trace/tracer.h>, array.h.
 */
#include <trace/thread.h>
#include "array.h"
#include "ops/ftrace_private.h"

bool trace_array_ignores_current(const struct trace_array *tr)
{
	return trace_plat_current()->ignored_by & tr->pid_mask;
}

int tracer_register_function(struct trace_array *tr, ftrace_func_t func)
{
	if (tr->ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY; /* func of a registered ops may not be changed */
	tr->ops->func = func;
	tr->ops->private = tr;
	tr->ops->ignore_mask = tr->pid_mask;
	return register_ftrace_function(tr->ops);
}

/* Not unregister_ftrace_function(), which waits: that must not happen with the config lock held. */
void tracer_unregister_function(struct trace_array *tr)
{
	(void)ftrace_unregister(tr->ops);
}
