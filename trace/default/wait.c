/*
 * Default: waiting is asking again and again, with trace_plat_pause() in between.
 */
#include <trace/platform.h>

#define ASK_NS 10000000u

TRACE_DEFAULT int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg),
				  void *arg)
{
	int err = 0;

	(void)queue;
	while (!err && !done(arg))
		err = trace_plat_pause(ASK_NS, true);
	return err;
}

TRACE_DEFAULT void trace_plat_wake(struct trace_plat_waitq *queue)
{
	(void)queue;
}
