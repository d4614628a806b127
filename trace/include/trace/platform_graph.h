/*
 * Host functions for graph tracing (entry and return of functions), in addition to the part of ops.
 * A part of <trace/platform.h>; include that one.
 *
 * Context: probe, unless a function says otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_GRAPH_H
#define TRACE_PLATFORM_GRAPH_H

#include <stdint.h>
#include <trace/platform_threads.h>

TRACE_BEGIN_DECLS

struct ftrace_regs;
struct trace_thread;

/* ---- Inline half ---- */

/* The place on the stack of the traced function's return address into its caller. */
static inline uintptr_t *ftrace_regs_return_slot(struct ftrace_regs *fregs);
/*
 * The address of the hook, to which a function returns instead of its caller. The code there saves
 * the returned values, calls trace_graph_return(slot), where slot is the place on the stack that
 * held the return address, restores the values, and jumps to the address that is in the slot now.
 */
static inline uintptr_t trace_plat_return_hook(void);
/* The value that the function returned; only for the slot of a running trace_graph_return(). */
static inline uintptr_t trace_plat_return_value(const uintptr_t *slot);
/*
 * The registers then: the returned value, which may be changed, the stack pointer behind the
 * return, the frame pointer. The instruction pointer is that in the slot; other registers are not
 * saved.
 */
static inline struct ftrace_regs *trace_plat_return_regs(uintptr_t *slot);
/*
 * The target of the hook when the return address is lost: code that ends the host with a message.
 */
static inline uintptr_t trace_plat_return_lost(void);

/* ==== Nothing more is needed for entry and return of functions. ==== */

TRACE_END_DECLS

#endif
