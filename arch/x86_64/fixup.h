/*
 * Instructions that may fault: a table of their addresses, each with the address to go on at then.
 *
 * Context:   any, NMI included. Not traced.
 * Ownership: the table is constant data; each FIXUP_ENTRY() in the code adds an entry.
 */
#ifndef FIXUP_H
#define FIXUP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* For inline assembly: `insn` and `resume` are labels in it, such as "1b" and "2b". */
#define FIXUP_ENTRY(insn, resume)                                                                  \
	".pushsection .ex_table, \"a\"\n\t"                                                        \
	".balign 8\n\t"                                                                            \
	".quad " insn ", " resume "\n\t"                                                           \
	".popsection\n\t"

/*
 * If this is a page or protection fault of an instruction in the table, go on at its other
 * address.
 */
bool fixup_apply(struct trap_frame *regs);

#endif
