/*
 * <arch/sections.h> of a user process: the text that is patched is one mapping of a file in memory.
 */
#ifndef ARCH_SECTIONS_H
#define ARCH_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SILICON_TEXT	   0x10000000ul /* where code runs: readable and executable */
#define SILICON_TEXT_BYTES 0x10000ul

static inline bool arch_is_text(uintptr_t addr)
{
	return addr - SILICON_TEXT < SILICON_TEXT_BYTES;
}

#endif
