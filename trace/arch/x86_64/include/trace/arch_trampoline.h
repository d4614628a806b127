/*
 * Entry trampolines, called by enabled call sites. They save the registers that a function's caller
 * expects to keep, call func(ip, parent_ip, ops, fregs), restore, and return behind the site.
 *
 * The stack while func runs is a struct ftrace_regs, <trace/arch_regs.h>, or its upper half; rbp
 * points at .rbp, so frame-pointer unwinding goes through:
 *
 *   rsp     r15 r14 r13 r12 r11 r10 rbx flags rsp direct   10 words, when all are saved
 *   rsp     r9 r8 rdi rsi rdx rcx rax                      7 words; 16-byte aligned for C
 *   .rbp    the traced function's caller's frame
 *   .rip    return address into the traced function, behind its call
 *   .parent return address into the traced function's caller: a frame that rbp does not show
 *
 * The shared trampolines, ftrace_caller and ftrace_regs_caller, are part of the kernel's text; one
 * for a single ops, or for a set of ops that are called in a row, is put together in executable
 * memory from the pieces of a template, with each ops and its function filled in. In that of a set
 * two more words lie below: ip and parent_ip, for all to be told the same.
 *
 * Context:   create, retarget, destroy - thread, under the text lock. name, next - any, not
 *            traced.
 * Ownership: see trace_plat_trampoline_create().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_TRAMPOLINE_H
#define TRACE_ARCH_TRAMPOLINE_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/*
 * Find the trampoline of a single ops or a set that `addr` lies in; its start, and its size in
 * bytes. Also finds one that was destroyed, as long as no other one was made in its place: for
 * printing stacks that were recorded when it existed. False when there is none.
 */
bool trampoline_name(uintptr_t addr, uintptr_t *out_start, size_t *out_size);
/* The one with the lowest address above *addr (0: the first); false when there is none. */
bool trampoline_next(uintptr_t *addr, size_t *out_size);

/* As the functions of <trace/platform.h>, which the host puts under its text lock. */
int trampoline_create(const struct trace_trampoline_call *calls, size_t nr, bool with_regs,
		      struct trace_trampoline *out_trampoline);
int trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func);
void trampoline_destroy(struct trace_trampoline *tramp);

TRACE_END_DECLS

#endif
