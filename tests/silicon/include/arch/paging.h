/*
 * <arch/paging.h> of a user process: the alias is a second, writable mapping of the same file.
 */
#ifndef ARCH_PAGING_H
#define ARCH_PAGING_H

#include <stdbool.h>
#include <stddef.h>
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

/* Trampolines lie in the upper half of the text. */
#define EXEC_BYTES (SILICON_TEXT_BYTES / 2)
#define EXEC_BASE  (SILICON_TEXT + EXEC_BYTES)
#define EXEC_UNIT  64ul

uintptr_t arch_exec_alloc(size_t bytes);
void arch_exec_free(uintptr_t addr, size_t bytes);
size_t arch_exec_used(void);

static inline bool arch_exec_contains(uintptr_t addr)
{
	return addr - EXEC_BASE < EXEC_BYTES;
}

#endif
