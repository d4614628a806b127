/*
 * Functions called by the host's assembly code: by trampolines at the entry of a function, and by
 * the return hook at its end. A host that uses trace/arch/ has this assembly code already.
 *
 * Context: probe, from code that has saved the registers of the traced function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ASM_ENTRIES_H
#define TRACE_ASM_ENTRIES_H

#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;

/*
 * Functions called by the shared trampolines, see trace_plat_shared_trampoline(): the first from
 * the one that saves arguments only, the second from the one that saves all registers. They call
 * every ops that wants the site. `ops` is NULL; `ip` and `parent_ip` are as in ftrace_func_t.
 */
void trace_ops_list_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);
void trace_ops_list_regs_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

/*
 * Called by trace_plat_return_hook(); preemption may be on or off. `slot` is the place of the
 * return address on the stack, where this puts the address to which the hook has to return.
 */
void trace_graph_return(uintptr_t *slot);

TRACE_END_DECLS

#endif
