/*
 * Instructions that may fault: a table of their addresses with the place to go on at.
 *
 * Context: any, NMI included. Not traced.
 * Ownership: the table is constant data, made by the inline functions below.
 */
#ifndef FIXUP_H
#define FIXUP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* One line of .ex_table: 1: is the instruction, 2: where to go on. */
#define FIXUP_ENTRY(insn, resume)                                                                  \
	".pushsection .ex_table, \"a\"\n\t"                                                        \
	".balign 8\n\t"                                                                            \
	".quad " insn ", " resume "\n\t"                                                           \
	".popsection\n\t"

/* True when the trap lies in the table: `regs` goes on at the other place. */
bool fixup_apply(struct trap_frame *regs);

#endif
