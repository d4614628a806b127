/*
 * Backtraces: of calls, through a trampoline, from garbage, and from each instruction of the hook
 * that functions return into.
 */
#include <stdatomic.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include "ktest.h"
#include "nmi_call.h"
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fgraph.h>
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

static TRACE_NOTRACE void take_backtrace(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
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
	uintptr_t own_stack[100];   /* linked to itself */
	uintptr_t saved[7] = { 0 }; /* as switch.asm leaves it: 5 is rbp, 6 the return address */
	const struct arch_context ctx = { .rsp = (uintptr_t)saved };

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
		saved[5] = places[round % ARRAY_SIZE(places)];
		saved[6] = seed >> 5;
		nr = arch_backtrace_context(&ctx, trace.addr, MAX_FRAMES);
		KTEST_CHECK(nr > 0 && nr <= MAX_FRAMES);
	}
}

/* ---- From each instruction of return_to_handler, and of entry code that interrupts it ---- */

extern const char trap_common[]; /* trap_entry.asm: the trap frame is complete when it begins */

#define HOOK_INSNS 12 /* at least */

static struct {
	uint32_t nr_insns;
	uint32_t nr_bad;
	uintptr_t bad_rip;
} hook;

static void test_backtrace_hook(void);
static TRACE_NOINLINE void unwind_hook_parent(void);

/* Does a backtrace from `regs` have `rip`, then `real`, then their callers, from frame `at` on? */
static void check_hook(const struct trap_frame *regs, size_t at, uintptr_t rip, uintptr_t real)
{
	bool is_right;

	trace.nr = arch_backtrace_trap(regs, trace.addr, MAX_FRAMES);
	is_right = trace.nr > at + 2 && trace.addr[at] == rip && trace.addr[at + 1] == real &&
		   frame_in(at + 1, unwind_hook_parent) && frame_in(at + 2, test_backtrace_hook);
	if (!is_right && hook.nr_bad++ == 0)
		hook.bad_rip = rip;
}

/* The same when entry code that interrupted `regs` is interrupted, all registers saved or none. */
static void check_hook_behind_entry(const struct trap_frame *regs, uintptr_t real)
{
	struct trap_frame saved = *regs, at_entry = *regs;

	saved.cs = KERNEL_CS;
	saved.ss = KERNEL_DS;
	at_entry.rip = (uintptr_t)trap_common;
	at_entry.rcx = 0;
	at_entry.rsp = (uintptr_t)&saved;
	check_hook(&at_entry, 1, regs->rip, real);
	saved.rcx = 0;
	at_entry.rcx = regs->rcx;
	at_entry.rsp = (uintptr_t)&saved.vector;
	check_hook(&at_entry, 1, regs->rip, real);
}

/* The effect of the instruction at rip on rip, rsp, rbp; false: it is the jump, or unknown. */
static bool step_hook(struct trap_frame *regs)
{
	const uint8_t *insn = (const uint8_t *)regs->rip;

	if (insn[0] >= 0x50 && insn[0] <= 0x57) { /* push: it has been done here, by the callee */
		regs->rsp -= 8;
		regs->rip += 1;
	} else if (insn[0] >= 0x58 && insn[0] <= 0x5f) { /* pop */
		if (insn[0] == 0x5d)
			regs->rbp = *(const uint64_t *)regs->rsp;
		regs->rsp += 8;
		regs->rip += 1;
	} else if (insn[0] == 0x48 && insn[1] == 0x89 && insn[2] == 0xe5) { /* mov rbp, rsp */
		regs->rbp = regs->rsp;
		regs->rip += 3;
	} else if (insn[0] == 0x68) { /* push of 32 bits */
		regs->rsp -= 8;
		regs->rip += 5;
	} else if (insn[0] == 0x48 && insn[1] == 0x8d) { /* lea rdi, [rbp + 8] */
		regs->rip += 4;
	} else if (insn[0] == 0xe8 || insn[0] == 0x90) { /* call, nop */
		regs->rip += insn[0] == 0xe8 ? 5 : 1;
	} else {
		KTEST_CHECK(insn[0] == 0xff && insn[1] == 0xe1); /* jmp rcx */
		return false;
	}
	return true;
}

/*
 * Registers and stack as the function that has its return address at `slot` leaves them: the hook
 * pushes the caller's rbp to where this function has it now.
 */
static TRACE_NOINLINE void walk_hook(uintptr_t *slot)
{
	uintptr_t real = ftrace_graph_ret_addr(trace_plat_current(), *slot, slot);
	struct trap_frame regs = { .rip = *slot, .rsp = (uintptr_t)(slot + 1), .rbp = slot[-1] };

	KTEST_CHECK(real != *slot);
	do {
		regs.rcx = real; /* looked at by the jump alone */
		check_hook(&regs, 0, regs.rip, real);
		check_hook_behind_entry(&regs, real);
		hook.nr_insns++;
	} while (step_hook(&regs));
	KTEST_CHECK(regs.rsp == (uintptr_t)(slot + 1) && regs.rbp == slot[-1]);
}

static TRACE_NOINLINE void unwind_hooked(void)
{
	walk_hook((uintptr_t *)__builtin_frame_address(0) + 1);
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void unwind_hook_parent(void)
{
	unwind_hooked();
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOTRACE void ignore_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	(void)ret;
	(void)gops;
}

static void test_backtrace_hook(void)
{
	static struct fgraph_ops gops = { .retfunc = ignore_return };

	memset(&hook, 0, sizeof(hook));
	KTEST_CHECK(ftrace_set_filter_ip(&gops.ops, (uintptr_t)unwind_hooked, false, true) == 0);
	if (KTEST_NEED(register_ftrace_graph(&gops) == 0)) {
		unwind_hook_parent();
		unregister_ftrace_graph(&gops);
	}
	ftrace_free_filter(&gops.ops);
	KTEST_CHECK(hook.nr_insns >= HOOK_INSNS);
	KTEST_CHECK(hook.nr_bad == 0);
	if (hook.nr_bad)
		pr_err("%u wrong backtraces, first from %pS\n", hook.nr_bad, (void *)hook.bad_rip);
}

const struct ktest ktest_unwind[] = {
	{ "unwind_calls", test_backtrace },
	{ "unwind_trampoline", test_backtrace_trampoline },
	{ "unwind_garbage", test_backtrace_garbage },
	{ "unwind_hook", test_backtrace_hook },
	{ 0 },
};
