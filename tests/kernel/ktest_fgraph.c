/* Hooked returns where only a kernel has them: real stacks, interrupts, NMIs, ends of threads. */
#include <stdatomic.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include "ktest.h"
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fgraph.h>

#define SLEEPS	   20u /* at most, until one is measured */
#define SLEPT_NS   (5 * NSEC_PER_MSEC / 2)
#define MAX_FRAMES 24
#define PATTERN	   "graph_call_*"

/* Entries and returns as an API user has seen them. */
struct seen {
	struct fgraph_ops gops;
	_Atomic uint64_t entries;
	_Atomic uint64_t returns;
	_Atomic uint64_t errors;
	struct ftrace_graph_ret last;
};

static TRACE_NOTRACE bool note_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	struct seen *seen = gops->private;

	*ent->data = ent->func + ent->depth;
	if (ent->depth && !ent->parent_data)
		atomic_fetch_add(&seen->errors, 1);
	atomic_fetch_add(&seen->entries, 1);
	return true;
}

static TRACE_NOTRACE void note_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	struct seen *seen = gops->private;

	if (*ret->data != ret->func + ret->depth || ret->rettime < ret->calltime)
		atomic_fetch_add(&seen->errors, 1);
	seen->last = *ret;
	atomic_fetch_add(&seen->returns, 1);
}

static bool watch(struct seen *seen, const char *pattern)
{
	*seen = (struct seen){
		.gops = { .entryfunc = note_entry, .retfunc = note_return, .private = seen }
	};
	if (pattern && ftrace_set_filter(&seen->gops.ops, pattern, strlen(pattern), true))
		return false;
	return register_ftrace_graph(&seen->gops) == 0;
}

static void unwatch(struct seen *seen)
{
	KTEST_CHECK(unregister_ftrace_graph(&seen->gops) == 0);
	ftrace_free_filter(&seen->gops.ops);
	KTEST_CHECK(seen->errors == 0);
}

static struct seen first, second;

/* ---- The traced functions ---- */

static struct {
	uintptr_t addr[MAX_FRAMES];
	size_t nr;
} trace;

