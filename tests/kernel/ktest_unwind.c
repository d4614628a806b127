/* Backtraces: of calls, through a trampoline, from garbage, from any instruction. */
#include <stdatomic.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include <kernel/ktest.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include <trace/ftrace.h>

#define MAX_FRAMES 16

static struct {
	uintptr_t addr[MAX_FRAMES];
	size_t nr;
	char trampoline[KSYM_NAME_LEN + 32];
} trace;

/* True when frame `index` lies in `fn`, as the kernel's symbols have it. */
static bool frame_in(size_t index, void (*fn)(void))
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;

	return index < trace.nr && symbols_lookup(trace.addr[index], name, &start, NULL) &&
	       start == (uintptr_t)fn;
}

static TRACE_NOINLINE void backtrace_leaf(void)
{
	trace.nr = arch_backtrace_here(trace.addr, MAX_FRAMES);
	__asm__ volatile("" : : : "memory"); /* no tail calls here and below */
}

static TRACE_NOINLINE void backtrace_middle(void)
{
	backtrace_leaf();
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void backtrace_outer(void)
{
	backtrace_middle();
	__asm__ volatile("" : : : "memory");
}

static void test_backtrace(void)
{
	backtrace_outer();
	KTEST_CHECK(trace.nr >= 5 && trace.nr < MAX_FRAMES);
	KTEST_CHECK(frame_in(0, backtrace_leaf));
	KTEST_CHECK(frame_in(1, backtrace_middle));
	KTEST_CHECK(frame_in(2, backtrace_outer));
	KTEST_CHECK(frame_in(3, test_backtrace));
	for (size_t i = 0; i < trace.nr; i++)
		KTEST_CHECK(arch_is_text(trace.addr[i]));
}

static void take_backtrace(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	trace.nr = arch_backtrace_here(trace.addr, MAX_FRAMES);
	/* As a panic would print it. */
	for (size_t i = 0; i < trace.nr; i++) {
		if (arch_exec_contains(trace.addr[i]))
			trace_snprintf(trace.trampoline, sizeof(trace.trampoline), "%pS",
				       (void *)trace.addr[i]);
	}
}

static TRACE_NOINLINE void backtrace_traced(void)
{
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void backtrace_parent(void)
{
	backtrace_traced();
	__asm__ volatile("" : : : "memory");
}

/* Through the trampoline of a single ops: the traced function, and its caller, which has no frame
 * between them. */
static void test_backtrace_trampoline(void)
{
	static struct ftrace_ops ops = { .func = take_backtrace };
	size_t at = 0;

	KTEST_CHECK(ftrace_set_filter_ip(&ops, (uintptr_t)backtrace_traced, false, true) == 0);
	if (!KTEST_NEED(register_ftrace_function(&ops) == 0))
		return;
	trace.nr = 0;
	backtrace_parent();
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);

	while (at < trace.nr && !arch_exec_contains(trace.addr[at]))
		at++;
	KTEST_CHECK(str_has_prefix(trace.trampoline, "ftrace_trampoline+0x"));
	KTEST_CHECK(frame_in(at + 1, backtrace_traced));
	KTEST_CHECK(frame_in(at + 2, backtrace_parent));
	KTEST_CHECK(frame_in(at + 3, test_backtrace_trampoline));
}

/* Frame pointers from anywhere: the walk ends, and touches nothing that is not a stack. */
static void test_backtrace_garbage(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), seed = 1;
	uintptr_t own_stack[100]; /* linked to itself */

	for (size_t i = 0; i < ARRAY_SIZE(own_stack); i++)
		own_stack[i] = (uintptr_t)own_stack + i * 37 % sizeof(own_stack);
	for (uint32_t round = 0; round < 20000; round++) {
		const uintptr_t places[] = {
			here - 8192 + seed % 16384,
			(uintptr_t)own_stack + seed % sizeof(own_stack),
			(uintptr_t)boot_stack - 4096 + seed % 24576,
			CPU_STACK_BASE + seed % 0x20000,
			seed,
		};
		size_t nr;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		nr = arch_backtrace(seed >> 5, places[round % ARRAY_SIZE(places)], trace.addr,
				    MAX_FRAMES);
		KTEST_CHECK(nr <= MAX_FRAMES);
	}
}

/* ---- Backtraces from any instruction: NMIs into a chain of calls ---- */

#define NR_SAMPLES  1500
#define MIN_SAMPLES 20
#define SAMPLE_NS                                                                                  \
	(600 * NSEC_PER_MSEC) /* at most this long: an NMI may take a while to emulate             \
			       */

static void chain_loop(void);
static TRACE_NOINLINE int chain_leaf(int x);
static TRACE_NOINLINE int chain_middle(int x);
static TRACE_NOINLINE int chain_outer(int x);

static struct {
	_Atomic bool stop;
	volatile int sink;
	int nr_direct;
	uint32_t nr_samples; /* that lay in the chain */
	uint32_t nr_bad;
	uintptr_t bad[MAX_FRAMES];
} chain;

