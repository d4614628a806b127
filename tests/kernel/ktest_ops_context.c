/*
 * An interrupt in a callback: none of the calls that it makes, from its entry to its exit, is taken
 * for a recursion of that callback, and lost.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>
#include <trace/recursion.h>

#define SPAN_NS	 (60 * NSEC_PER_MSEC)
#define SPIN_NS	 20000u
#define SLEEP_NS (NSEC_PER_MSEC / 10)

#define CALLS_AT_ONCE 64u

static struct {
	_Atomic bool stop;
	_Atomic uint64_t nr_lost;
	_Atomic uint64_t nr_inside; /* calls by interrupts of callbacks */
	uint32_t nr_open[MAX_CPUS]; /* callbacks; its own CPU, preemption off */
} context;

static TRACE_NOINLINE void context_target(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Long at one function, so that interrupts come there. */
static TRACE_NOTRACE void context_callback(uintptr_t ip, uintptr_t parent_ip,
					   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);
	uint64_t end_ns = ip == (uintptr_t)context_target ? trace_plat_clock_ns() + SPIN_NS : 0;
	uint32_t *nr_open = &context.nr_open[trace_plat_cpu_id()];

	(void)ops;
	(void)fregs;
	if (bit < 0) {
		atomic_fetch_add(&context.nr_lost, 1);
		return;
	}
	if ((*nr_open)++)
		atomic_fetch_add(&context.nr_inside, 1);
	while (trace_plat_clock_ns() < end_ns)
		__asm__ volatile("" : : : "memory");
	(*nr_open)--;
	ftrace_test_recursion_unlock(bit);
}

static int caller(void *arg)
{
	(void)arg;
	while (!atomic_load(&context.stop)) {
		uint64_t start_ns = ktime_get_ns();

		for (uint32_t i = 0; i < CALLS_AT_ONCE; i++)
			context_target();
		ktest_rest(start_ns);
	}
	return 0;
}

static int sleeper(void *arg)
{
	(void)arg;
	while (!atomic_load(&context.stop))
		thread_sleep_ns(SLEEP_NS);
	return 0;
}

static void test_context(void)
{
	static struct ftrace_ops every = { .func = context_callback };
	static struct thread *threads[2 * MAX_CPUS];
	uint32_t nr = 0;

	memset(&context, 0, sizeof(context));
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		threads[nr++] = thread_create_on(1ull << cpu, "caller", caller, NULL, 0);
		threads[nr++] = thread_create_on(1ull << cpu, "sleeper", sleeper, NULL, 0);
	}
	KTEST_CHECK(register_ftrace_function(&every) == 0);
	thread_sleep_ns(SPAN_NS);
	atomic_store(&context.stop, true);
	while (nr--) {
		if (threads[nr])
			thread_join_wait(threads[nr]);
	}
	KTEST_CHECK(unregister_ftrace_function(&every) == 0);
	KTEST_CHECK(context.nr_lost == 0 && context.nr_inside > 0);
}

const struct ktest ktest_ops_context[] = {
	{ "ops_context", test_context },
	{ 0 },
};
