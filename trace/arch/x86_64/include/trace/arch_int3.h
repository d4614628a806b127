/*
 * An entry for #BP, whole: a host's gate 3 leads here, and needs nothing else for text_poke.c and
 * for probes. It is an interrupt gate without an IST stack.
 *
 *   int3 in the kernel  -> trace_int3_entry: moves down the CPU's words, saves all registers
 *                          -> trace_breakpoint_dispatch(): answered: registers restored, IRET
 *   of user mode, or
 *   not answered        -> trace_int3_other, with stack and registers as the CPU has left them
 *
 * An int3 that the CPU executes on an entry from user mode before the host's own per-CPU base is
 * there would find the wrong one: code there has no call sites.
 *
 * trace_arch_has_frames() and its kin of <trace/arch_host.h> come with it, so probes can be
 * anywhere.
 *
 * Context: #BP of any context, NMI included; not traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_INT3_H
#define TRACE_ARCH_INT3_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* The address of the gate; not to be called. */
void trace_int3_entry(void);
/*
 * The host's entry for an int3 that is not the library's, in assembly: the target of its gate 3 in
 * a kernel without the library. The default ends the host by trace_arch_broken().
 */
void trace_int3_other(void);

/* The stack while the consumers of breakpoints are asked. */
struct trace_int3_frame {
	uint64_t r15, r14, r13, r12, r11, r10, rbx;
	uint64_t r9, r8, rdi, rsi, rdx, rcx, rax, rbp;
	uintptr_t rip;
	uint64_t cs, rflags;
	uintptr_t rsp;
	uint64_t ss;
};

/* For trace_int3_entry: true if a consumer has answered. */
bool trace_int3_hit(struct trace_int3_frame *frame);

TRACE_END_DECLS

#endif
