/*
 * Functions that the files about traps share.
 *
 * Context: trap_load_idt(): each CPU for itself, interrupts off.
 */
#ifndef TRAP_PRIV_H
#define TRAP_PRIV_H

#include <arch/trap.h>

#include "user_priv.h"

/* Stacks of the interrupt stack table, as a gate of the IDT names them. */
enum trap_ist {
	IST_NONE, /* the interrupted stack */
	IST_DOUBLE_FAULT,
	IST_NMI,
	IST_MACHINE_CHECK,
	IST_DEBUG
};

/* Load the IDT that trap_init() has filled. */
void trap_load_idt(void);

/* Called by the entry code, interrupts off. */
void trap_dispatch(struct trap_frame *regs);
void trap_nmi(struct trap_frame *regs);

/* Bounds of the entry code: of trap_entry.asm, where trap_stubs comes first, and nmi_entry.asm. */
extern const char trap_stubs[], trap_breakpoint[], trap_debug[], trap_entry_end[];
extern const char trap_debug_end[], trap_double_fault[], trap_machine_check[];
extern const char nmi_entry[], nmi_entry_end[];
#define TRAP_STUB_SIZE 16ul

/* Is this an address in the entry code of traps but NMI, or of system calls? Not traced. */
static inline bool trap_is_entry_code(uintptr_t rip)
{
	return (rip >= (uintptr_t)trap_stubs && rip < (uintptr_t)trap_entry_end) ||
	       user_is_entry_code(rip);
}

/* Describe a fault without a handler, and panic. */
void trap_fatal(struct trap_frame *regs) __attribute__((noreturn));

#endif
