/*
 * <arch/paging.h> of a user process: the alias is a second, writable mapping of the same file.
 */
#ifndef ARCH_PAGING_H
#define ARCH_PAGING_H

#include <stdbool.h>
#include <stdint.h>
#include <arch/sections.h>

extern uint8_t *silicon_alias;

static inline void arch_alias_open(void)
{
}

static inline void arch_alias_close(void)
{
}

static inline uint64_t arch_alias_enter(void)
{
	return 0;
}

static inline void arch_alias_leave(uint64_t old_root)
{
	(void)old_root;
}

static inline void *arch_alias_of(uintptr_t text_addr)
{
	return silicon_alias + (text_addr - SILICON_TEXT);
}

static inline bool arch_exec_contains(uintptr_t addr)
{
	(void)addr;
	return false;
}

#endif
