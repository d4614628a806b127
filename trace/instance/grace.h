/*
 * Waiting until no thread is inside removed code, such as the trampoline of a tracer that has
 * ended. The wait is that of ops/ftrace_grace.h, which fs/fs_functions_feature.c enters here. In a
 * build without call sites no code is ever removed, and there is no wait.
 *
 * Context: thread, neither ftrace_lock nor the config lock held, unless ftrace_grace.h says that
 *          they may be.
 */
#ifndef TRACE_GRACE_H
#define TRACE_GRACE_H

#include "ops/ftrace_grace.h"

struct trace_grace {
	void (*mark)(uint64_t *out_mark);
	int (*wait)(uint64_t mark, bool may_interrupt);
	void (*call_after)(struct ftrace_after *after);
};

/* NULL: there are no call sites. Set once, by trace_init(). */
extern const struct trace_grace *trace_grace;

/* As ftrace_grace_mark(). */
static inline uint64_t trace_grace_mark(void)
{
	uint64_t mark = 0;

	if (trace_grace)
		trace_grace->mark(&mark);
	return mark;
}

/*
 * As ftrace_grace_wait() with `may_interrupt`: nothing else depends on what the user then does not
 * wait for.
 */
static inline void trace_grace_wait_since(uint64_t mark)
{
	if (trace_grace)
		(void)trace_grace->wait(mark, true);
}

/* As ftrace_call_after(); with the config lock held. */
static inline void trace_grace_call_after(struct ftrace_after *after)
{
	if (trace_grace)
		trace_grace->call_after(after);
	else
		after->fn(after);
}

#endif
