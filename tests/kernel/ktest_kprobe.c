/*
 * Probes at instructions: entries of functions, every instruction of some, handlers that are called
 * when and with what, and places that are refused.
 */
#include <arch/cpu.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include "ktest_kprobe.h"
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/text.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/arch_decode.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>
#include <trace/ftrace.h>
#include <trace/fmt.h>
#include <trace/kprobe.h>
#include <trace/static_key.h>

/* ---- Probed functions ---- */

/* Branches, a loop, calls, a table of addresses, memory. */
TRACE_NOINLINE uint64_t kprobe_leaf(uint64_t a, uint64_t b)
{
	static volatile uint64_t total;

	total += a;
	return a * 3 + b + (total & 0);
}

static uint64_t (*volatile kprobe_pointer)(uint64_t a, uint64_t b) = kprobe_leaf;

TRACE_NOINLINE uint64_t kprobe_work(uint64_t nr)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < nr; i++) {
		switch (i % 7) {
		case 0:
			sum += kprobe_leaf(i, sum);
			break;
		case 1:
			sum ^= kprobe_pointer(sum, i);
			break;
		case 2:
			sum = sum << 3 | sum >> 61;
			break;
		case 3:
			sum -= i * i;
			break;
		case 4:
			sum += (int64_t)sum < 0 ? 17 : i;
			break;
		default:
			if (sum % 3 == 1)
				sum += 5;
		}
	}
	return sum;
}

/* Without a table of addresses, which hides where branches lead. */
TRACE_NOINLINE uint64_t kprobe_sort(uint64_t seed)
{
	uint64_t sum = seed;

	for (uint64_t i = 0; i < 40; i++) {
		if (sum & 1)
			sum = sum * 5 + kprobe_leaf(i, sum);
		else
			sum = (sum >> 1) ^ (i << 40);
		if ((int64_t)sum < 0)
			sum += i & 7;
	}
	return sum;
}

/* The calls of this are moved out of their function: gcc does so. */
static __attribute__((cold)) TRACE_NOINLINE uint64_t kprobe_rare(uint64_t value)
{
	static volatile uint64_t total;

	total += value;
	return value ^ (total & 0);
}

TRACE_NOINLINE uint64_t kprobe_split(uint64_t seed)
{
	uint64_t sum = seed;

	for (uint64_t i = 0; i < 40; i++) {
		if (sum % 5 == 2) {
			sum = kprobe_rare(sum) * 0x123456789abull + i;
			sum = kprobe_rare(sum ^ (i << 33)) - 0x77777777;
		}
		sum = sum * 3 + i;
	}
	return sum;
}

/* ---- Handlers ---- */

static struct {
	_Atomic uint64_t nr_pre, nr_post;
	uintptr_t rip, post_rip, rsp, arg;
	char order[8];
	uint64_t inner;
} seen;

static TRACE_NOTRACE int kprobe_count(struct kprobe *p, struct ftrace_regs *regs)
{
	atomic_fetch_add(&seen.nr_pre, 1);
	seen.rip = regs->rip;
	seen.rsp = kprobe_regs_stack(p, regs);
	seen.arg = ftrace_regs_get_argument(regs, 0);
	return 0;
}

TRACE_NOTRACE void kprobe_count_post(struct kprobe *p, struct ftrace_regs *regs, uint64_t flags)
{
	(void)p;
	(void)flags;
	atomic_fetch_add(&seen.nr_post, 1);
	seen.post_rip = regs->rip;
}

/* ---- Every instruction ---- */

struct kprobe kprobe_probes[KPROBE_MAX];
struct kprobe *kprobe_pointers[KPROBE_MAX];

/* A probe for each instruction of the function; how many. */
size_t kprobe_fill(uintptr_t func)
{
	char name[KSYM_NAME_LEN];
	struct trace_insn insn;
	uintptr_t start;
	size_t size, nr = 0;

	if (!KTEST_NEED(symbols_lookup(func, name, &start, &size) && start == func))
		return 0;
	memset(kprobe_probes, 0, sizeof(kprobe_probes));
	for (uintptr_t at = func; at < func + size && nr < KPROBE_MAX; at += insn.length) {
		if (!KTEST_NEED(!trace_insn_decode(&insn, (const void *)at, TRACE_INSN_MAX)))
			return 0;
		kprobe_probes[nr].addr = at;
		kprobe_probes[nr].pre_handler = kprobe_count;
		kprobe_pointers[nr] = &kprobe_probes[nr];
		nr++;
	}
	return nr;
}

