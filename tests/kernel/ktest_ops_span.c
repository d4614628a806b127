/*
 * From when to when callbacks run: they have begun on every CPU when register returns, and none can
 * run when unregister has returned, while all CPUs call the function.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define MAX_ROUNDS 60u
#define FEWEST	   8u
#define SPAN_NS	   (150 * NSEC_PER_MSEC)

/* The calls of a caller that were seen, and the promise that held then. */
struct span_caller {
	uint64_t nr_seen; /* the callback's, by the argument of the call */
	uint64_t nr_checked;
};

static struct {
	_Atomic bool stop;
	_Atomic uint32_t promised; /* number of the round whose callbacks have begun; 0: none */
	_Atomic bool ended;	   /* none can run */
	_Atomic uint64_t nr_late;
	_Atomic uint64_t nr_missed;
	_Atomic uint64_t nr_checked;
} span;

static TRACE_NOINLINE void span_target(struct span_caller *caller)
{
	__asm__ volatile("" : : "r"(caller) : "memory");
}

static TRACE_NOTRACE void span_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	struct span_caller *caller = (void *)ftrace_regs_get_argument(fregs, 0);

	(void)ip;
	(void)parent_ip;
	(void)ops;
	if (atomic_load(&span.ended))
		atomic_fetch_add(&span.nr_late, 1);
	caller->nr_seen++;
}

/* A call that lies within one promise is seen once, by one callback. */
static void span_check_call(struct span_caller *caller)
{
	uint32_t promised = atomic_load(&span.promised);
	uint64_t before = caller->nr_seen;

	span_target(caller);
	if (!promised || atomic_load(&span.promised) != promised)
		return;
	caller->nr_checked++;
	if (caller->nr_seen != before + 1)
		atomic_fetch_add(&span.nr_missed, 1);
}

static int span_worker(void *arg)
{
	struct span_caller caller = { 0 };

	(void)arg;
	while (!atomic_load(&span.stop)) {
		for (uint32_t i = 0; i < 64; i++)
			span_check_call(&caller);
		thread_sleep_ns(NSEC_PER_MSEC / 20); /* a grace period need not wait for all */
	}
	atomic_fetch_add(&span.nr_checked, caller.nr_checked);
	return 0;
}

/* Of the caller of this, at once; the others go on meanwhile. */
static void span_round(struct ftrace_ops *ops, uint32_t round)
{
	struct span_caller caller = { 0 };

	atomic_store(&span.ended, false);
	KTEST_CHECK(register_ftrace_function(ops) == 0);
	atomic_store(&span.promised, round);
	span_check_call(&caller);
	KTEST_CHECK(caller.nr_checked == 1);
	thread_sleep_ns(NSEC_PER_MSEC / 2);
	atomic_store(&span.promised, 0);
	KTEST_CHECK(unregister_ftrace_function(ops) == 0);
	atomic_store(&span.ended, true);
	thread_sleep_ns(NSEC_PER_MSEC / 2);
}

static TRACE_NOTRACE void do_nothing(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				     struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static struct ftrace_ops beside = { .func = do_nothing };

static void set_only(struct ftrace_ops *ops)
{
	KTEST_CHECK(ftrace_set_filter_ip(ops, (uintptr_t)span_target, false, true) == 0);
}

static void toggle(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		KTEST_CHECK(unregister_ftrace_function(ops) == 0);
	else
		KTEST_CHECK(register_ftrace_function(ops) == 0);
}

static struct thread *workers[MAX_CPUS];

static void start_workers(void)
{
	memset(&span, 0, sizeof(span));
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		workers[cpu] = NULL;
		if (smp_cpu_online(cpu))
			workers[cpu] = thread_create_on(1ull << cpu, "span", span_worker, NULL, 0);
	}
}

static void stop_workers(void)
{
	atomic_store(&span.stop, true);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (workers[cpu])
			thread_join_wait(workers[cpu]);
	}
}

static void test_span(void)
{
	static struct ftrace_ops ops[] = {
		{ .func = span_callback },
		{ .func = span_callback, .flags = FTRACE_OPS_FL_SAVE_REGS },
		{ .func = span_callback, .flags = FTRACE_OPS_FL_RECURSION },
	};
	uint64_t end_ns = ktime_get_ns() + SPAN_NS;

	set_only(&beside); /* while it is there they are called by the list functions */
	for (uint32_t i = 0; i < ARRAY_SIZE(ops); i++)
		set_only(&ops[i]);
	start_workers();
	for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
		if (round >= FEWEST && ktime_get_ns() > end_ns)
			break;
		if (round % 4 == 2)
			toggle(&beside);
		span_round(&ops[round % ARRAY_SIZE(ops)], round + 1);
	}
	stop_workers();
	KTEST_CHECK(span.nr_missed == 0 && span.nr_late == 0 && span.nr_checked > 0);
	if (beside.flags & FTRACE_OPS_FL_ENABLED)
		toggle(&beside);
	ftrace_free_filter(&beside);
	for (uint32_t i = 0; i < ARRAY_SIZE(ops); i++)
		ftrace_free_filter(&ops[i]);
}

const struct ktest ktest_ops_span[] = {
	{ "ops_span", test_span },
	{ 0 },
};
