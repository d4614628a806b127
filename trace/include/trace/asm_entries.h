/*
 * What the host's code in assembly calls: trampolines at the entry of a function, the return hook
 * at its end. What a host with the machine half of trace/ has to call is there already.
 *
 * Context: probe, from code that has saved what the traced function may need.
 */
#ifndef TRACE_ASM_ENTRIES_H
#define TRACE_ASM_ENTRIES_H

#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;

/*
 * What trace_plat_shared_trampoline() calls, without and with all registers: every ops that wants
 * this site. `ops` is NULL.
 */
void trace_ops_list_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);
void trace_ops_list_regs_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs);

/*
 * What trace_plat_return_hook() calls, preemption in any state. `slot` held the return address;
 * afterwards it says where to go on.
 */
void trace_graph_return(uintptr_t *slot);

TRACE_END_DECLS

#endif
