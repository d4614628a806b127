/* The IDT, and the work of each trap: see <arch/trap.h>. */
#include <stdatomic.h>

#include <arch/cpu.h>
#include <arch/cpu_local.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_probe.h>
#include <trace/arch_watch.h>
#include <trace/platform.h>

#include "fixup.h"
#include "trap_priv.h"
#include "user_priv.h"

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_mid;
	uint32_t offset_high;
	uint32_t reserved;
};

#define GATE_INTERRUPT 0x8e /* present, ring 0, interrupts off on entry */
#define GATE_USER      0x60 /* the instruction INT may use it in programs */
#define RFLAGS_TF      0x100ull

#define HARDIRQ_ONE 0x00010000u
#define NMI_ONE	    0x00100000u
#define IN_IRQ_MASK (TRACE_HARDIRQ_MASK | TRACE_NMI_MASK)

static struct {
	struct gate idt[TRAP_NR_VECTORS];
	_Atomic trap_fn irq_fn[TRAP_NR_VECTORS];
	_Atomic trap_fn nmi_fn;
	_Atomic bool was_missed[TRAP_NR_VECTORS]; /* came without a handler, and was reported */
} traps __attribute__((aligned(16)));

static void set_gate(unsigned int vector, const char *entry, enum trap_ist ist)
{
	uint64_t addr = (uintptr_t)entry;

	traps.idt[vector] = (struct gate){
		.offset_low = (uint16_t)addr,
		.offset_mid = (uint16_t)(addr >> 16),
		.offset_high = (uint32_t)(addr >> 32),
		.selector = KERNEL_CS,
		.type = GATE_INTERRUPT,
		.ist = (uint8_t)ist,
	};
}

void trap_init(void)
{
	for (unsigned int v = 0; v < TRAP_NR_VECTORS; v++)
		set_gate(v, trap_stubs + v * TRAP_STUB_SIZE, IST_NONE);
	set_gate(TRAP_DEBUG, trap_debug, IST_DEBUG);
	set_gate(TRAP_BREAKPOINT, trap_breakpoint, IST_NONE);
	traps.idt[TRAP_BREAKPOINT].type |= GATE_USER;
	set_gate(TRAP_NMI, nmi_entry, IST_NMI);
	set_gate(TRAP_DOUBLE_FAULT, trap_double_fault, IST_DOUBLE_FAULT);
	set_gate(TRAP_MACHINE_CHECK, trap_machine_check, IST_MACHINE_CHECK);
}

bool trap_table_overlaps(uintptr_t addr, size_t len)
{
	return ranges_overlap(addr, len, (uintptr_t)traps.idt, sizeof(traps.idt));
}

void trap_load_idt(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) idtr = {
		.limit = sizeof(traps.idt) - 1,
		.base = (uintptr_t)traps.idt,
	};

	__asm__ volatile("lidt %0" : : "m"(idtr));
}

int arch_irq_register(uint8_t vector, trap_fn fn)
{
	_Atomic trap_fn *slot = &traps.irq_fn[vector];
	trap_fn none = NULL;

	if (vector < TRAP_NR_EXCEPTIONS)
		return -EINVAL;
	return atomic_compare_exchange_strong(slot, &none, fn) ? 0 : -EBUSY;
}

trap_fn arch_nmi_register(trap_fn fn)
{
	return atomic_exchange(&traps.nmi_fn, fn);
}

static void preempt_count_add(uint32_t delta)
{
	cpu_local_add32(offsetof(struct cpu_local, preempt_count), delta);
}

/* Is this interrupt all that keeps preemption off? */
static bool is_preempt_section(void)
{
	return (cpu_local_read(preempt_count) & ~PREEMPT_NO_RESCHED) == HARDIRQ_ONE;
}

