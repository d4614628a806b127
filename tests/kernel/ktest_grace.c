/*
 * Whom grace periods wait for: an idle thread that stands in a callback, a thread that sleeps in
 * one; and whether a look at a stack knows when it has not seen all of it.
 */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include <arch/switch.h>
#include <trace/arch_trampoline.h>
#include <arch/unwind.h>
#include "ktest.h"
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/upcall.h>
#include <trace/arch_code.h>
#include <trace/ftrace.h>
#include <trace/kretprobe.h>

#define IDLE_CPU  1u
#define LOOK_NS	  (30 * NSEC_PER_MSEC) /* much longer than it takes otherwise */
#define BOUND_NS  (10 * NSEC_PER_SEC)  /* ends a test that hangs */
#define MAX_LOOKS 50u

static struct {
	struct ftrace_ops ops;
	_Atomic bool is_inside;
	_Atomic bool leaves;
	_Atomic bool is_unregistered;
	_Atomic bool is_synchronized;
} inside;

static int unregister(void *arg)
{
	(void)arg;
	unregister_ftrace_function(&inside.ops);
	atomic_store(&inside.is_unregistered, true);
	return 0;
}

static int synchronize(void *arg)
{
	(void)arg;
	synchronize_preempt();
	atomic_store(&inside.is_synchronized, true);
	return 0;
}

static int do_nothing(void *arg)
{
	(void)arg;
	return 0;
}

static bool wait_for(_Atomic bool *flag)
{
	uint64_t end_ns = ktime_get_ns() + BOUND_NS;

	while (!atomic_load(flag) && ktime_get_ns() < end_ns)
		thread_sleep_ns(NSEC_PER_MSEC);
	return atomic_load(flag);
}

static bool is_trampoline(uintptr_t addr)
{
	uintptr_t at = addr - 1;
	size_t size;

	return trampoline_next(&at, &size) && at == addr;
}

/* Nothing is freed while a thread is inside; all is, when it has left. */
static void check_unregister(bool is_section)
{
	const struct trace_trampoline tramp = inside.ops.trampoline;
	struct thread *remover = thread_create_on(1, "remover", unregister, NULL, 0);
	struct thread *waiter = thread_create_on(1, "waiter", synchronize, NULL, 0);

	KTEST_CHECK(is_section || wait_for(&inside.is_synchronized));
	thread_pause_ns(LOOK_NS);
	KTEST_CHECK(!atomic_load(&inside.is_unregistered));
	KTEST_CHECK(!is_section || !atomic_load(&inside.is_synchronized));
	KTEST_CHECK(is_trampoline(tramp.addr));
	atomic_store(&inside.leaves, true);
	if (KTEST_NEED(remover && waiter)) {
		thread_join_wait(remover);
		thread_join_wait(waiter);
	}
	KTEST_CHECK(!is_trampoline(tramp.addr));
	KTEST_CHECK(*(const uint8_t *)tramp.addr == 0xcc);
}

static bool begin(const char *function, ftrace_func_t func)
{
	memset(&inside, 0, sizeof(inside));
	inside.ops.func = func;
	return KTEST_NEED(ftrace_set_filter(&inside.ops, function, strlen(function), true) == 0) &&
	       KTEST_NEED(register_ftrace_function(&inside.ops) == 0);
}

/* The idle thread comes here whenever it is woken; the first time it stays. */
static TRACE_NOTRACE void stay_idle(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				    struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	if (!(current_thread()->flags & THREAD_IDLE) || cpu_local_read(id) != IDLE_CPU ||
	    in_interrupt() || arch_irqs_disabled() || atomic_exchange(&inside.is_inside, true))
		return;
	while (!atomic_load(&inside.leaves))
		arch_cpu_relax();
}

static void test_idle(void)
{
	struct thread *kick;

	if (smp_nr_online() <= IDLE_CPU || thread_set_affinity(current_thread(), 1) != 0)
		return;
	if (begin("sched_switch", stay_idle)) {
		kick = thread_create_on(1ull << IDLE_CPU, "kick", do_nothing, NULL, 0);
		if (KTEST_NEED(kick && wait_for(&inside.is_inside)))
			check_unregister(true);
		atomic_store(&inside.leaves, true);
		if (kick)
			thread_join_wait(kick);
	}
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
	ftrace_free_filter(&inside.ops);
}

static TRACE_NOTRACE void sleep_inside(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	atomic_store(&inside.is_inside, true);
	while (!atomic_load(&inside.leaves))
		thread_pause_ns(NSEC_PER_MSEC);
}

static TRACE_NOINLINE void grace_target(void)
{
	__asm__ volatile("" : : : "memory");
}

static int call_target(void *arg)
{
	(void)arg;
	grace_target();
	return 0;
}

/* A callback should not sleep; one that does returns into its trampoline all the same. */
static void test_sleeper(void)
{
	struct thread *sleeper;

	if (begin("grace_target", sleep_inside)) {
		sleeper = thread_create("sleeper", call_target, NULL, 0);
		if (KTEST_NEED(sleeper && wait_for(&inside.is_inside)))
			check_unregister(false);
		atomic_store(&inside.leaves, true);
		if (sleeper)
			thread_join_wait(sleeper);
	}
	ftrace_free_filter(&inside.ops);
}

/* ---- Complete walks ---- */

static void ignore(const uintptr_t *words, size_t nr, void *arg)
{
	(void)words;
	(void)nr;
	(void)arg;
}

