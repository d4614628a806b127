/* Probes of functions where only a kernel has them: real returns, interrupts, NMIs, live patches. */
#include <stdatomic.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include "ktest.h"
#include "nmi_call.h"
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fgraph.h>
#include <trace/kretprobe.h>
#include <trace/livepatch.h>

#define RUN_NS	(20 * NSEC_PER_MSEC)
#define PATTERN "probed_*"

/* Calls as handlers have seen them; data of a call begin with its return address. */
static struct {
	_Atomic uint64_t entries;
	_Atomic uint64_t exits;
	_Atomic uint64_t errors;
	_Atomic uint64_t value;	   /* returned, of the last */
	_Atomic uint64_t argument; /* of the last */
	uint64_t change_to;	   /* what a returned value becomes; 0: it stays */
} seen;

static TRACE_NOTRACE int note_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				    struct ftrace_regs *regs, void *data)
{
	if (fp->exit_handler) {
		memset(data, 0x5a, fp->entry_data_size);
		((uintptr_t *)data)[0] = ip;
		((uintptr_t *)data)[1] = ret;
	}
	atomic_store(&seen.argument, ftrace_regs_get_argument(regs, 0));
	atomic_fetch_add(&seen.entries, 1);
	return 0;
}

static TRACE_NOTRACE void note_exit(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				    struct ftrace_regs *regs, void *data)
{
	const uint8_t *bytes = data;

	if (((uintptr_t *)data)[0] != ip || ((uintptr_t *)data)[1] != ret)
		atomic_fetch_add(&seen.errors, 1);
	for (size_t i = 16; i < fp->entry_data_size; i++) {
		if (bytes[i] != 0x5a)
			atomic_fetch_add(&seen.errors, 1);
	}
	/* The stack pointer is that of the caller, whose frame is above. */
	if (ftrace_regs_get_frame_pointer(regs) < ftrace_regs_get_stack_pointer(regs))
		atomic_fetch_add(&seen.errors, 1);
	atomic_store(&seen.value, ftrace_regs_get_return_value(regs));
	if (seen.change_to)
		ftrace_regs_set_return_value(regs, seen.change_to);
	atomic_fetch_add(&seen.exits, 1);
}

static TRACE_NOTRACE int note_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	if (ri->ret_addr == 0 || ri->rp->kp.addr == 0)
		atomic_fetch_add(&seen.errors, 1);
	atomic_store(&seen.value, ftrace_regs_get_return_value(regs));
	if (seen.change_to)
		ftrace_regs_set_return_value(regs, seen.change_to);
	atomic_fetch_add(&seen.exits, 1);
	return 0;
}

static void forget_seen(void)
{
	seen.entries = seen.exits = seen.errors = seen.value = seen.argument = 0;
	seen.change_to = 0;
}

/* ---- The probed functions ---- */

