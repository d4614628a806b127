/*
 * <arch/paging.h> of the simulated machine. The alias of text is text itself; who asks for it when
 * it is not there, or with interrupts on, fails the test (sim_text.h). Executable memory is where
 * a process may have it.
 */
#ifndef SIM_ARCH_PAGING_H
#define SIM_ARCH_PAGING_H

#include_next <arch/paging.h>

void *sim_alias_of(uintptr_t text_addr);

#define SIM_EXEC_BASE 0x60000000ull

#undef EXEC_BASE
#define EXEC_BASE		 SIM_EXEC_BASE
#define arch_alias_of		 sim_alias_of
#define arch_exec_contains(addr) ((uintptr_t)(addr)-EXEC_BASE < EXEC_BYTES)

#endif
