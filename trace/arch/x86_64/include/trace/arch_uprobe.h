/*
 * Instructions of programs at which probes are: the machine half of <trace/uprobe.h>, for the host's table.
 *
 *   prepare   may it be executed elsewhere, and how
 *   emulate   jumps, calls and NOPs: done by hand
 *   copy      all others run in a slot of the program's memory, from where a jump leads back
 *
 *   call      the 10-byte NOP, and only that, becomes a call to a trampoline that enters the kernel by a system call
 *
 * A slot, TRACE_UPROBE_SLOT bytes: the instruction, with an operand that is relative moved, then a jump behind the
 * original. It has no state: any number of threads may be in it.
 *
 * Context: any; the running program's, if it reads or writes by the host's table. Locking: none; code of a program is
 * changed by one at a time.
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

/* ---- Calls in place of 10-byte NOPs ---- */

#define TRACE_UPROBE_CALL 10u /* bytes */
#define TRACE_UPROBE_CALL_WORDS                                                                    \
	4u /* on the stack at the system call: rax, r11, rcx, the address behind the call */
#define TRACE_UPROBE_RED_ZONE	       128u /* bytes below the stack pointer that the program may use */
#define TRACE_UPROBE_SYSCALL	       336u
#define TRACE_UPROBE_TRAMPOLINE	       18u /* bytes */
#define TRACE_UPROBE_TRAMPOLINE_CALLED 11u /* offset in it behind the system call */

extern const uint8_t trace_uprobe_trampoline[TRACE_UPROBE_TRAMPOLINE];

/* Is it the NOP 66 2e 0f 1f 84 00 00 00 00 00? */
bool trace_uprobe_call_is_for(const struct trace_uprobe_insn *insn);
/*
 * Code of a program at `addr`, with a breakpoint in front, becomes that of a call behind it. False, and nothing has changed:
 * it is not such a NOP, or the trampoline is too far away. When all CPUs have serialised, finish takes the breakpoint away.
 */
bool trace_uprobe_call_begin(uint8_t *code, uintptr_t addr, uintptr_t trampoline);
void trace_uprobe_call_finish(uint8_t *code);
/* Is it such a call, perhaps with a breakpoint in front? */
bool trace_uprobe_call_is(const uint8_t *code);
/*
 * Put the breakpoint back; and the NOP behind it, when all CPUs have serialised. Its operand stays: a thread that is in
 * front of the call still finds it.
 */
void trace_uprobe_call_stop(uint8_t *code);
void trace_uprobe_call_restore(uint8_t *code);

enum trace_uprobe_place {
	TRACE_UPROBE_ELSEWHERE, /* nothing has changed */
	TRACE_UPROBE_IN_FRONT,	/* the kernel has not been called */
	TRACE_UPROBE_BEHIND,
};
/*
 * If a thread is in the trampoline, or in front of a call to it: registers as they are at the NOP, or behind it when the
 * system call has been done. May fault, through the host's table.
 */
enum trace_uprobe_place trace_uprobe_call_leave(struct ftrace_regs *regs, uintptr_t trampoline);

TRACE_END_DECLS

#endif
