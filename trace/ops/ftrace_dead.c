/*
 * The end of function tracing: after it has found that something is not as it left it, nothing is
 * written any more. See <trace/ftrace.h>, ftrace_private.h.
 */
#include "ftrace_private.h"

/* Here, so that a library without call sites can be ended as well: its list is always empty. */
struct ftrace_ops *_Atomic ftrace_ops_list;

static _Atomic bool ftrace_died;
static const char *_Atomic dead_why; /* the first reason */
static void (*_Atomic killed_fn)(void);

bool ftrace_is_dead(void)
{
	return atomic_load_explicit(&ftrace_died, memory_order_relaxed);
}

void ftrace_when_killed(void (*fn)(void))
{
	atomic_store(&killed_fn, fn);
}

/* No site is written, for text may be damaged: those with an ops of their own go on calling it. */
void ftrace_kill_because(const char *why)
{
	void (*fn)(void) = killed_fn;
	const char *none = NULL;

	atomic_compare_exchange_strong(&dead_why, &none, why);
	atomic_store(&ftrace_died, true);
	atomic_store(&ftrace_ops_list, NULL);
	if (fn)
		fn();
}

void ftrace_kill(void)
{
	ftrace_kill_because("the kernel has called ftrace_kill()");
}

const char *ftrace_dead_why(void)
{
	return dead_why;
}
