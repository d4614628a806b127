/*
 * Defaults: there is one thread, the one that runs; and no thread is inside code that is to be
 * freed. That holds for the running thread, because these functions are not called from callbacks,
 * and for others that are never preempted, because no callback switches threads.
 */
#include <trace/platform.h>

TRACE_DEFAULT void
trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg), void *arg)
{
	fn(trace_plat_current_pid(), trace_plat_current(), arg);
}

static void see_nothing(int32_t pid, struct trace_thread *thread, void *arg)
{
	const struct trace_plat_look *look = arg;

	(void)pid;
	look->seen(thread, 0, look->arg);
}

/* Of a host with threads: all those that its own trace_plat_each_thread() has. */
TRACE_DEFAULT void trace_plat_each_stack(const struct trace_plat_look *look)
{
	struct trace_plat_look copy = *look;

	trace_plat_each_thread(see_nothing, &copy);
}
