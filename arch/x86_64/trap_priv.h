/*
 * What the trap files share inside arch/.
 *
 * Context: trap_load_idt(): each CPU, interrupts off.
 */
#ifndef TRAP_PRIV_H
#define TRAP_PRIV_H

#include <arch/trap.h>

/* Stacks of the interrupt stack table; 0 is "the interrupted stack". */
enum trap_ist {
	IST_NONE,
	IST_DOUBLE_FAULT,
	IST_NMI,
	IST_MACHINE_CHECK
};

void trap_load_idt(void);

/* From the entry code, interrupts off. */
void trap_dispatch(struct trap_frame *regs);
void trap_nmi(struct trap_frame *regs);

/* Entry code: trap_entry.asm from trap_stubs to its end, and nmi_entry.asm. */
extern const char trap_stubs[], trap_breakpoint[], trap_entry_end[];
extern const char nmi_entry[], nmi_entry_end[];
#define TRAP_STUB_SIZE 16ul

/* End of a fault that nobody handles. */
void trap_fatal(struct trap_frame *regs) __attribute__((noreturn));

#endif