static TRACE_NOINLINE uint64_t graph_call_leaf(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

static TRACE_NOINLINE uint64_t graph_call_middle(uint64_t n)
{
	return graph_call_leaf(n) + graph_call_leaf(n + 1);
}

/* The compilers make a jump of it. */
static TRACE_NOINLINE uint64_t graph_call_tail(uint64_t n)
{
	return graph_call_leaf(n + 5);
}

static TRACE_NOINLINE unsigned __int128 graph_call_wide(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return (unsigned __int128)n << 64 | ~n;
}

static TRACE_NOINLINE void graph_call_backtrace(void)
{
	trace.nr = arch_backtrace_here(trace.addr, MAX_FRAMES);
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void graph_call_outer(void)
{
	graph_call_backtrace();
	__asm__ volatile("" : : : "memory");
}

/* ---- Tests ---- */

static void test_values(void)
{
	if (!KTEST_NEED(watch(&first, PATTERN)))
		return;
	KTEST_CHECK(graph_call_leaf(7) == 21);
	KTEST_CHECK(first.last.retval == 21 && first.last.func == (uintptr_t)graph_call_leaf &&
		    first.last.depth == 0);
	KTEST_CHECK(graph_call_middle(1) == 9);
	KTEST_CHECK(first.last.retval == 9 && first.last.func == (uintptr_t)graph_call_middle);
	KTEST_CHECK(graph_call_tail(2) == 21);
	KTEST_CHECK(graph_call_wide(3) == ((unsigned __int128)3 << 64 | ~3ull));
	KTEST_CHECK(first.entries == 7 && first.returns == 7);
	KTEST_CHECK(ftrace_graph_pending(&first.gops) == 0);
	unwatch(&first);
	KTEST_CHECK(graph_call_middle(1) == 9 && first.entries == 7);
}

static void test_two_users(void)
{
	if (!KTEST_NEED(watch(&first, PATTERN)))
		return;
	if (!KTEST_NEED(watch(&second, "graph_call_leaf"))) {
		unwatch(&first);
		return;
	}
	KTEST_CHECK(register_ftrace_graph(&second.gops) == -EBUSY);
	KTEST_CHECK(graph_call_middle(1) == 9);
	KTEST_CHECK(first.entries == 3 && first.returns == 3);
	KTEST_CHECK(second.entries == 2 && second.returns == 2);
	KTEST_CHECK(first.last.depth == 0 && second.last.depth == 0);
	unwatch(&first);
	KTEST_CHECK(graph_call_middle(1) == 9);
	KTEST_CHECK(first.entries == 3 && second.returns == 4);
	unwatch(&second);
	KTEST_CHECK(unregister_ftrace_graph(&second.gops) == -EINVAL);
}

static void test_limits(void)
{
	static struct seen many[FGRAPH_MAX_USERS + 1];
	struct fgraph_ops empty = { 0 };
	size_t nr = 0;

	KTEST_CHECK(register_ftrace_graph(&empty) == -EINVAL);
	while (nr < ARRAY_SIZE(many) && watch(&many[nr], "graph_call_leaf"))
		nr++;
	KTEST_CHECK(nr == FGRAPH_MAX_USERS);
	KTEST_CHECK(register_ftrace_graph(&many[nr].gops) == -EBUSY);
	KTEST_CHECK(graph_call_leaf(1) == 3);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		if (i < nr) {
			KTEST_CHECK(many[i].returns == 1);
			unwatch(&many[i]);
		} else {
			ftrace_free_filter(&many[i].gops.ops);
		}
	}
}

static uint64_t recurse(uint64_t n);

static TRACE_NOINLINE uint64_t graph_call_deep(uint64_t n)
{
	uint64_t below = n ? recurse(n - 1) : 0;

	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static uint64_t recurse(uint64_t n)
{
	return graph_call_deep(n);
}

static void test_overrun(void)
{
	if (!KTEST_NEED(watch(&first, "graph_call_deep")))
		return;
	KTEST_CHECK(graph_call_deep(149) == 150);
	KTEST_CHECK(first.entries == first.returns && first.entries < 150 && first.entries >= 50);
	KTEST_CHECK(first.last.overrun >= 150 - first.entries);
	KTEST_CHECK(graph_call_deep(20) == 21);
	unwatch(&first);
}

static void same_frames(void)
{
	uintptr_t plain[MAX_FRAMES];
	size_t nr;

	graph_call_outer();
	nr = trace.nr;
	memcpy(plain, trace.addr, sizeof(plain));
	if (!KTEST_NEED(nr > 4 && watch(&first, PATTERN)))
		return;
	graph_call_outer();
	KTEST_CHECK(trace.nr == nr);
	/* The second call is another instruction of this function. */
	for (size_t i = 0; i < nr; i++)
		KTEST_CHECK(i == 2 || trace.addr[i] == plain[i]);
	unwatch(&first);
}

static void call_in_interrupt(void *arg)
{
	(void)arg;
	graph_call_middle(3);
}

static int call_often(void *arg)
{
	uint64_t deadline = ktime_get_ns() + 20 * NSEC_PER_MSEC;

	(void)arg;
	while (ktime_get_ns() < deadline) {
		if (graph_call_middle(1) != 9 || graph_call_tail(2) != 21)
			return 1;
	}
	return 0;
}

static int interrupt_often(void *arg)
{
	uint64_t deadline = ktime_get_ns() + 20 * NSEC_PER_MSEC;

	(void)arg;
	while (ktime_get_ns() < deadline)
		on_each_cpu(call_in_interrupt, NULL, true);
	return 0;
}

static int call_or_interrupt(void *arg)
{
	static _Atomic uint32_t number;

	return atomic_fetch_add(&number, 1) % 2 ? call_often(arg) : interrupt_often(arg);
}

/* Two users, threads and interrupts on the same functions: each entry has its exit. */
static void test_interrupts(void)
{
	if (!KTEST_NEED(watch(&first, PATTERN)))
		return;
	if (KTEST_NEED(watch(&second, "*call*"))) {
		KTEST_CHECK(ktest_threads(6, call_or_interrupt, NULL) == 0);
		KTEST_CHECK(first.entries > 100 && first.entries == first.returns);
		unwatch(&second);
	}
	KTEST_CHECK(ftrace_graph_pending(&first.gops) == 0);
	unwatch(&first);
}

static TRACE_NOINLINE int graph_call_exits(void *arg)
{
	(void)arg;
	graph_call_middle(1);
	do_exit(0);
}

static int start_exiting(void *arg)
{
	return graph_call_exits(arg);
}

/* Calls that never return are accounted for, and their stacks are freed. */
static void test_exit(void)
{
	if (!KTEST_NEED(watch(&first, PATTERN)))
		return;
	for (int i = 0; i < 10; i++)
		KTEST_CHECK(ktest_threads(4, start_exiting, NULL) == 0);
	KTEST_CHECK(first.entries == 160 && first.returns == 120);
	KTEST_CHECK(first.gops.user.nr_abandoned == 40);
	KTEST_CHECK(ftrace_graph_pending(&first.gops) == 0);
	unwatch(&first);
}

static struct {
	struct completion inside;
	struct completion leave;
} parked;

static TRACE_NOINLINE void graph_call_parks(void)
{
	complete(&parked.inside);
	wait_for_completion(&parked.leave);
}

static int park(void *arg)
{
	(void)arg;
	graph_call_parks();
	return 0;
}

/* A user goes while a thread is inside: its return is not called, the thread gets out. */
static void test_leave_while_inside(void)
{
	struct thread *thread;

	parked.inside = parked.leave = (struct completion){ 0 };
	if (!KTEST_NEED(watch(&first, PATTERN)))
		return;
	thread = thread_create("park", park, NULL, 0);
	if (KTEST_NEED(thread)) {
		wait_for_completion(&parked.inside);
		KTEST_CHECK(ftrace_graph_pending(&first.gops) == 1);
	}
	unwatch(&first);
	/* Its number is given again: frames of the first are not taken for the second's. */
	KTEST_CHECK(watch(&second, PATTERN));
	KTEST_CHECK(second.gops.user.index == first.gops.user.index);
	complete(&parked.leave);
	if (thread)
		thread_join_wait(thread);
	KTEST_CHECK(first.returns == 0 && second.returns == 0);
	KTEST_CHECK(graph_call_leaf(1) == 3 && second.returns == 1);
	unwatch(&second);
}

/* Time asleep counts apart, also for a call that began before it was measured. */
static TRACE_NOINLINE void graph_call_sleeps(void)
{
	thread_sleep_ns(5 * NSEC_PER_MSEC);
}

static void test_sleep(void)
{
	if (!KTEST_NEED(watch(&first, "graph_call_sleeps")))
		return;
	graph_call_sleeps();
	KTEST_CHECK(first.last.sleep_ns == 0);
	if (KTEST_NEED(ftrace_graph_sleep_get() == 0)) {
		/* On a busy host the time may be nearly over before it sleeps. */
		for (uint32_t i = 0; i < SLEEPS && first.last.sleep_ns < SLEPT_NS; i++)
			graph_call_sleeps();
		ftrace_graph_sleep_put();
	}
	KTEST_CHECK(first.last.sleep_ns >= SLEPT_NS);
	KTEST_CHECK(first.last.sleep_ns <= first.last.rettime - first.last.calltime);
	unwatch(&first);
}

const struct ktest ktest_fgraph[] = {
	{ "fgraph_values", test_values },
	{ "fgraph_two_users", test_two_users },
	{ "fgraph_limits", test_limits },
	{ "fgraph_overrun", test_overrun },
	{ "fgraph_backtrace", same_frames },
	{ "fgraph_interrupts", test_interrupts },
	{ "fgraph_exit", test_exit },
	{ "fgraph_leave_while_inside", test_leave_while_inside },
	{ "fgraph_sleep", test_sleep },
	{ 0 },
};