/* The words that arch_switch() has saved, lowest address first, and what rbp points at. */
struct saved {
	uintptr_t others[5];
	uintptr_t rbp;
	uintptr_t rip;
	uintptr_t next;
	uintptr_t ret;
};

static bool is_complete(const struct saved *saved)
{
	const struct arch_context ctx = { .rsp = (uintptr_t)saved };

	return arch_stack_show(&ctx, ignore, NULL);
}

/* Chains that end anywhere but at the first frame. */
static void test_broken_chains(void)
{
	struct saved saved = { .rip = (uintptr_t)call_target, .ret = (uintptr_t)call_target };
	struct trap_frame of_program = { .cs = 3 };

	saved.rbp = (uintptr_t)&saved.next;
	KTEST_CHECK(!is_complete(&saved)); /* in the middle of a stack */
	saved.next = saved.rbp;
	KTEST_CHECK(!is_complete(&saved)); /* not upwards */
	saved.ret = 0;
	KTEST_CHECK(!is_complete(&saved));
	saved.rbp = 0;
	KTEST_CHECK(!is_complete(&saved));
	saved.rbp = (uintptr_t)&saved.next | 1; /* no trap frame */
	KTEST_CHECK(!is_complete(&saved));
	saved.rbp = (uintptr_t)&of_program | 1; /* not at the end of the stack */
	KTEST_CHECK(!is_complete(&saved));
	saved.rbp = 0x1230;
	KTEST_CHECK(!is_complete(&saved));
}

/* All words were shown, up to the end of the stack. */
static uint32_t is_whole_stack(struct trace_thread *thread, const uintptr_t *words, size_t nr,
			       void *arg)
{
	uintptr_t lo, hi;

	(void)thread;
	(void)arg;
	return upcall_stack_range((uintptr_t)words, &lo, &hi) && (uintptr_t)(words + nr) == hi;
}

static void count_seen(struct trace_thread *thread, uint32_t found, void *arg)
{
	_Atomic uint32_t *nr = arg;

	(void)thread;
	atomic_fetch_add(&nr[found], 1);
}

/* Sleeping, idle and running threads: of each the frames are known, up to the first. */
static void test_complete_walks(void)
{
	_Atomic uint32_t nr[2];
	uint32_t looks = 0;
	const struct trace_plat_look look = { is_whole_stack, count_seen, nr };

	do { /* one may just be at a place that no frame tells of */
		atomic_store(&nr[0], 0);
		atomic_store(&nr[1], 0);
		thread_each_stack(&look);
	} while (atomic_load(&nr[1]) && ++looks < MAX_LOOKS);
	KTEST_CHECK(atomic_load(&nr[1]) == 0);
	KTEST_CHECK(atomic_load(&nr[0]) > smp_nr_online());
}

/* ---- Callbacks without frames ---- */

static struct {
	uint32_t nr;
	uint32_t nr_blind;
} handlers;

static TRACE_NOTRACE void find_trampoline(const uintptr_t *words, size_t nr, void *arg)
{
	for (size_t i = 0; i < nr; i++)
		*(bool *)arg |= trampoline_contains(words[i]);
}

/* If a look at this stack is complete it has to show that the trampoline is still needed. */
static TRACE_NOTRACE TRACE_NOINLINE void look_for_trampoline(void)
{
	bool is_found = false, is_complete;

	is_complete = arch_stack_show_here(false, find_trampoline, &is_found);
	handlers.nr++;
	handlers.nr_blind += is_complete && !is_found;
}

static TRACE_NOTRACE int look_at_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				       struct ftrace_regs *regs, void *data)
{
	(void)fp;
	(void)ip;
	(void)ret;
	(void)regs;
	(void)data;
	look_for_trampoline();
	return 0;
}

static TRACE_NOTRACE void ignore_exit(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				      struct ftrace_regs *regs, void *data)
{
	(void)fp;
	(void)ip;
	(void)ret;
	(void)regs;
	(void)data;
}

static TRACE_NOTRACE int look_at_call(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)ri;
	(void)regs;
	look_for_trampoline();
	return 0;
}

static TRACE_NOTRACE int ignore_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)ri;
	(void)regs;
	return 0;
}

/* Handlers of fprobes and kretprobes are called by functions that have no frame. */
static void test_grace_handlers(void)
{
	struct fprobe entry = { .entry_handler = look_at_entry };
	struct fprobe both = { .entry_handler = look_at_entry, .exit_handler = ignore_exit };
	struct kretprobe rp = { .kp = { .symbol_name = "grace_target" },
				.handler = ignore_return,
				.entry_handler = look_at_call };

	handlers.nr = handlers.nr_blind = 0;
	KTEST_CHECK(register_fprobe(&entry, "grace_target", NULL) == 0);
	grace_target();
	KTEST_CHECK(unregister_fprobe(&entry) == 0);
	KTEST_CHECK(register_fprobe(&both, "grace_target", NULL) == 0);
	grace_target();
	KTEST_CHECK(unregister_fprobe(&both) == 0);
	KTEST_CHECK(register_kretprobe(&rp) == 0);
	grace_target();
	unregister_kretprobe(&rp);
	KTEST_CHECK(handlers.nr == 3 && handlers.nr_blind == 0);
}

const struct ktest ktest_grace[] = {
	{ "grace_idle", test_idle },
	{ "grace_sleeper", test_sleeper },
	{ "grace_broken_chains", test_broken_chains },
	{ "grace_complete_walks", test_complete_walks },
	{ "grace_handlers", test_grace_handlers },
	{ 0 },
};
