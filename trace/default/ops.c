/*
 * Defaults of profiles with call sites, and of `events`: the running thread is the only one, memory
 * can be read, names are looked up one by one.
 */
#include <trace/platform.h>
#include "text/str.h"

#define LOWEST 4096u

/*
 * One thread, and none inside code that is to be freed. That holds for the running thread,
 * because these functions are not called from callbacks, and for others that are never preempted,
 * because no callback switches threads.
 */
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

/* Names of ascending addresses, each looked up by itself. */
TRACE_DEFAULT size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr,
					    char *out_name)
{
	uintptr_t start;
	size_t size;

	(void)cursor;
	if (!trace_plat_symbol(addr, out_name, &start, &size))
		return 0;
	return trace_strnlen(out_name, TRACE_SYM_LEN);
}

/* Nothing is known about functions without a site. */
TRACE_DEFAULT int trace_plat_why_not(const char *name, char *out_text, size_t len)
{
	(void)name;
	(void)out_text;
	(void)len;
	return -ENOENT;
}

/* All addresses can be read but for those near 0, which no memory has. */
TRACE_DEFAULT bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	if ((uintptr_t)from < LOWEST || (uintptr_t)from > UINTPTR_MAX - bytes)
		return false;
	memcpy(to, from, bytes);
	return true;
}
