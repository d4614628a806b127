/*
 * Defaults of profiles with events: CPUs that stay online, a scheduler of which nothing is known, a
 * tick of a millisecond; a panic ends tracing, and events go to the log as all messages do.
 */
#include <stdarg.h>
#include <trace/fmt.h>
#include <trace/host_tracepoints.h>
#include <trace/platform.h>
#include "text/str.h"

#define UNKNOWN	    "<...>"
#define NS_PER_TICK 1000000u
#define ASK_NS	    10000000u
#define LINE_BYTES  512

/* All CPUs are online, and a function cannot be run on another one. */
TRACE_DEFAULT bool trace_plat_cpu_online(uint32_t cpu)
{
	return cpu < trace_plat_nr_cpus();
}

TRACE_DEFAULT int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	uint64_t flags = trace_plat_irq_save();
	bool is_here = cpu == trace_plat_cpu_id();

	if (is_here)
		fn(arg);
	trace_plat_irq_restore(flags);
	return is_here ? 0 : -ENODEV;
}

/* The running thread: only the name that its number has is known. */
TRACE_DEFAULT void trace_plat_current_sched(struct trace_sched_thread *out_thread)
{
	*out_thread = (struct trace_sched_thread){
		.thread = trace_plat_current(),
		.comm = UNKNOWN,
		.pid = trace_plat_current_pid(),
		.prio = TRACE_PRIO_NORMAL,
		.state = 'R',
		.cpu = trace_plat_cpu_id(),
	};
}

TRACE_DEFAULT void trace_plat_current_comm(char *out_comm)
{
	if (!trace_plat_thread_comm(trace_plat_current_pid(), false, out_comm))
		trace_strcpy(out_comm, UNKNOWN, TRACE_COMM_LEN);
}

TRACE_DEFAULT int32_t trace_plat_thread_tgid(int32_t pid, bool may_wait)
{
	char comm[TRACE_COMM_LEN];

	return trace_plat_thread_comm(pid, may_wait, comm) ? pid : 0;
}

TRACE_DEFAULT uint64_t trace_plat_uptime_ticks(void)
{
	return trace_plat_clock_mono_ns() / NS_PER_TICK;
}

/* Waiting is asking again and again, with trace_plat_pause() in between. */
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

TRACE_DEFAULT void trace_plat_log_event(const char *line, size_t len)
{
	trace_plat_log("%.*s", (int)len, line);
}

/* The machine goes on, but nothing more is traced. */
TRACE_DEFAULT void trace_plat_panic(const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	trace_vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	trace_plat_bug("%s", line);
}

/* A name is that of one function, and the files of the source are not known. */
TRACE_DEFAULT size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	uintptr_t addr = trace_plat_symbol_find(name);

	if (addr && max)
		*out_addrs = addr;
	return addr != 0;
}

TRACE_DEFAULT const char *trace_plat_source_of(uintptr_t addr)
{
	(void)addr;
	return NULL;
}

TRACE_DEFAULT void *trace_plat_kept_memory(const char *name, size_t *out_bytes)
{
	(void)name;
	*out_bytes = 0;
	return NULL;
}

TRACE_DEFAULT const char *trace_plat_build_id(void)
{
	return "";
}
