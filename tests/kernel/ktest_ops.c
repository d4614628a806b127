/*
 * The ops of a site change a call: all registers read and written, the return address changed, a direct
 * call, a jump at the site; alone and beside other ops. See ktest_ops_load.c for many CPUs.
 */
#include <arch/cpu.h>
#include <arch/paging.h>
#include "ktest.h"
#include <kernel/string.h>
#include <trace/arch_exec.h>
#include <trace/ftrace.h>

/* General registers in the order that ops_call uses. */
struct registers {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rflags;
};

#define NR_GENERAL   15u
#define FLAGS_STATUS 0x8d5ull /* carry, parity, adjust, zero, sign, overflow */
#define FLAGS_ALWAYS 0x202ull /* interrupts on */

/*
 * Call ops_target() with *regs in all registers, and store them there when it is back.
 * The displacements are those of struct registers.
 */
void ops_call(struct registers *regs);
__asm__(".pushsection .text\n"
	".type ops_call, @function\n"
	"ops_call:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n"
	"	push %r15\n	push %rdi\n"
	"	pushq 120(%rdi)\n	popfq\n"
	"	mov (%rdi), %rax\n	mov 8(%rdi), %rbx\n	mov 16(%rdi), %rcx\n"
	"	mov 24(%rdi), %rdx\n	mov 32(%rdi), %rsi\n	mov 48(%rdi), %rbp\n"
	"	mov 56(%rdi), %r8\n	mov 64(%rdi), %r9\n	mov 72(%rdi), %r10\n"
	"	mov 80(%rdi), %r11\n	mov 88(%rdi), %r12\n	mov 96(%rdi), %r13\n"
	"	mov 104(%rdi), %r14\n	mov 112(%rdi), %r15\n	mov 40(%rdi), %rdi\n"
	"	call ops_target\n"
	"	pushfq\n	push %rdi\n	mov 16(%rsp), %rdi\n"
	"	mov %rax, (%rdi)\n	mov %rbx, 8(%rdi)\n	mov %rcx, 16(%rdi)\n"
	"	mov %rdx, 24(%rdi)\n	mov %rsi, 32(%rdi)\n	mov %rbp, 48(%rdi)\n"
	"	mov %r8, 56(%rdi)\n	mov %r9, 64(%rdi)\n	mov %r10, 72(%rdi)\n"
	"	mov %r11, 80(%rdi)\n	mov %r12, 88(%rdi)\n	mov %r13, 96(%rdi)\n"
	"	mov %r14, 104(%rdi)\n	mov %r15, 112(%rdi)\n"
	"	popq 40(%rdi)\n	popq 120(%rdi)\n"
	"	pop %rdi\n	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n"
	"	pop %rbx\n	pop %rbp\n	ret\n"
	".size ops_call, .-ops_call\n"
	".popsection\n");

