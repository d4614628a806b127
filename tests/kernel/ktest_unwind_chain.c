/*
 * Backtraces from any instruction: NMIs into a chain of calls, alone, behind trampolines, and with
 * probes in it.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include "ktest.h"
#include "nmi_call.h"
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/arch_decode.h>
#include <trace/ftrace.h>
#include <trace/kprobe.h>

#define MAX_FRAMES 16

static struct {
	uintptr_t addr[MAX_FRAMES];
	size_t nr;
} trace;

/* Does frame `index` lie in `fn`, as the kernel's symbols have it? */
static bool chain_frame_in(size_t index, void (*fn)(void))
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;

	return index < trace.nr && symbols_lookup(trace.addr[index], name, &start, NULL) &&
	       start == (uintptr_t)fn;
}

#define NR_SAMPLES  1500
#define MIN_SAMPLES 20
/* At most this long: an NMI may take a while to emulate. */
#define SAMPLE_NS (100 * NSEC_PER_MSEC)

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
		for (next = 0; next < ARRAY_SIZE(order) && !chain_frame_in(at, order[next]);)
			next++;
		if (next < ARRAY_SIZE(order))
			break;
	}
	if (at == trace.nr)
		return;
	chain.nr_samples++;
	while (next < ARRAY_SIZE(order) && chain_frame_in(at, order[next])) {
		at++;
		next++;
	}
	if (next == ARRAY_SIZE(order))
		return;
	if (chain.nr_bad++ == 0)
		memcpy(chain.bad, trace.addr, sizeof(chain.bad));
}

static TRACE_NOTRACE void chain_ignore_call(uintptr_t ip, uintptr_t parent_ip,
					    struct ftrace_ops *ops, struct ftrace_regs *fregs)
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
	until_ns = ktime_get_ns() + SAMPLE_NS;
	for (uint32_t i = 0;
	     i < NR_SAMPLES && (ktime_get_ns() < until_ns || chain.nr_samples < MIN_SAMPLES); i++) {
		nmi_call_others(sample_chain, NULL);
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

/* ---- The same with probes by jumps in the functions, before these have frames ---- */

#define CHAIN_PROBES	3u
#define CHAIN_JUMP_WAIT 100 /* times 2 ms */

static struct kprobe chain_probes[CHAIN_PROBES];

static struct {
	uint32_t ips[MAX_FRAMES];
	_Atomic size_t nr; /* 0: it may be filled in */
} probed;

/* Its own backtrace, once. */
static TRACE_NOTRACE int chain_handler(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)regs;
	if (p == &chain_probes[1] && !atomic_load(&probed.nr))
		atomic_store(&probed.nr, trace_plat_backtrace((uintptr_t)__builtin_frame_address(0),
							      true, probed.ips, MAX_FRAMES));
	return 0;
}

static bool chain_has_jumps(void)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < CHAIN_PROBES; i++)
		nr += __atomic_load_n(&chain_probes[i].flags, __ATOMIC_RELAXED) &
				      KPROBE_FLAG_OPTIMIZED
			      ? 1
			      : 0;
	return nr >= 2 && chain_probes[1].flags & KPROBE_FLAG_OPTIMIZED;
}

static void check_probed(void)
{
	size_t at = 0;

	trace.nr = atomic_load(&probed.nr);
	for (size_t i = 0; i < trace.nr; i++)
		trace.addr[i] = trace_plat_ip_unpack(probed.ips[i]);
	while (at < trace.nr && !chain_frame_in(at, (void (*)(void))chain_middle))
		at++;
	KTEST_CHECK(chain_frame_in(at + 1, (void (*)(void))chain_outer) &&
		    chain_frame_in(at + 2, chain_loop));
}

/* ---- From where few NMIs come to: the ends of a detour, and of what it calls ---- */

extern const char trace_probe_detour[], trace_probe_detour_args[]; /* probe_detour_code.asm */

#define RET_MORE     0xc2
#define DISP32(insn) (*(const int32_t *)(const void *)((insn) + 1))