static TRACE_NOINLINE uint64_t probed_leaf(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

static TRACE_NOINLINE uint64_t probed_middle(uint64_t n)
{
	return probed_leaf(n) + probed_leaf(n + 1);
}

/* The compilers make a jump of it. */
static TRACE_NOINLINE uint64_t probed_tail(uint64_t n)
{
	return probed_leaf(n + 5);
}

static TRACE_NOINLINE unsigned __int128 probed_wide(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return (unsigned __int128)n << 64 | ~n;
}

static volatile uint64_t one = 1; /* for the compilers: no copy of a function for a constant */

static bool results_are_right(void)
{
	return probed_middle(one) == 9 && probed_tail(one + 1) == 21 &&
	       probed_wide(one + 2) == ((unsigned __int128)3 << 64 | ~3ull);
}
#define CALLS_OF_RESULTS 6 /* of probed functions */

/* ---- Tests ---- */

static void test_fprobe_values(void)
{
	static const size_t sizes[] = { 16, 24, 100 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct fprobe fp = { .entry_handler = note_entry,
				     .exit_handler = note_exit,
				     .entry_data_size = sizes[i] };

		forget_seen();
		if (!KTEST_NEED(register_fprobe(&fp, PATTERN, NULL) == 0))
			return;
		KTEST_CHECK(probed_leaf(7) == 21);
		KTEST_CHECK(seen.argument == 7 && seen.value == 21);
		KTEST_CHECK(results_are_right());
		KTEST_CHECK(seen.entries == CALLS_OF_RESULTS + 1 && seen.exits == seen.entries);
		seen.change_to = 1234;
		KTEST_CHECK(probed_leaf(7) == 1234);
		KTEST_CHECK(unregister_fprobe(&fp) == 0);
		KTEST_CHECK(probed_leaf(7) == 21);
		KTEST_CHECK(seen.errors == 0 && fp.nmissed == 0);
	}
}

static void test_fprobe_entries(void)
{
	struct fprobe plain = { .entry_handler = note_entry };
	struct fprobe full = { .entry_handler = note_entry, .flags = FPROBE_FL_REGS };

	forget_seen();
	if (!KTEST_NEED(register_fprobe(&plain, PATTERN, "probed_leaf") == 0))
		return;
	if (KTEST_NEED(register_fprobe(&full, "probed_leaf", NULL) == 0)) {
		KTEST_CHECK(results_are_right());
		KTEST_CHECK(seen.entries == CALLS_OF_RESULTS);
		KTEST_CHECK(unregister_fprobe(&full) == 0);
	}
	KTEST_CHECK(results_are_right());
	KTEST_CHECK(seen.entries == CALLS_OF_RESULTS + CALLS_OF_RESULTS - 3);
	KTEST_CHECK(unregister_fprobe(&plain) == 0);
	KTEST_CHECK(results_are_right());
	KTEST_CHECK(seen.entries == CALLS_OF_RESULTS + CALLS_OF_RESULTS - 3);
	KTEST_CHECK(plain.nmissed == 0 && full.nmissed == 0);
}

static void test_kretprobe(void)
{
	struct kretprobe leaf = { .kp = { .symbol_name = "probed_leaf" }, .handler = note_return };
	struct kretprobe wide = { .kp = { .addr = (uintptr_t)probed_wide },
				  .handler = note_return };
	struct kretprobe *both[] = { &leaf, &wide };

	forget_seen();
	if (!KTEST_NEED(register_kretprobes(both, 2) == 0))
		return;
	KTEST_CHECK(results_are_right());
	KTEST_CHECK(seen.exits == 4);
	KTEST_CHECK(probed_leaf(4) == 12 && seen.value == 12);
	seen.change_to = 99;
	KTEST_CHECK(probed_leaf(4) == 99);
	seen.change_to = 0;
	KTEST_CHECK(disable_kretprobe(&wide) == 0);
	KTEST_CHECK(results_are_right() && seen.exits == 9);
	KTEST_CHECK(enable_kretprobe(&wide) == 0);
	KTEST_CHECK(results_are_right() && seen.exits == 13);
	unregister_kretprobes(both, 2);
	KTEST_CHECK(results_are_right() && seen.exits == 13);
	KTEST_CHECK(seen.errors == 0 && leaf.nmissed + wide.nmissed == 0);
}

static struct {
	struct fprobe fp;
	struct fprobe entry;
	struct kretprobe rp;
} load;

/* A thread that ends has given its shadow stack back: calls in interrupts on it are missed. */
static void call_in_interrupt(void *arg)
{
	(void)arg;
	if (!current_thread()->trace.graph_has_ended && !results_are_right())
		atomic_fetch_add(&seen.errors, 1);
}

static TRACE_NOTRACE void call_in_nmi(const struct trap_frame *regs, void *arg)
{
	(void)regs;
	call_in_interrupt(arg);
}

static int call_often(void)
{
	uint64_t deadline = ktime_get_ns() + RUN_NS;

	while (ktime_get_ns() < deadline) {
		if (!results_are_right())
			return 1;
	}
	return 0;
}

static int interrupt_often(void)
{
	uint64_t deadline = ktime_get_ns() + RUN_NS;

	while (ktime_get_ns() < deadline) {
		on_each_cpu(call_in_interrupt, NULL, true);
		yield();
	}
	return 0;
}

static int call_or_interrupt(void *arg)
{
	static _Atomic uint32_t number;

	(void)arg;
	return atomic_fetch_add(&number, 1) % 3 ? call_often() : interrupt_often();
}

static bool load_begin(void)
{
	forget_seen();
	load.fp = (struct fprobe){ .entry_handler = note_entry,
				   .exit_handler = note_exit,
				   .entry_data_size = 16 };
	load.entry = (struct fprobe){ .entry_handler = note_entry };
	load.rp = (struct kretprobe){ .kp = { .symbol_name = "probed_leaf" },
				      .handler = note_return };
	return register_fprobe(&load.fp, PATTERN, NULL) == 0;
}

/* Threads that are preempted, interrupts on them: entries and exits pair up, none is missed. */
static void test_fprobe_interrupts(void)
{
	if (!KTEST_NEED(load_begin()))
		return;
	KTEST_CHECK(ktest_threads(6, call_or_interrupt, NULL) == 0);
	KTEST_CHECK(seen.entries > 100 && seen.entries == seen.exits);
	KTEST_CHECK(seen.errors == 0 && load.fp.nmissed == 0);
	KTEST_CHECK(unregister_fprobe(&load.fp) == 0);
}

static _Atomic bool nmi_stop;

static int call_until_stop(void *arg)
{
	(void)arg;
	do {
		if (!results_are_right())
			return 1;
	} while (!atomic_load(&nmi_stop));
	return 0;
}

/* NMIs at any instruction of entries and exits have handlers of their own. */
static void test_fprobe_nmis(void)
{
	struct thread *threads[8];
	uint32_t nr = smp_nr_online() < 8 ? smp_nr_online() : 8;
	uint64_t deadline;

	if (!KTEST_NEED(load_begin()))
		return;
	KTEST_CHECK(register_kretprobe(&load.rp) == 0);
	atomic_store(&nmi_stop, false);
	for (uint32_t i = 0; i < nr; i++)
		threads[i] = thread_create("probed", call_until_stop, NULL, 0);
	deadline = ktime_get_ns() + 2 * RUN_NS;
	while (ktime_get_ns() < deadline)
		nmi_call_others(call_in_nmi, NULL);
	atomic_store(&nmi_stop, true);
	for (uint32_t i = 0; i < nr; i++)
		KTEST_CHECK(threads[i] && thread_join_wait(threads[i]) == 0);
	unregister_kretprobe(&load.rp);
	KTEST_CHECK(seen.errors == 0 && seen.exits > seen.entries);
	KTEST_CHECK(load.fp.nmissed == 0 && load.rp.nmissed == 0);
	KTEST_CHECK(unregister_fprobe(&load.fp) == 0);
}

static int change_often(void)
{
	uint64_t deadline = ktime_get_ns() + 2 * RUN_NS;
	int nr_bad = 0;

	while (ktime_get_ns() < deadline) {
		nr_bad += disable_fprobe(&load.fp) != 0;
		nr_bad += register_kretprobe(&load.rp) != 0;
		nr_bad += register_fprobe(&load.entry, PATTERN, NULL) != 0;
		nr_bad += enable_fprobe(&load.fp) != 0;
		unregister_kretprobe(&load.rp);
		nr_bad += unregister_fprobe(&load.entry) != 0;
	}
	return nr_bad;
}

static int change_or_call(void *arg)
{
	return arg == &load ? change_often() : call_often() + call_often();
}

/* Probes come and go while calls are inside; function_graph's way is used by another user. */
static TRACE_NOTRACE bool graph_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	atomic_fetch_add((_Atomic uint64_t *)gops->private, 1);
	return ent->func != 0;
}