/* Changes no register. */
TRACE_NOINLINE void ops_target(void);
void ops_target(void)
{
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE long ops_sum(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a + b;
}

static TRACE_NOINLINE long ops_difference(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a - b;
}

static struct {
	struct registers expected;
	struct registers wanted;
	uint32_t nr_seen;
	uint32_t nr_wrong;
	uint32_t nr_plain;
	long direct_a, direct_b;
	uint32_t nr_direct;
} state;

static void fill(struct registers *regs, uint64_t pattern)
{
	uint64_t *word = &regs->rax;

	for (uint32_t i = 0; i < NR_GENERAL; i++)
		word[i] = pattern * (i + 1) + i;
}

static TRACE_NOTRACE struct registers of_fregs(const struct ftrace_regs *fregs)
{
	return (struct registers){
		fregs->rax, fregs->rbx, fregs->rcx, fregs->rdx,
		fregs->rsi, fregs->rdi, fregs->rbp, fregs->r8,
		fregs->r9,  fregs->r10, fregs->r11, fregs->r12,
		fregs->r13, fregs->r14, fregs->r15, fregs->rflags & FLAGS_STATUS,
	};
}

static TRACE_NOTRACE void swap_registers(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	const struct registers *wanted = &state.wanted;
	struct registers seen = of_fregs(fregs);

	(void)ops;
	state.nr_seen++;
	state.nr_wrong += memcmp(&seen, &state.expected, sizeof(seen)) != 0;
	state.nr_wrong += fregs->rsp != (uintptr_t)&fregs->parent || fregs->parent != parent_ip ||
			  fregs->rip != ip + TRACE_INSN_SIZE;
	*(struct ftrace_regs *)fregs = (struct ftrace_regs){
		.r15 = wanted->r15,
		.r14 = wanted->r14,
		.r13 = wanted->r13,
		.r12 = wanted->r12,
		.r11 = wanted->r11,
		.r10 = wanted->r10,
		.rbx = wanted->rbx,
		.rflags = wanted->rflags | FLAGS_ALWAYS,
		.rsp = fregs->rsp,
		.direct = fregs->direct,
		.r9 = wanted->r9,
		.r8 = wanted->r8,
		.rdi = wanted->rdi,
		.rsi = wanted->rsi,
		.rdx = wanted->rdx,
		.rcx = wanted->rcx,
		.rax = wanted->rax,
		.rbp = wanted->rbp,
		.rip = fregs->rip,
		.parent = fregs->parent,
	};
}

static TRACE_NOTRACE void count_plain(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	state.nr_plain++;
}

static struct ftrace_ops plain = { .func = count_plain };

/* Let `ops` have the function at `ip` alone. */
static int ops_at(struct ftrace_ops *ops, void *ip)
{
	int err = ftrace_set_filter_ip(ops, (uintptr_t)ip, false, true);

	return err ? err : register_ftrace_function(ops);
}

static void unhook(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static void call_with_registers(uint64_t flags)
{
	struct registers regs;

	fill(&state.expected, 0x0123456789abcdefull);
	fill(&state.wanted, 0xfedcba9876543210ull);
	state.expected.rflags = flags & FLAGS_STATUS;
	state.wanted.rflags = ~flags & FLAGS_STATUS;
	regs = state.expected;
	regs.rflags = state.expected.rflags | FLAGS_ALWAYS;
	ops_call(&regs);
	regs.rflags &= FLAGS_STATUS;
	KTEST_CHECK(memcmp(&regs, &state.wanted, sizeof(regs)) == 0);
	KTEST_CHECK(state.nr_wrong == 0);
}

static void test_registers(void)
{
	static struct ftrace_ops ops = { .func = swap_registers, .flags = FTRACE_OPS_FL_SAVE_REGS };

	memset(&state, 0, sizeof(state));
	if (!KTEST_NEED(ops_at(&ops, ops_target) == 0))
		return;
	call_with_registers(FLAGS_STATUS);
	call_with_registers(0);
	KTEST_CHECK(state.nr_seen == 2);
	KTEST_CHECK(ops_at(&plain, ops_target) == 0); /* now by one for both */
	call_with_registers(FLAGS_STATUS);
	call_with_registers(0x41);
	KTEST_CHECK(state.nr_seen == 4 && state.nr_plain == 2);
	unhook(&plain);
	call_with_registers(0x890);
	KTEST_CHECK(state.nr_seen == 5);
	unhook(&ops);
}

/* A plain trampoline keeps all that can hold an argument, and what C keeps. */
static void test_plain_keeps_arguments(void)
{
	struct registers regs, before;

	memset(&state, 0, sizeof(state));
	if (!KTEST_NEED(ops_at(&plain, ops_target) == 0))
		return;
	fill(&regs, 0x0123456789abcdefull);
	regs.rflags = FLAGS_ALWAYS;
	before = regs;
	ops_call(&regs);
	regs.r10 = before.r10;
	regs.r11 = before.r11;
	regs.rflags = before.rflags;
	KTEST_CHECK(memcmp(&regs, &before, sizeof(regs)) == 0);
	KTEST_CHECK(state.nr_plain == 1);
	unhook(&plain);
}

/* Eight digits: two of the arguments lie on the stack. */
// NOLINTNEXTLINE(readability-function-size): that takes so many of them
static TRACE_NOINLINE long ops_join(long a, long b, long c, long d, long e, long f, long g, long h)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return (((((((a * 10 + b) * 10 + c) * 10 + d) * 10 + e) * 10 + f) * 10 + g) * 10) + h;
}

/* Inline: the number is a constant, and no table of jumps is needed. */
static TRACE_ALWAYS_INLINE void add_one(struct ftrace_regs *fregs, uint32_t n)
{
	ftrace_regs_set_argument(fregs, n, ftrace_regs_get_argument(fregs, n) + 1);
}

static TRACE_NOTRACE void add_one_to_each(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	add_one(fregs, 0);
	add_one(fregs, 1);
	add_one(fregs, 2);
	add_one(fregs, 3);
	add_one(fregs, 4);
	add_one(fregs, 5);
	add_one(fregs, 6);
	add_one(fregs, 7);
}

/* Every ops may set arguments, also one without all registers. */
static void test_set_arguments(void)
{
	static struct ftrace_ops change = { .func = add_one_to_each };

	if (!KTEST_NEED(ops_at(&change, ops_join) == 0))
		return;
	KTEST_CHECK(ops_join(1, 2, 3, 4, 5, 6, 7, 8) == 23456789);
	unhook(&change);
	KTEST_CHECK(ops_join(1, 2, 3, 4, 5, 6, 7, 8) == 12345678);
}

static TRACE_NOTRACE void to_difference(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	state.nr_wrong += ftrace_regs_get_argument(fregs, 0) != 30 ||
			  ftrace_regs_get_argument(fregs, 1) != 12;
	ftrace_regs_set_instruction_pointer(fregs, (uintptr_t)ops_difference);
}

static TRACE_NOTRACE void return_seven(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	ftrace_regs_set_return_value(fregs, 7);
	ftrace_override_function_with_return(fregs);
}

static struct ftrace_ops modify = {
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static void check_modified(ftrace_func_t func, long expected)
{
	modify.func = func;
	if (!KTEST_NEED(ops_at(&modify, ops_sum) == 0))
		return;
	KTEST_CHECK(ops_sum(30, 12) == expected);
	KTEST_CHECK(ops_at(&plain, ops_sum) == 0);
	KTEST_CHECK(ops_sum(30, 12) == expected);
	unhook(&plain);
	KTEST_CHECK(ops_sum(30, 12) == expected);
	unhook(&modify);
	KTEST_CHECK(ops_sum(30, 12) == 42);
}

static void test_ipmodify(void)
{
	memset(&state, 0, sizeof(state));
	check_modified(to_difference, 18);
	check_modified(return_seven, 7);
	KTEST_CHECK(state.nr_plain == 2 && state.nr_wrong == 0);
}

static void test_jump(void)
{
	memset(&state, 0, sizeof(state));
	modify.func = to_difference;
	if (!KTEST_NEED(ops_at(&modify, ops_sum) == 0))
		return;
	KTEST_CHECK(ftrace_set_site_jump(&modify, (uintptr_t)ops_difference) == 0);
	KTEST_CHECK(*(const uint8_t *)(uintptr_t)ops_sum == 0xe9);
	KTEST_CHECK(ops_sum(30, 12) == 18);
	KTEST_CHECK(ops_at(&plain, ops_sum) == 0);
	KTEST_CHECK(*(const uint8_t *)(uintptr_t)ops_sum == 0xe8);
	KTEST_CHECK(ops_sum(30, 12) == 18);
	unhook(&plain);
	KTEST_CHECK(*(const uint8_t *)(uintptr_t)ops_sum == 0xe9);
	KTEST_CHECK(ops_sum(30, 12) == 18);
	/* The new function can be traced itself. */
	KTEST_CHECK(ops_at(&plain, ops_difference) == 0);
	KTEST_CHECK(ops_sum(30, 12) == 18);
	unhook(&plain);
	unhook(&modify);
	KTEST_CHECK(ops_sum(30, 12) == 42);
	KTEST_CHECK(state.nr_plain == 2 && state.nr_wrong == 0);
}

static TRACE_DIRECT_BODY void note_arguments(long a, long b)
{
	state.direct_a = a;
	state.direct_b = b;
	state.nr_direct++;
}

static TRACE_DIRECT_BODY void note_call(void)
{
	state.nr_direct += 100;
}

TRACE_DIRECT(take_arguments, note_arguments);
TRACE_DIRECT(take_nothing, note_call);

static void test_direct(void)
{
	static struct ftrace_ops ops;
	struct registers regs, before;

	memset(&state, 0, sizeof(state));
	KTEST_CHECK(ftrace_set_filter_ip(&ops, (uintptr_t)ops_target, false, true) == 0);
	if (!KTEST_NEED(register_ftrace_direct(&ops, (uintptr_t)take_arguments) == 0))
		return;
	for (uint32_t round = 0; round < 2; round++) {
		fill(&regs, 0x0123456789abcdefull);
		regs.rflags = FLAGS_ALWAYS;
		before = regs;
		ops_call(&regs);
		regs.rflags = before.rflags;
		if (round == 1) /* the trampoline jumps there by r11 */
			regs.r11 = before.r11;
		KTEST_CHECK(memcmp(&regs, &before, sizeof(regs)) == 0);
		KTEST_CHECK(state.direct_a == (long)before.rdi);
		KTEST_CHECK(state.direct_b == (long)before.rsi);
		if (round == 0)
			KTEST_CHECK(ops_at(&plain, ops_target) == 0);
	}
	KTEST_CHECK(state.nr_direct == 2 && state.nr_plain == 1);
	KTEST_CHECK(modify_ftrace_direct(&ops, (uintptr_t)take_nothing) == 0);
	ops_target();
	unhook(&plain);
	ops_target();
	KTEST_CHECK(state.nr_direct == 202 && state.nr_plain == 2);
	KTEST_CHECK(unregister_ftrace_direct(&ops, (uintptr_t)take_nothing, true) == 0);
	ops_target();
	KTEST_CHECK(state.nr_direct == 202);
}

static struct {
	uintptr_t ip, parent_ip;
	uintptr_t parent;
} told;

static TRACE_NOTRACE void move_parent(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	(void)ip;
	(void)ops;
	told.parent = parent_ip;
	*ftrace_regs_return_slot(fregs) = 1;
}

static TRACE_NOTRACE void note_addresses(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	(void)ops;
	told.ip = ip;
	told.parent_ip = parent_ip;
	state.nr_wrong += *ftrace_regs_return_slot(fregs) != 1;
}

static TRACE_NOTRACE void restore_parent(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	(void)ip;
	(void)ops;
	*ftrace_regs_return_slot(fregs) = parent_ip;
}

/* Several ops of a site are told the same, whatever the first of them does to the return. */
static void test_same_addresses(void)
{
	static struct ftrace_ops mover = { .func = move_parent };
	static struct ftrace_ops noter = { .func = note_addresses };
	static struct ftrace_ops restorer = { .func = restore_parent };

	for (uint32_t round = 0; round < 2; round++) { /* without and with all registers */
		memset(&state, 0, sizeof(state));
		memset(&told, 0, sizeof(told));
		if (round == 1)
			noter.flags = FTRACE_OPS_FL_SAVE_REGS;
		/* The last comer is called first. */
		if (!KTEST_NEED(ops_at(&restorer, ops_sum) == 0))
			return;
		KTEST_CHECK(ops_at(&noter, ops_sum) == 0);
		KTEST_CHECK(ops_at(&mover, ops_sum) == 0);
		KTEST_CHECK(ops_sum(30, 12) == 42);
		unhook(&mover);
		unhook(&noter);
		unhook(&restorer);
		KTEST_CHECK(state.nr_wrong == 0);
		KTEST_CHECK(told.ip == (uintptr_t)ops_sum);
		KTEST_CHECK(told.parent && told.parent_ip == told.parent);
	}
}

/* Who is called behind an ops that sends the call elsewhere is told the site all the same. */
static void test_same_site(void)
{
	static struct ftrace_ops noter = { .func = note_addresses };

	memset(&told, 0, sizeof(told));
	modify.func = to_difference;
	if (!KTEST_NEED(ops_at(&noter, ops_sum) == 0))
		return;
	KTEST_CHECK(ops_at(&modify, ops_sum) == 0);
	KTEST_CHECK(ops_sum(30, 12) == 18);
	KTEST_CHECK(told.ip == (uintptr_t)ops_sum);
	unhook(&modify);
	unhook(&noter);
}

/* Trampolines of both kinds are there, and nothing is writable and executable. */
static void test_memory(void)
{
	static struct ftrace_ops regs = { .func = count_plain, .flags = FTRACE_OPS_FL_SAVE_REGS };
	size_t used = trace_exec_used();

	KTEST_CHECK(ops_at(&plain, ops_target) == 0);
	KTEST_CHECK(ops_at(&regs, ops_sum) == 0);
	KTEST_CHECK(trace_exec_used() == used + TRACE_EXEC_UNIT + 2 * TRACE_EXEC_UNIT);
	KTEST_CHECK(arch_check_wx() == 0);
	unhook(&regs);
	unhook(&plain);
	KTEST_CHECK(trace_exec_used() == used);
}

const struct ktest ktest_ops[] = {
	{ "ops_registers", test_registers },
	{ "ops_plain", test_plain_keeps_arguments },
	{ "ops_set_arguments", test_set_arguments },
	{ "ops_ipmodify", test_ipmodify },
	{ "ops_jump", test_jump },
	{ "ops_direct", test_direct },
	{ "ops_same_addresses", test_same_addresses },
	{ "ops_same_site", test_same_site },
	{ "ops_memory", test_memory },
	{ 0 },
};