static void dispatch_irq(struct trap_frame *regs)
{
	uintptr_t outer = cpu_local_read(irq_stack_top);
	trap_fn fn;

	if (TRACEPOINT_WANTED(irq_disable) && (regs->rflags & RFLAGS_IF))
		TRACEPOINT_CALL(irq_disable, 0ul);
	preempt_count_add(HARDIRQ_ONE);
	if (!outer)
		cpu_local_write(irq_stack_top, (uintptr_t)(regs + 1));
	if (TRACEPOINT_WANTED(preempt_disable) && is_preempt_section())
		TRACEPOINT_CALL(preempt_disable, 0ul);
	fn = atomic_load_explicit(&traps.irq_fn[regs->vector], memory_order_relaxed);
	if (fn)
		fn(regs);
	else if (!atomic_exchange(&traps.was_missed[regs->vector], true))
		kernel_warning("trap: interrupt vector %u has no handler\n",
			       (unsigned int)regs->vector);
	if (TRACEPOINT_WANTED(preempt_enable) && is_preempt_section())
		TRACEPOINT_CALL(preempt_enable, 0ul);
	cpu_local_write(irq_stack_top, outer);
	preempt_count_add(-HARDIRQ_ONE);

	if ((regs->rflags & RFLAGS_IF) && !(cpu_local_read(preempt_count) & IN_IRQ_MASK))
		upcall_irq_exit();
	if (TRACEPOINT_WANTED(irq_enable) && (regs->rflags & RFLAGS_IF))
		TRACEPOINT_CALL(irq_enable, 0ul);
}

/*
 * A single step that began in a program ends in the first instruction of the kernel's entry: nothing
 * is to be done, and the step goes no further.
 */
static bool is_step_into_entry(struct trap_frame *regs)
{
	if (regs->vector != TRAP_DEBUG || !trap_is_entry_code(regs->rip))
		return false;
	regs->rflags &= ~RFLAGS_TF;
	return true;
}

static bool is_fatal_anywhere(uint64_t vector)
{
	return vector == TRAP_DOUBLE_FAULT || vector == TRAP_MACHINE_CHECK;
}

/* Bits of RFLAGS that no processor sets (Intel SDM volume 1, "EFLAGS Register"): an emulator's fault, or a stack's. */
#define RFLAGS_NEVER (~0x3f7fd7ull)

void trap_dispatch(struct trap_frame *regs)
{
	ASSERT(!(regs->rflags & RFLAGS_NEVER));
	if (regs->vector >= TRAP_NR_EXCEPTIONS) {
		dispatch_irq(regs);
		if (trap_is_user(regs))
			user_before_return(regs);
		return;
	}
	if (trap_is_user(regs) && !is_fatal_anywhere(regs->vector)) {
		user_trap(regs);
		return;
	}
	if (regs->vector == TRAP_BREAKPOINT &&
	    trace_breakpoint_dispatch(&regs->rip, &regs->rsp, regs))
		return;
	if (regs->vector == TRAP_DEBUG && trace_watch_dispatch(regs->rip, regs))
		return;
	if (is_step_into_entry(regs) || user_copy_fault(regs))
		return;
	/* a fault in a probe's copy counts as one of the original instruction */
	regs->rip = trace_probe_original(regs->rip);
	if (fixup_apply(regs))
		return;
	trap_fatal(regs);
}

/*
 * An NMI in the entry of #DB must not come to another #DB, which would overwrite the frame there: no
 * watchpoint is hit meanwhile. The value for trace_watch_restore(); 0: nothing was changed.
 */
static uint64_t trap_nmi_watches_off(const struct trap_frame *regs)
{
	bool is_inside =
		regs->rip >= (uintptr_t)trap_debug && regs->rip < (uintptr_t)trap_debug_end;

	return is_inside ? trace_watch_suspend() : 0;
}

void trap_nmi(struct trap_frame *regs)
{
	trap_fn fn = atomic_load_explicit(&traps.nmi_fn, memory_order_relaxed);
	uint64_t fault_addr = read_cr2(); /* restored: the interrupted code may still read it */
	uint64_t watches = trap_nmi_watches_off(regs);

	ASSERT(!(regs->rflags & RFLAGS_NEVER));
	preempt_count_add(NMI_ONE + HARDIRQ_ONE);
	if (fn)
		fn(regs);
	else
		kernel_warning("trap: NMI without a handler\n");
	preempt_count_add(-(NMI_ONE + HARDIRQ_ONE));
	if (read_cr2() != fault_addr)
		write_cr2(fault_addr);
	if (watches)
		trace_watch_restore(watches);
}
