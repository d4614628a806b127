/*
 * Instructions that may fault: a table of their addresses, each with the address to go on at then.
 *
 * Context:   any, NMI included. Not traced.
 * Ownership: the table is constant data; each TRACE_FIXUP() of <trace/arch_read.h> adds an entry.
 */
#ifndef FIXUP_H
#define FIXUP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/*
 * If this is a page or protection fault of an instruction in the table, go on at its other
 * address.
 */
bool fixup_apply(struct trap_frame *regs);

#endif
