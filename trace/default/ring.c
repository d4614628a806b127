/*
 * Defaults of every profile: one CPU, locks that spin, a wait that reads the clock; threads have no
 * names, and alerts and bugs are logged.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <trace/fmt.h>
#include <trace/platform.h>

#define YIELD_NS   1000u
#define LINE_BYTES 256

/* trace_plat_clock_ns() is used for this, too, so it has to agree on all CPUs. */
TRACE_DEFAULT uint64_t trace_plat_clock_mono_ns(void)
{
	return trace_plat_clock_ns();
}

TRACE_DEFAULT uint32_t trace_plat_nr_cpus(void)
{
	return 1;
}

TRACE_DEFAULT int trace_plat_pause(uint64_t ns, bool may_interrupt)
{
	uint64_t begin = trace_plat_clock_mono_ns();

	(void)may_interrupt; /* there is no user */
	while (trace_plat_clock_mono_ns() - begin < ns)
		continue;
	return 0;
}

/*
 * A lock, tried again and again with trace_plat_pause() in between, which may let other threads run.
 */
struct spin {
	_Atomic bool is_held;
};

_Static_assert(sizeof(struct spin) <= sizeof(struct trace_plat_lock), "lock has room");

TRACE_DEFAULT void trace_plat_lock(struct trace_plat_lock *lock)
{
	struct spin *spin = (struct spin *)(void *)lock;

	while (atomic_exchange_explicit(&spin->is_held, true, memory_order_acquire))
		trace_plat_pause(YIELD_NS, false);
}

TRACE_DEFAULT void trace_plat_unlock(struct trace_plat_lock *lock)
{
	struct spin *spin = (struct spin *)(void *)lock;

	atomic_store_explicit(&spin->is_held, false, memory_order_release);
}

/* Defined in ops/. A host that links nothing from there has no tracing that could be stopped. */
void ftrace_kill(void) __attribute__((weak));

static void log_line(const char *fmt, va_list args)
{
	char line[LINE_BYTES];

	trace_vsnprintf(line, sizeof(line), fmt, args);
	trace_plat_log("%s", line);
}

TRACE_DEFAULT void trace_plat_alert(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

TRACE_DEFAULT void trace_plat_bug(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
	if (ftrace_kill)
		ftrace_kill();
}

TRACE_DEFAULT bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	(void)pid;
	(void)may_wait;
	(void)out_comm;
	return false;
}