static TRACE_NOTRACE void graph_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	if (ret->func)
		atomic_fetch_sub((_Atomic uint64_t *)gops->private, 1);
}

static void test_fprobe_changes(void)
{
	_Atomic uint64_t open = 0;
	struct fgraph_ops gops = { .entryfunc = graph_entry,
				   .retfunc = graph_return,
				   .private = &open };
	struct thread *changer;

	if (!KTEST_NEED(load_begin()))
		return;
	KTEST_CHECK(ftrace_set_filter(&gops.ops, PATTERN, strlen(PATTERN), true) == 0);
	KTEST_CHECK(register_ftrace_graph(&gops) == 0);
	changer = thread_create("changer", change_or_call, &load, 0);
	KTEST_CHECK(ktest_threads(4, change_or_call, NULL) == 0);
	KTEST_CHECK(changer && thread_join_wait(changer) == 0);
	KTEST_CHECK(open == 0);
	KTEST_CHECK(unregister_ftrace_graph(&gops) == 0);
	ftrace_free_filter(&gops.ops);
	KTEST_CHECK(seen.errors == 0);
	KTEST_CHECK(unregister_fprobe(&load.fp) == 0);
	KTEST_CHECK(results_are_right());
}

static struct {
	struct completion inside;
	struct completion leave;
} parked;

static TRACE_NOINLINE uint64_t probed_parks(void)
{
	complete(&parked.inside);
	wait_for_completion(&parked.leave);
	return 5;
}

static int park(void *arg)
{
	(void)arg;
	return (int)probed_parks();
}

