/*
 * A breakpoint consumer of the kernel's own: an int3 on each instruction that makes a frame, hit in
 * a thread and in an NMI, and what backtraces and readers of the code make of it.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <arch/trap.h>
#include <arch/unwind.h>
#include "ktest.h"
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/text.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>
#include <trace/platform.h>

#define INT3	 0xcc
#define MAX_HITS 8

static const uint8_t push_rbp[] = { 0x55 }, move_rsp_rbp[] = { 0x48, 0x89, 0xe5 };

static struct {
	const uint8_t *insn; /* what the int3 stands in front of */
	uintptr_t at;
	struct {
		uintptr_t site, caller;
		uint8_t meant;
	} hits[MAX_HITS];
	uint32_t nr_hits;
} breakpoint;

/* It has made its frame when it comes to the int3, whatever stands where that was done. */
static TRACE_NOINLINE void breakpoint_target(void)
{
	volatile uint64_t locals[4] = { 0 }; /* the frame tells where the caller is, rsp does not */

	__asm__ volatile("int3" : : "r"(locals) : "memory");
}

static TRACE_NOINLINE void breakpoint_caller(void)
{
	breakpoint_target();
	__asm__ volatile("" : : : "memory"); /* no tail call */
}

static TRACE_NOTRACE void breakpoint_emulate(const struct trace_breakpoint_hit *hit)
{
	struct trap_frame *regs = hit->frame;

	if (breakpoint.insn == push_rbp) {
		regs->rsp -= sizeof(uint64_t);
		*(volatile uint64_t *)regs->rsp = regs->rbp;
	} else {
		regs->rbp = regs->rsp;
		regs->rip = hit->site + sizeof(move_rsp_rbp);
	}
}

static TRACE_NOTRACE bool breakpoint_answer(struct trace_breakpoint_consumer *consumer,
					    const struct trace_breakpoint_hit *hit)
{
	uint32_t nr = breakpoint.nr_hits;
	uintptr_t out[2] = { 0 };

	(void)consumer;
	if (hit->site - (uintptr_t)breakpoint_target > 64 || nr == MAX_HITS)
		return false;
	arch_backtrace_trap(hit->frame, out, ARRAY_SIZE(out));
	breakpoint.hits[nr].site = hit->site;
	breakpoint.hits[nr].caller = out[1];
	trace_text_meant(hit->site, &breakpoint.hits[nr].meant, 1);
	breakpoint.nr_hits++;
	if (hit->site == breakpoint.at)
		breakpoint_emulate(hit);
	return true;
}

static TRACE_NOTRACE void breakpoint_restore(struct trace_breakpoint_consumer *consumer,
					     uintptr_t addr, uint8_t *bytes, size_t len)
{
	(void)consumer;
	if (breakpoint.at - addr < len)
		bytes[breakpoint.at - addr] = breakpoint.insn[0];
}

static struct trace_breakpoint_consumer breakpoint_consumer = {
	.priority = TRACE_BREAKPOINT_PRIORITY_HOST,
	.answer = breakpoint_answer,
	.restore = breakpoint_restore
};

static bool breakpoint_is_in_caller(uintptr_t addr)
{
	char name[KSYM_NAME_LEN];
	uintptr_t start;

	return symbols_lookup(addr, name, &start, NULL) && start == (uintptr_t)breakpoint_caller;
}

/* The int3 that was written, and the function's own, which nothing is meant to be there for. */
static void breakpoint_check_hits(void)
{
	KTEST_CHECK(breakpoint.nr_hits == 2);
	for (uint32_t i = 0; i < breakpoint.nr_hits; i++) {
		KTEST_CHECK(breakpoint_is_in_caller(breakpoint.hits[i].caller));
		KTEST_CHECK((breakpoint.hits[i].site == breakpoint.at) == (i == 0));
		KTEST_CHECK(breakpoint.hits[i].meant == (i ? INT3 : breakpoint.insn[0]));
	}
	breakpoint.nr_hits = 0;
}

static void breakpoint_nmi(struct trap_frame *regs)
{
	(void)regs;
	breakpoint_caller();
}

static void breakpoint_write(uint8_t byte)
{
	mutex_lock(&text_mutex);
	trace_text_write(breakpoint.at, &byte, 1);
	mutex_unlock(&text_mutex);
	smp_sync_cores();
}

static void breakpoint_run(uintptr_t at, const uint8_t *insn, size_t len)
{
	trap_fn before;
	uint64_t flags;

	if (!KTEST_NEED(memcmp((const void *)at, insn, len) == 0))
		return;
	breakpoint.insn = insn;
	breakpoint.at = at;
	breakpoint_write(INT3);
	breakpoint_caller();
	breakpoint_check_hits();

	flags = arch_irq_save();
	before = arch_nmi_register(breakpoint_nmi);
	__asm__ volatile("int $2" : : : "memory");
	arch_nmi_register(before);
	arch_irq_restore(flags);
	breakpoint_check_hits();
	breakpoint_write(insn[0]);
}

static void test_breakpoint_consumer(void)
{
	uintptr_t frame = (uintptr_t)breakpoint_target + TRACE_INSN_SIZE;

	mutex_lock(&text_mutex);
	trace_breakpoint_register(&breakpoint_consumer);
	mutex_unlock(&text_mutex);
	breakpoint_run(frame, push_rbp, sizeof(push_rbp));
	breakpoint_run(frame + sizeof(push_rbp), move_rsp_rbp, sizeof(move_rsp_rbp));
	mutex_lock(&text_mutex);
	trace_breakpoint_unregister(&breakpoint_consumer);
	mutex_unlock(&text_mutex);
	trace_plat_synchronize_preempt();
}

const struct ktest ktest_breakpoint[] = {
	{ "breakpoint_consumer", test_breakpoint_consumer },
	{ 0 },
};