/* Each by itself, with and without a post handler: results, hits, text. */
static void kprobe_try_each(uintptr_t func, uint64_t expected)
{
	uint8_t before[16];

	for (size_t i = 0, nr = kprobe_fill(func); i < 2 * nr; i++) {
		struct kprobe *p = &kprobe_probes[i / 2];
		uint64_t total = atomic_load(&seen.nr_pre), post = atomic_load(&seen.nr_post);

		p->post_handler = i % 2 ? kprobe_count_post : NULL;
		memcpy(before, (const void *)p->addr, sizeof(before));
		if (!KTEST_NEED(!register_kprobe(p)))
			return;
		KTEST_CHECK(memcmp((const void *)p->addr, before, sizeof(before)) != 0);
		KTEST_CHECK(kprobe_work(KPROBE_ROUNDS) == expected);
		if (atomic_load(&seen.nr_pre) != total)
			KTEST_CHECK(seen.rip == p->addr);
		KTEST_CHECK((i % 2 ? atomic_load(&seen.nr_pre) - total : 0) ==
			    atomic_load(&seen.nr_post) - post);
		KTEST_CHECK(!atomic_load(&p->nmissed));
		unregister_kprobe(p);
		KTEST_CHECK(memcmp((const void *)p->addr, before, sizeof(before)) == 0);
	}
}

static void test_kprobe_each_instruction(void)
{
	uint64_t expected = kprobe_work(KPROBE_ROUNDS);

	kprobe_try_each((uintptr_t)kprobe_work, expected);
	kprobe_try_each((uintptr_t)kprobe_leaf, expected);
}

/* ---- Jumps ---- */

static bool kprobe_is_optimized(const struct kprobe *p)
{
	return __atomic_load_n(&p->flags, __ATOMIC_RELAXED) & KPROBE_FLAG_OPTIMIZED;
}

/* Wait until it has a jump; not longer than 80 ms. */
static bool kprobe_await_jump(const struct kprobe *p)
{
	for (int i = 0; i < 40 && !kprobe_is_optimized(p); i++)
		thread_sleep_ns(2 * NSEC_PER_MSEC);
	return kprobe_is_optimized(p);
}

/* As above in the code of a function or part of it, with a jump where one can be; how many could. */
static size_t kprobe_try_jumps(uint64_t (*func)(uint64_t seed), uintptr_t code)
{
	uint64_t expected = func(KPROBE_ROUNDS);
	size_t nr_jumps = 0;
	uint8_t before[16], meant[16];

	for (size_t i = code == (uintptr_t)func, nr = kprobe_fill(code); i < nr; i++) {
		struct kprobe *p = &kprobe_probes[i];
		uint64_t hits = atomic_load(&seen.nr_pre), jump_hits;

		memcpy(before, (const void *)p->addr, sizeof(before));
		if (!KTEST_NEED(!register_kprobe(p)))
			break;
		KTEST_CHECK(func(KPROBE_ROUNDS) == expected);
		hits = atomic_load(&seen.nr_pre) - hits;
		if (kprobe_await_jump(p)) {
			nr_jumps++;
			KTEST_CHECK(*(const uint8_t *)p->addr == 0xe9);
			jump_hits = atomic_load(&seen.nr_pre);
			KTEST_CHECK(func(KPROBE_ROUNDS) == expected);
			KTEST_CHECK(atomic_load(&seen.nr_pre) - jump_hits == hits);
			KTEST_CHECK(!hits || seen.rip == p->addr);
		}
		trace_plat_preempt_disable();
		KTEST_CHECK(trace_text_meant(p->addr, meant, sizeof(meant)));
		trace_plat_preempt_enable();
		KTEST_CHECK(memcmp(meant, before, sizeof(meant)) == 0);
		unregister_kprobe(p);
		KTEST_CHECK(memcmp((const void *)p->addr, before, sizeof(before)) == 0);
	}
	return nr_jumps;
}

static void test_kprobe_jumps(void)
{
	uintptr_t moved = symbols_find("kprobe_split.cold");

	KTEST_CHECK(kprobe_try_jumps(kprobe_sort, (uintptr_t)kprobe_sort) >= 2);
	if (moved) /* not by clang */
		KTEST_CHECK(kprobe_try_jumps(kprobe_split, moved) >= 2);
}

