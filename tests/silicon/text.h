/*
 * The text of a process that is patched: SILICON_TEXT, executable, not writable, with the alias
 * that <arch/paging.h> of this folder names; and what else text_poke.c needs of a machine.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>

/* Once, first. False: this kernel has no core-sync barrier. All text is returns. */
bool text_map(void);

#endif
