/*
 * The text of a process that is patched: SILICON_TEXT, executable, not writable, with the view of
 * it that <trace_arch_inline.h> of this folder names; and what else text_poke.c needs of a machine.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <trace/compiler.h>

/* Once, first. False: this kernel has no core-sync barrier. All text is returns. */
bool text_map(void);
/* Print it, and end. */
void panic(const char *fmt, ...) TRACE_PRINTF(1, 2) __attribute__((noreturn));

#endif
