/*
 * <arch/sections.h> of the simulated machine: text is an array (sim_text.h).
 */
#ifndef SIM_ARCH_SECTIONS_H
#define SIM_ARCH_SECTIONS_H

#include_next <arch/sections.h>

bool sim_is_text(uintptr_t addr);

#define arch_is_text sim_is_text

#endif
