/*
 * Default: there is one thread, the one that runs. It is never inside code that is to be freed,
 * because these functions are not called from callbacks.
 */
#include <trace/platform.h>

TRACE_DEFAULT void
trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg), void *arg)
{
	fn(trace_plat_current_pid(), trace_plat_current(), arg);
}

TRACE_DEFAULT void trace_plat_each_stack(const struct trace_plat_look *look)
{
	look->seen(trace_plat_current(), 0, look->arg);
}
