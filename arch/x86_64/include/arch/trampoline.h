/*
 * Entry trampolines: what an enabled call site calls. They save what a function's caller expects to
 * keep, call func(ip, parent_ip, ops, NULL), restore, and return behind the site.
 *
 * The stack while func runs; rbp points at .rbp, so frame-pointer unwinding goes through:
 *
 *   rsp     r9 r8 rdi rsi rdx rcx rax       7 words; 16-byte aligned for C
 *   .rbp    the traced function's caller's frame
 *   .site   return address into the traced function, behind its call
 *   .parent return address into the traced function's caller: a frame that rbp does not show
 *
 * The shared trampoline is part of the kernel's text; one for a single ops is a copy of the
 * template in executable memory with its ops and function filled in.
 *
 * Context:   create, retarget, destroy - thread, under the text lock. find - any, not traced.
 * Ownership: see trace_plat_trampoline_create().
 */
#ifndef ARCH_TRAMPOLINE_H
#define ARCH_TRAMPOLINE_H

#include <trace/platform.h>

/* The trampoline of a single ops that `addr` lies in, or false; its start and size. */
bool trampoline_find(uintptr_t addr, uintptr_t *out_start, size_t *out_size);

/* As the functions of <trace/platform.h>, which the host puts under its text lock. */
int trampoline_create(struct ftrace_ops *ops, uintptr_t func,
		      struct trace_trampoline *out_trampoline);
int trampoline_retarget(struct trace_trampoline *tramp, uintptr_t func);
void trampoline_destroy(struct trace_trampoline *tramp);

#endif