/* All at once, the call site and breakpoints: one batch. */
static void test_kprobe_all_at_once(void)
{
	uint64_t expected = kprobe_work(KPROBE_ROUNDS), before;
	struct trace_poke_stats start, end;
	size_t nr = kprobe_fill((uintptr_t)kprobe_leaf), used = trace_exec_used();

	KTEST_CHECK(!kprobes_set_optimization(false)); /* its batches would be counted */
	kprobe_leaf(1, 2);
	trace_plat_poke_stats(&start);
	KTEST_CHECK(!register_kprobes(kprobe_pointers, nr));
	trace_plat_poke_stats(&end);
	KTEST_CHECK(end.syncs - start.syncs == 3 && end.sites - start.sites == nr);
	before = atomic_load(&seen.nr_pre);
	kprobe_leaf(1, 2);
	KTEST_CHECK(atomic_load(&seen.nr_pre) - before >= 4);
	KTEST_CHECK(kprobe_work(KPROBE_ROUNDS) == expected);
	trace_plat_poke_stats(&start);
	KTEST_CHECK(!disable_kprobes(kprobe_pointers, nr));
	trace_plat_poke_stats(&end);
	KTEST_CHECK(end.syncs - start.syncs == 3 && end.sites - start.sites == nr);
	before = atomic_load(&seen.nr_pre);
	KTEST_CHECK(kprobe_work(KPROBE_ROUNDS) == expected);
	KTEST_CHECK(atomic_load(&seen.nr_pre) == before);
	KTEST_CHECK(!enable_kprobes(kprobe_pointers, nr));
	KTEST_CHECK(kprobe_work(KPROBE_ROUNDS) == expected);
	KTEST_CHECK(atomic_load(&seen.nr_pre) > before);
	trace_plat_poke_stats(&start);
	unregister_kprobes(kprobe_pointers, nr);
	trace_plat_poke_stats(&end);
	KTEST_CHECK(end.syncs - start.syncs == 3 && end.sites - start.sites == nr);
	/* Until no thread is in the trampoline of the call site. */
	for (int i = 0; trace_exec_used() != used && i < 1000; i++)
		thread_sleep_ns(NSEC_PER_MSEC);
	KTEST_CHECK(trace_exec_used() == used);
	KTEST_CHECK(!kprobes_set_optimization(true) && kprobes_optimization());
}

/* ---- One place ---- */

static TRACE_NOTRACE int kprobe_order(struct kprobe *p, struct ftrace_regs *regs)
{
	const char letter[] = { (char)('a' + (p - kprobe_probes)), '\0' };

	(void)regs;
	if (strlen(seen.order) < sizeof(seen.order) - 1)
		strlcpy(seen.order + strlen(seen.order), letter, 2);
	return 0;
}

/* Three at one address, which come and go and are switched. */
static void kprobe_try_several(uintptr_t addr)
{
	memset(kprobe_probes, 0, sizeof(kprobe_probes));
	for (size_t i = 0; i < 3; i++) {
		kprobe_probes[i].addr = addr;
		kprobe_probes[i].pre_handler = kprobe_order;
		kprobe_pointers[i] = &kprobe_probes[i];
	}
	kprobe_probes[1].flags = KPROBE_FLAG_ARGS;
	KTEST_CHECK(!register_kprobes(kprobe_pointers, 3));
	KTEST_CHECK(register_kprobe(&kprobe_probes[0]) == -EINVAL);
	seen.order[0] = '\0';
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "abc") == 0);
	KTEST_CHECK(!disable_kprobe(&kprobe_probes[0]));
	unregister_kprobe(&kprobe_probes[2]);
	seen.order[0] = '\0';
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "b") == 0);
	KTEST_CHECK(!register_kprobe(&kprobe_probes[2]));
	KTEST_CHECK(!enable_kprobe(&kprobe_probes[0]));
	seen.order[0] = '\0';
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "abc") == 0);
	KTEST_CHECK(!kprobes_set_enabled(false));
	seen.order[0] = '\0';
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "") == 0);
	KTEST_CHECK(!kprobes_set_enabled(true));
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "abc") == 0);
	unregister_kprobes(kprobe_pointers, 3);
	unregister_kprobes(kprobe_pointers, 3);
	seen.order[0] = '\0';
	kprobe_leaf(1, 2);
	KTEST_CHECK(strcmp(seen.order, "") == 0);
}