/* A probe goes while a thread is inside: its handler is not called, the thread gets out. */
static void test_fprobe_leave_while_inside(void)
{
	struct kretprobe rp = { .kp = { .symbol_name = "probed_parks" }, .handler = note_return };
	struct thread *thread;

	parked.inside = parked.leave = (struct completion){ 0 };
	if (!KTEST_NEED(load_begin()))
		return;
	KTEST_CHECK(register_kretprobe(&rp) == 0);
	thread = thread_create("park", park, NULL, 0);
	if (KTEST_NEED(thread))
		wait_for_completion(&parked.inside);
	KTEST_CHECK(seen.entries == 1);
	KTEST_CHECK(unregister_fprobe(&load.fp) == 0);
	unregister_kretprobe(&rp);
	complete(&parked.leave);
	if (thread)
		KTEST_CHECK(thread_join_wait(thread) == 5);
	KTEST_CHECK(seen.exits == 0);
}

static TRACE_NOINLINE uint64_t probed_patched(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static TRACE_NOINLINE uint64_t patched_instead(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1000;
}

/* The probe of a function that is live-patched sees the calls, and what the new one returns. */
static void test_fprobe_livepatch(void)
{
	struct klp_func func = { .old_name = "probed_patched",
				 .new_func = (uintptr_t)patched_instead };
	struct klp_patch patch = { .name = "probed", .funcs = &func, .nr_funcs = 1 };

	if (!KTEST_NEED(load_begin()))
		return;
	KTEST_CHECK(probed_patched(one) == 2 && seen.value == 2);
	if (KTEST_NEED(klp_enable_patch(&patch) == 0)) {
		while (klp_patch_in_transition(&patch))
			klp_try_complete_transition();
		KTEST_CHECK(probed_patched(one) == 1001 && seen.value == 1001);
		KTEST_CHECK(klp_disable_patch(&patch) == 0);
		while (klp_patch_is_active(&patch))
			klp_try_complete_transition();
	}
	KTEST_CHECK(probed_patched(one) == 2 && seen.value == 2);
	KTEST_CHECK(seen.entries == seen.exits && seen.errors == 0);
	KTEST_CHECK(unregister_fprobe(&load.fp) == 0);
}

static struct {
	uintptr_t addr[24];
	size_t nr;
} walk;

static TRACE_NOTRACE void walk_exit(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				    struct ftrace_regs *regs, void *data)
{
	(void)fp;
	(void)ip;
	(void)regs;
	(void)data;
	walk.nr = arch_backtrace_here(walk.addr, ARRAY_SIZE(walk.addr));
	for (size_t i = 0; i < walk.nr; i++) {
		if (walk.addr[i] == ret)
			atomic_fetch_add(&seen.exits, 1);
	}
}

static TRACE_NOTRACE int walk_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
				    struct ftrace_regs *regs, void *data)
{
	bool has_function = false;

	(void)fp;
	(void)regs;
	(void)data;
	walk.nr = arch_backtrace_here(walk.addr, ARRAY_SIZE(walk.addr));
	for (size_t i = 0; i < walk.nr; i++) {
		has_function |= walk.addr[i] == ip + TRACE_INSN_SIZE;
		if (walk.addr[i] == ret && has_function)
			atomic_fetch_add(&seen.entries, 1);
	}
	return 0;
}

/* From a handler one sees the function and its caller, at the return the caller. */
static void test_fprobe_backtrace(void)
{
	struct fprobe fp = { .entry_handler = walk_entry, .exit_handler = walk_exit };
	struct fprobe entry = { .entry_handler = walk_entry };

	forget_seen();
	if (!KTEST_NEED(register_fprobe(&fp, "probed_leaf", NULL) == 0))
		return;
	KTEST_CHECK(probed_leaf(1) == 3);
	KTEST_CHECK(seen.entries == 1 && seen.exits == 1);
	KTEST_CHECK(unregister_fprobe(&fp) == 0);
	if (!KTEST_NEED(register_fprobe(&entry, "probed_leaf", NULL) == 0))
		return;
	KTEST_CHECK(probed_leaf(1) == 3);
	KTEST_CHECK(seen.entries == 2);
	KTEST_CHECK(unregister_fprobe(&entry) == 0);
}

const struct ktest ktest_fprobe[] = {
	{ "fprobe_values", test_fprobe_values },
	{ "fprobe_entries", test_fprobe_entries },
	{ "fprobe_kretprobe", test_kretprobe },
	{ "fprobe_interrupts", test_fprobe_interrupts },
	{ "fprobe_nmis", test_fprobe_nmis },
	{ "fprobe_changes", test_fprobe_changes },
	{ "fprobe_leave_while_inside", test_fprobe_leave_while_inside },
	{ "fprobe_livepatch", test_fprobe_livepatch },
	{ "fprobe_backtrace", test_fprobe_backtrace },
	{ 0 },
};