/* The stack of a function that has been called, and has come to a probe at its beginning. */
struct chain_stack {
	uintptr_t room[32];
	uintptr_t back; /* into the detour */
	uintptr_t origin;
	uintptr_t parent; /* return address of the function */
};

static void check_detour(const struct chain_stack *stack, uintptr_t rip, const uintptr_t *rsp)
{
	struct trap_frame regs = { .rip = rip,
				   .rsp = (uintptr_t)rsp,
				   .rbp = (uintptr_t)__builtin_frame_address(0) };
	size_t at;

	trace.nr = arch_backtrace_trap(&regs, trace.addr, MAX_FRAMES);
	at = trace.nr && trace.addr[0] == rip ? 1 : 0;
	if (!KTEST_NEED(trace.nr > at + 1 && trace.addr[at] == stack->origin &&
			trace.addr[at + 1] == stack->parent))
		pr_err("rip %pS\n", (void *)rip);
}

/* The return, and what raises rsp to the return address in front of it. */
static void check_detour_end(const struct chain_stack *stack, const uint8_t *code)
{
	struct trace_insn insn;
	const uint8_t *before = code;

	while (code[0] != RET_MORE && KTEST_NEED(!trace_insn_decode(&insn, code, TRACE_INSN_MAX))) {
		before = code;
		code += insn.length;
	}
	check_detour(stack, (uintptr_t)code, &stack->back);
	if (before[0] == 0x48 && before[1] == 0x8d)
		check_detour(stack, (uintptr_t)before,
			     &stack->back - before[4] / sizeof(uintptr_t));
}

static void check_detours(void)
{
	const uint8_t *jump = (const uint8_t *)chain_probes[1].addr,
		      *detour = jump + TRACE_INSN_SIZE + DISP32(jump),
		      *call = detour + TRACE_INSN_SIZE, *back = call + TRACE_INSN_SIZE;
	const struct chain_stack stack = { .back = (uintptr_t)back,
					   .origin = (uintptr_t)jump,
					   .parent = (uintptr_t)chain_outer + 16 }; /* anywhere */

	check_detour(&stack, (uintptr_t)detour, &stack.parent);
	check_detour(&stack, (uintptr_t)call, &stack.origin);
	check_detour(&stack, (uintptr_t)back + DISP32(call), &stack.back);
	check_detour(&stack, (uintptr_t)back, &stack.parent);
	check_detour_end(&stack, (const uint8_t *)trace_probe_detour);
	check_detour_end(&stack, (const uint8_t *)trace_probe_detour_args);
}

/* `flags`: with KPROBE_FLAG_ARGS or without, which is another way through a detour. */
static void sample_probed(uint32_t flags)
{
	int (*const funcs[])(int) = { chain_leaf, chain_middle, chain_outer };
	struct kprobe *ps[CHAIN_PROBES];

	for (size_t i = 0; i < CHAIN_PROBES; i++) {
		chain_probes[i] = (struct kprobe){ .addr = (uintptr_t)funcs[i] + TRACE_INSN_SIZE,
						   .pre_handler = chain_handler,
						   .flags = flags };
		ps[i] = &chain_probes[i];
	}
	if (!KTEST_NEED(!register_kprobes(ps, CHAIN_PROBES)))
		return;
	for (int i = 0; i < CHAIN_JUMP_WAIT && !chain_has_jumps(); i++)
		thread_sleep_ns(2 * NSEC_PER_MSEC);
	KTEST_CHECK(chain_has_jumps());
	atomic_store(&probed.nr, 0);
	sample_chains();
	check_detours();
	unregister_kprobes(ps, CHAIN_PROBES);
	check_probed();
}

/* With call sites off, and with a tracer on them: then NMIs also land in its trampoline. */
static void test_unwind_anywhere(void)
{
	static struct ftrace_ops ops = { .func = chain_ignore_call };

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
	sample_probed(KPROBE_FLAG_ARGS);
	sample_probed(0);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

const struct ktest ktest_unwind_chain[] = {
	{ "unwind_anywhere", test_unwind_anywhere },
	{ 0 },
};