static void test_kprobe_several(void)
{
	kprobe_try_several((uintptr_t)kprobe_leaf);
	kprobe_try_several((uintptr_t)kprobe_leaf + TRACE_INSN_SIZE);
}

/* By name; what the handler sees at the entry, with all registers and without. */
static void test_kprobe_entry(void)
{
	struct kprobe p = { .symbol_name = "kprobe_leaf", .pre_handler = kprobe_count };
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	for (int i = 0; i < 2; i++) {
		uint64_t before = atomic_load(&seen.nr_pre);

		p.flags = i ? KPROBE_FLAG_ARGS : 0;
		if (!KTEST_NEED(!register_kprobe(&p)))
			return;
		KTEST_CHECK(p.flags & KPROBE_FLAG_FTRACE);
		KTEST_CHECK(kprobe_leaf(77, 1) == 77 * 3 + 1);
		KTEST_CHECK(atomic_load(&seen.nr_pre) == before + 1);
		KTEST_CHECK(seen.rip == (uintptr_t)kprobe_leaf && seen.arg == 77);
		KTEST_CHECK(here - seen.rsp < 512);
		unregister_kprobe(&p);
		KTEST_CHECK(!p.addr);
	}
}

static struct kprobe_view {
	uintptr_t rip, stack, frame, arg[3], rax;
} kprobe_view;

static TRACE_NOTRACE int kprobe_look(struct kprobe *p, struct ftrace_regs *regs)
{
	kprobe_view = (struct kprobe_view){ .rip = ftrace_regs_get_instruction_pointer(regs),
					    .stack = kprobe_regs_stack(p, regs),
					    .frame = ftrace_regs_get_frame_pointer(regs),
					    .rax = ftrace_regs_get_return_value(regs) };
	for (uint32_t i = 0; i < ARRAY_SIZE(kprobe_view.arg); i++)
		kprobe_view.arg[i] = ftrace_regs_get_argument(regs, i);
	return 0;
}

