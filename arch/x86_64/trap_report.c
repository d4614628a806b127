/* Traps in words, for panics: see <arch/trap.h>. */
#include <arch/cpu.h>
#include <arch/cpu_local.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include <kernel/base.h>
#include <kernel/upcall.h>

#include "trap_priv.h"

#define PF_PRESENT 1u
#define PF_WRITE   2u
#define PF_FETCH   16u

static const char *const trap_names[] = {
	[0] = "divide error",
	[1] = "debug",
	[2] = "NMI",
	[3] = "breakpoint",
	[4] = "overflow",
	[5] = "bound range exceeded",
	[6] = "invalid opcode",
	[7] = "device not available",
	[8] = "double fault",
	[10] = "invalid TSS",
	[11] = "segment not present",
	[12] = "stack fault",
	[13] = "general protection fault",
	[14] = "page fault",
	[16] = "x87 error",
	[17] = "alignment check",
	[18] = "machine check",
	[19] = "SIMD error",
	[21] = "control protection fault",
};

const char *trap_name(uint64_t vector)
{
	if (vector >= ARRAY_SIZE(trap_names) || !trap_names[vector])
		return "unknown trap";
	return trap_names[vector];
}

/* Is `addr` in the page below a thread's, the boot or a trap stack? */
static bool trap_is_guard_page(uintptr_t addr)
{
	uintptr_t above = ALIGN_DOWN(addr, PAGE_SIZE) + PAGE_SIZE, lo, hi;

	if (upcall_stack_range(addr, &lo, &hi))
		return false;
	if (upcall_stack_range(above, &lo, &hi) && lo == above)
		return true;
	return cpu_trap_stack_of(addr, &lo, &hi) && addr < lo;
}

bool trap_is_stack_overflow(const struct trap_frame *regs)
{
	if (regs->vector != TRAP_PAGE_FAULT && regs->vector != TRAP_DOUBLE_FAULT)
		return false;
	return trap_is_guard_page(read_cr2());
}

static void trap_describe_page_fault(const struct trap_frame *regs)
{
	const char *what = "read from";

	if (regs->error & PF_FETCH)
		what = "execution of";
	else if (regs->error & PF_WRITE)
		what = "write to";
	pr_err("page fault: %s 0x%016lx, which %s\n", what, read_cr2(),
	       regs->error & PF_PRESENT ? "is protected" : "is not mapped");
}

void arch_describe_fault(const struct trap_frame *regs)
{
	if (trap_is_stack_overflow(regs))
		pr_err("stack overflow: the guard page at 0x%016lx was hit\n",
		       ALIGN_DOWN(read_cr2(), PAGE_SIZE));
	if (regs->vector == TRAP_PAGE_FAULT)
		trap_describe_page_fault(regs);
	else
		pr_err("%s (vector %lu), error code 0x%lx\n", trap_name(regs->vector), regs->vector,
		       regs->error);
}

void arch_dump_registers(const struct trap_frame *r)
{
	pr_err("RIP %04lx:%pS, RSP 0x%016lx, RFLAGS 0x%08lx\n", r->cs, (void *)r->rip, r->rsp,
	       r->rflags);
	pr_err("RAX %016lx RBX %016lx RCX %016lx RDX %016lx\n", r->rax, r->rbx, r->rcx, r->rdx);
	pr_err("RSI %016lx RDI %016lx RBP %016lx R8  %016lx\n", r->rsi, r->rdi, r->rbp, r->r8);
	pr_err("R9  %016lx R10 %016lx R11 %016lx R12 %016lx\n", r->r9, r->r10, r->r11, r->r12);
	pr_err("R13 %016lx R14 %016lx R15 %016lx\n", r->r13, r->r14, r->r15);
}

void arch_dump_control_registers(void)
{
	pr_err("CR0 %016lx CR2 %016lx CR3 %016lx CR4 %016lx\n", read_cr0(), read_cr2(), read_cr3(),
	       read_cr4());
}

void trap_fatal(struct trap_frame *regs)
{
	arch_describe_fault(regs);
	upcall_fault(regs,
		     trap_is_stack_overflow(regs) ? "stack overflow" : trap_name(regs->vector));
}
