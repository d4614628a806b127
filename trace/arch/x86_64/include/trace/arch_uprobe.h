/*
 * Instructions of programs at which probes are: the machine half of <trace/uprobe.h>, for the host's table.
 *
 *   prepare   may it be executed elsewhere, and how
 *   emulate   jumps, calls and NOPs: done by hand
 *   copy      all others run in a slot of the program's memory, from where a jump leads back
 *
 * A slot, TRACE_UPROBE_SLOT bytes: the instruction, with an operand that is relative moved, then a jump behind the
 * original. It has no state: any number of threads may be in it.
 *
 * Context: any. Locking: none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_UPROBE_H
#define TRACE_ARCH_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/platform_uprobes.h>

TRACE_BEGIN_DECLS

#define TRACE_UPROBE_SLOT 32u /* bytes */
#define TRACE_UPROBE_INT3 0xccu

/* As trace_uprobe_host.prepare(). */
const char *trace_uprobe_prepare(const uint8_t *bytes, size_t len,
				 struct trace_uprobe_insn *out_insn);

enum trace_uprobe_step {
	TRACE_UPROBE_DONE, /* `regs` are those behind it */
	TRACE_UPROBE_SLOT_NEEDED,
	TRACE_UPROBE_FAULT, /* its operand or its stack is not there; nothing has changed */
};
/* Do the instruction at regs->rip of the running program. May fault, through the host's table. */
enum trace_uprobe_step trace_uprobe_emulate(const struct trace_uprobe_insn *insn,
					    struct ftrace_regs *regs);
/*
 * Make the contents of a slot at `slot` for the instruction of a program at `addr`. False: they are too far from
 * each other.
 */
bool trace_uprobe_copy(const struct trace_uprobe_insn *insn, uintptr_t addr, uintptr_t slot,
		       uint8_t *out_code);

TRACE_END_DECLS

#endif