static void kprobe_check_view(uintptr_t addr)
{
	uint64_t rax = 4711;

	memset(&kprobe_view, 0, sizeof(kprobe_view));
	__asm__ volatile("call kprobe_leaf"
			 : "+a"(rax)
			 : "D"(77ul), "S"(1ul), "d"(5ul)
			 : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
	KTEST_CHECK(rax == 77 * 3 + 1);
	KTEST_CHECK(kprobe_view.rip == addr && kprobe_view.rax == 4711);
	KTEST_CHECK(kprobe_view.arg[0] == 77 && kprobe_view.arg[1] == 1 && kprobe_view.arg[2] == 5);
	KTEST_CHECK(kprobe_view.frame == (uintptr_t)__builtin_frame_address(0));
	/* The function has pushed nothing: there is its return address. */
	if (KTEST_NEED(kprobe_view.frame - kprobe_view.stack < 512))
		KTEST_CHECK(*(uintptr_t *)kprobe_view.stack - (uintptr_t)kprobe_check_view < 512);
}

/* A handler of arguments behind the entry, by a breakpoint and by a jump. */
static void test_kprobe_args(void)
{
	struct kprobe p = { .addr = (uintptr_t)kprobe_leaf + TRACE_INSN_SIZE,
			    .pre_handler = kprobe_look };

	for (int i = 0; i < 2; i++) {
		p.flags = i ? KPROBE_FLAG_ARGS : 0;
		if (!KTEST_NEED(!register_kprobe(&p)))
			return;
		kprobe_check_view(p.addr);
		if (KTEST_NEED(kprobe_await_jump(&p)))
			kprobe_check_view(p.addr);
		unregister_kprobe(&p);
	}
}

static TRACE_NOINLINE __attribute__((used)) uint64_t kprobe_rax(void)
{
	uint64_t rax;

	__asm__ volatile("movq %%rax, %0" : "=r"(rax));
	return rax;
}

/* rax, when the function is called with all bits set there. */
static uint64_t kprobe_call_rax(void)
{
	uint64_t rax = UINT64_MAX;

	__asm__ volatile("call kprobe_rax"
			 : "+a"(rax)
			 :
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return rax;
}

/*
 * A function's rax is no argument but for the number of vector registers, of which this kernel uses
 * none: the trampoline of a single probe that reads only arguments leaves 0 there.
 */
static void test_kprobe_rax(void)
{
	struct kprobe p = { .symbol_name = "kprobe_rax", .pre_handler = kprobe_count };

	KTEST_CHECK(kprobe_call_rax() == UINT64_MAX);
	for (int i = 0; i < 2; i++) {
		p.flags = i ? KPROBE_FLAG_ARGS : 0;
		if (!KTEST_NEED(!register_kprobe(&p)))
			return;
		KTEST_CHECK(kprobe_call_rax() == (i ? 0 : UINT64_MAX));
		unregister_kprobe(&p);
	}
	KTEST_CHECK(kprobe_call_rax() == UINT64_MAX);
}

static TRACE_NOTRACE uint64_t kprobe_instead(void)
{
	return 4711;
}

static TRACE_NOTRACE int kprobe_elsewhere(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	regs->rip = (uintptr_t)kprobe_instead;
	return 1;
}

/* A handler that sends the CPU elsewhere, at the call site and at the breakpoint behind it. */
static void test_kprobe_sends_elsewhere(void)
{
	for (size_t offset = 0; offset <= TRACE_INSN_SIZE; offset += TRACE_INSN_SIZE) {
		struct kprobe p = { .addr = (uintptr_t)kprobe_leaf + offset,
				    .pre_handler = kprobe_elsewhere,
				    .post_handler = kprobe_count_post };
		uint64_t before = atomic_load(&seen.nr_post);

		if (!KTEST_NEED(!register_kprobe(&p)))
			return;
		KTEST_CHECK(kprobe_leaf(1, 2) == 4711);
		KTEST_CHECK(atomic_load(&seen.nr_post) == before);
		unregister_kprobe(&p);
		KTEST_CHECK(kprobe_leaf(1, 2) == 5);
	}
}

/* Sets the carry flag to 0, does nothing, and returns the carry flag. */
static TRACE_NOINLINE uint8_t kprobe_carry(void)
{
	uint8_t carry;

	__asm__ volatile("clc\n\tnop\n\tsetc %0" : "=r"(carry) : : "cc");
	return carry;
}

static TRACE_NOTRACE int kprobe_set_carry(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	regs->rflags |= 1;
	return 0;
}

/* Where in the function, behind its call site, these bytes of instructions are; 0: nowhere. */
static uintptr_t kprobe_find(uintptr_t func, const uint8_t *bytes, size_t len)
{
	size_t nr = kprobe_fill(func);

	for (size_t i = 1; i < nr; i++) {
		if (memcmp((const void *)kprobe_probes[i].addr, bytes, len) == 0)
			return kprobe_probes[i].addr;
	}
	return 0;
}

/* A handler that changes flags: at a breakpoint, at a jump if there can be one, and with another behind. */
static void test_kprobe_changes_flags(void)
{
	static const uint8_t code[] = { 0xf8, 0x90 }; /* clc; nop */
	const uintptr_t clc = kprobe_find((uintptr_t)kprobe_carry, code, sizeof(code));

	if (!KTEST_NEED(clc))
		return;
	for (int i = 0; i < 2; i++) {
		struct kprobe p = { .addr = clc + 1,
				    .pre_handler = kprobe_set_carry,
				    .post_handler = i ? kprobe_count_post : NULL };

		KTEST_CHECK(kprobe_carry() == 0);
		if (!KTEST_NEED(!register_kprobe(&p)))
			return;
		KTEST_CHECK(kprobe_carry() == 1);
		if (!i && kprobe_await_jump(&p))
			KTEST_CHECK(kprobe_carry() == 1);
		unregister_kprobe(&p);
	}
	KTEST_CHECK(kprobe_carry() == 0);
}

/* ---- Hits inside handlers ---- */

static TRACE_NOTRACE int kprobe_again(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	atomic_fetch_add(&seen.nr_pre, 1);
	seen.inner = kprobe_leaf(5, 6);
	return 0;
}

/* A handler that comes to its own probe, and to every other instruction's. */
static void test_kprobe_inside_handler(void)
{
	size_t nr = kprobe_fill((uintptr_t)kprobe_leaf);
	struct kprobe outer = { .addr = (uintptr_t)kprobe_work + TRACE_INSN_SIZE,
				.pre_handler = kprobe_again };
	uint64_t missed = 0, before;

	KTEST_CHECK(!register_kprobes(kprobe_pointers, nr));
	KTEST_CHECK(!register_kprobe(&outer));
	before = atomic_load(&seen.nr_pre);
	kprobe_work(0);
	KTEST_CHECK(seen.inner == 21);
	KTEST_CHECK(atomic_load(&seen.nr_pre) == before + 1);
	for (size_t i = 0; i < nr; i++)
		missed += atomic_load(&kprobe_probes[i].nmissed);
	KTEST_CHECK(missed >= 5 && missed <= nr);
	unregister_kprobe(&outer);
	unregister_kprobes(kprobe_pointers, nr);
}

static void kprobe_in_nmi(struct trap_frame *regs)
{
	(void)regs;
	KTEST_CHECK(kprobe_leaf(5, 6) == 21);
}

static void test_kprobe_nmi(void)
{
	size_t nr = kprobe_fill((uintptr_t)kprobe_leaf);
	uint64_t before, flags;
	trap_fn old;

	KTEST_CHECK(!register_kprobes(kprobe_pointers, nr));
	before = atomic_load(&seen.nr_pre);
	flags = arch_irq_save();
	old = arch_nmi_register(kprobe_in_nmi);
	__asm__ volatile("int $2" : : : "memory");
	arch_nmi_register(old);
	arch_irq_restore(flags);
	KTEST_CHECK(atomic_load(&seen.nr_pre) - before >= 5);
	unregister_kprobes(kprobe_pointers, nr);
}

/* ---- Refusals ---- */

static void kprobe_refused(uintptr_t addr, int err, const char *part)
{
	struct kprobe p = { .addr = addr, .pre_handler = kprobe_count };
	char why[256] = "";

	KTEST_CHECK(register_kprobe(&p) == err);
	KTEST_CHECK(!p.place);
	KTEST_CHECK(kprobe_refusal(addr, why, sizeof(why)) == err);
	if (!strstr(why, part))
		ktest_failed(__FILE__, __LINE__, why);
}

static TRACE_NOINLINE uint64_t kprobe_branch(uint64_t value)
{
	static struct trace_static_key key;

	return trace_static_key_enabled(&key) ? kprobe_rare(value) : value + 1;
}

static void test_kprobe_refused_static_branch(void)
{
	uint8_t nop[TRACE_INSN_SIZE];
	uintptr_t at;

	KTEST_CHECK(kprobe_branch(1) == 2);
	trace_plat_insn_nop(nop);
	at = kprobe_find((uintptr_t)kprobe_branch, nop, sizeof(nop));
	if (KTEST_NEED(at))
		kprobe_refused(at, -EINVAL, ": the instruction is a static branch");
}

static void test_kprobe_refused(void)
{
	struct kprobe p = { .symbol_name = "no_such_function" };
	struct kprobe both = { .symbol_name = "kprobe_leaf", .addr = (uintptr_t)kprobe_leaf };
	char text[8] = "x";

	KTEST_CHECK(register_kprobe(&p) == -ENOENT);
	KTEST_CHECK(register_kprobe(&both) == -EINVAL);
	both.addr = 0;
	both.offset = 1;
	KTEST_CHECK(register_kprobe(&both) == -EILSEQ);
	both.offset = 4096;
	KTEST_CHECK(register_kprobe(&both) == -EINVAL);
	kprobe_refused((uintptr_t)kprobe_leaf + 2, -EILSEQ,
		       "in the middle of the instruction at "
		       "kprobe_leaf+0x0");
	kprobe_refused((uintptr_t)trace_text_write, -EINVAL, "run through this function itself");
	kprobe_refused((uintptr_t)kprobe_count, -EINVAL, "notrace");
	kprobe_refused((uintptr_t)&seen, -EINVAL, ": it is data, not code");
	kprobe_refused((uintptr_t)__start_mcount_loc, -EINVAL, ": it is constant data");
	kprobe_refused(0x1000, -EINVAL, ": it is an address of user space");
	kprobe_refused(UINTPTR_MAX - 7, -EINVAL, ": it is not in the kernel's code");
	KTEST_CHECK(!kprobe_refusal((uintptr_t)kprobe_leaf, text, sizeof(text)) && !text[0]);
}

/* The list, by address, as Linux prints it. */
static void test_kprobe_list(void)
{
	char expected[4][128], line[128];
	uint64_t cursor = 0;

	KTEST_CHECK(!kprobes_set_optimization(false)); /* not OPTIMIZED, however late it is */
	kprobe_fill((uintptr_t)kprobe_leaf);
	kprobe_probes[1].flags = KPROBE_FLAG_DISABLED;
	kprobe_probes[2].addr = kprobe_probes[1].addr;
	kprobe_pointers[0] = &kprobe_probes[2];
	kprobe_pointers[1] = &kprobe_probes[1];
	kprobe_pointers[2] = &kprobe_probes[0];
	KTEST_CHECK(!register_kprobes(kprobe_pointers, 3));
	trace_snprintf(expected[0], 128, "%016lx  k  kprobe_leaf+0x0    [FTRACE]\n",
		       kprobe_probes[0].addr);
	trace_snprintf(expected[1], 128, "%016lx  k  kprobe_leaf+0x5    \n", kprobe_probes[1].addr);
	trace_snprintf(expected[2], 128, "%016lx  k  kprobe_leaf+0x5    [DISABLED]\n",
		       kprobe_probes[1].addr);
	for (size_t i = 0; i < 3; i++) {
		KTEST_CHECK(kprobes_list_next(&cursor, line, sizeof(line)));
		KTEST_CHECK(strcmp(line, expected[i]) == 0);
	}
	KTEST_CHECK(!kprobes_list_next(&cursor, line, sizeof(line)));
	unregister_kprobes(kprobe_pointers, 3);
	KTEST_CHECK(!kprobes_set_optimization(true));
	cursor = 0;
	KTEST_CHECK(!kprobes_list_next(&cursor, line, sizeof(line)));
}

static TRACE_NOTRACE int kprobe_ignore(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	return 0;
}

/*
 * Probe a site whose single probe is in the same place as that of `site`: kprobe_alone_at(). Some sites
 * cannot be probed.
 */
static bool kprobe_register_rival(struct kprobe *rival, uintptr_t site)
{
	const uintptr_t *sites;
	size_t nr;

	sites = trace_plat_sites(&nr);
	for (size_t i = 0; i < nr; i++) {
		rival->addr = sites[i];
		if (sites[i] != site && !((sites[i] ^ site) & 0x1ff8) && !register_kprobe(rival))
			return true;
	}
	return false;
}

/* A probe whose place another one has taken is hit all the same. */
static void test_kprobe_place_is_taken(void)
{
	const uintptr_t site = (uintptr_t)kprobe_leaf;
	struct kprobe rival = { .pre_handler = kprobe_ignore, .flags = KPROBE_FLAG_ARGS };
	struct kprobe p = { .addr = site, .pre_handler = kprobe_count, .flags = KPROBE_FLAG_ARGS };
	uint64_t before = atomic_load(&seen.nr_pre);

	if (!KTEST_NEED(kprobe_register_rival(&rival, site)))
		return;
	KTEST_CHECK(!register_kprobe(&p));
	kprobe_leaf(1, 2);
	kprobe_leaf(1, 2);
	KTEST_CHECK(atomic_load(&seen.nr_pre) == before + 2);
	unregister_kprobe(&p);
	kprobe_leaf(1, 2);
	KTEST_CHECK(atomic_load(&seen.nr_pre) == before + 2);
	unregister_kprobe(&rival);
}

const struct ktest ktest_kprobe[] = {
	{ "kprobe_entry", test_kprobe_entry },
	{ "kprobe_rax", test_kprobe_rax },
	{ "kprobe_each_instruction", test_kprobe_each_instruction },
	{ "kprobe_jumps", test_kprobe_jumps },
	{ "kprobe_args", test_kprobe_args },
	{ "kprobe_all_at_once", test_kprobe_all_at_once },
	{ "kprobe_place_is_taken", test_kprobe_place_is_taken },
	{ "kprobe_several", test_kprobe_several },
	{ "kprobe_sends_elsewhere", test_kprobe_sends_elsewhere },
	{ "kprobe_changes_flags", test_kprobe_changes_flags },
	{ "kprobe_inside_handler", test_kprobe_inside_handler },
	{ "kprobe_nmi", test_kprobe_nmi },
	{ "kprobe_list", test_kprobe_list },
	{ "kprobe_refused", test_kprobe_refused },
	{ "kprobe_refused_static_branch", test_kprobe_refused_static_branch },
	{ 0 },
};