static TRACE_NOINLINE int chain_leaf(int x)
{
	return x & 1 ? chain.sink + x : x;
}

static TRACE_NOINLINE int chain_middle(int x)
{
	if (x % 5 == 0)
		return x; /* before the frame, with a compiler that likes it so */
	return chain_leaf(x) + chain_leaf(x + 1);
}

static TRACE_NOINLINE int chain_outer(int x)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += chain_middle(x + i);
	return sum;
}

static TRACE_NOINLINE void chain_loop(void)
{
	while (!atomic_load(&chain.stop)) {
		for (int i = 0; i < 100; i++)
			chain.sink = chain_outer(i);
		cond_resched();
	}
}

static int chain_thread(void *arg)
{
	(void)arg;
	chain_loop();
	return 0;
}

/* On the CPU that runs the chain, NMI: from the first frame in the chain, all must follow. */
static void sample_chain(const struct trap_frame *regs, void *arg)
{
	void (*const order[])(void) = { (void (*)(void))chain_leaf, (void (*)(void))chain_middle,
					(void (*)(void))chain_outer, chain_loop };
	size_t at, next;

	(void)arg;
	trace.nr = arch_backtrace_trap(regs, trace.addr, MAX_FRAMES);
	for (at = 0; at < trace.nr; at++) {
		for (next = 0; next < ARRAY_SIZE(order) && !frame_in(at, order[next]);)
			next++;
		if (next < ARRAY_SIZE(order))
			break;
	}
	if (at == trace.nr)
		return;
	chain.nr_samples++;
	while (next < ARRAY_SIZE(order) && frame_in(at, order[next])) {
		at++;
		next++;
	}
	if (next == ARRAY_SIZE(order))
		return;
	if (chain.nr_bad++ == 0)
		memcpy(chain.bad, trace.addr, sizeof(chain.bad));
}

static void ignore_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static void sample_chains(void)
{
	struct thread *runner;
	uint64_t others = smp_online_mask() & ~1ull, until_ns;

	chain.nr_samples = chain.nr_bad = 0;
	atomic_store(&chain.stop, false);
	runner = thread_create_on(others & -others, "chain", chain_thread, NULL, 0);
	if (!KTEST_NEED(runner != NULL))
		return;
	until_ns = ktime_ns() + SAMPLE_NS;
	for (uint32_t i = 0;
	     i < NR_SAMPLES && (ktime_ns() < until_ns || chain.nr_samples < MIN_SAMPLES); i++) {
		smp_nmi_call_others(sample_chain, NULL);
		if (i % 64 == 0)
			thread_sleep_ns(NSEC_PER_MSEC / 10);
	}
	atomic_store(&chain.stop, true);
	thread_join_wait(runner);
	KTEST_CHECK(chain.nr_samples >= MIN_SAMPLES);
	KTEST_CHECK(chain.nr_bad == 0);
	for (size_t i = 0; chain.nr_bad && i < 6; i++)
		pr_err("frame %zu: %pS\n", i, (void *)chain.bad[i]);
}

static TRACE_DIRECT_BODY void chain_body(int x)
{
	chain.nr_direct += x & 1;
}

TRACE_DIRECT(chain_direct, chain_body);

/* NMIs also land in the trampoline with registers and on its way out to the direct call. */
static void sample_direct(struct ftrace_ops *other)
{
	static struct ftrace_ops ops;

	KTEST_CHECK(ftrace_set_filter(&ops, "chain_*", 7, true) == 0);
	if (KTEST_NEED(register_ftrace_direct(&ops, (uintptr_t)chain_direct) == 0)) {
		KTEST_CHECK(other->flags & FTRACE_OPS_FL_ENABLED);
		sample_chains();
		unregister_ftrace_direct(&ops, (uintptr_t)chain_direct, true);
	}
	ftrace_free_filter(&ops);
}

/* With call sites off, and with a tracer on them: then NMIs also land in its trampoline. */
static void test_backtrace_anywhere(void)
{
	static struct ftrace_ops ops = { .func = ignore_call };

	if (smp_nr_online() < 2 || thread_set_affinity(current_thread(), 1) != 0)
		return;
	sample_chains();
	KTEST_CHECK(ftrace_set_filter(&ops, "chain_*", 7, true) == 0);
	if (KTEST_NEED(register_ftrace_function(&ops) == 0)) {
		sample_chains();
		sample_direct(&ops);
		unregister_ftrace_function(&ops);
	}
	ftrace_free_filter(&ops);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

const struct ktest ktest_unwind[] = {
	{ "unwind_calls", test_backtrace },
	{ "unwind_trampoline", test_backtrace_trampoline },
	{ "unwind_garbage", test_backtrace_garbage },
	{ "unwind_anywhere", test_backtrace_anywhere },
	{ 0 },
};
