/*
 * The part of <trace/platform.h>, which includes it, for entry and return of functions, beside
 * the part of ops.
 *
 * Context: probe, where nothing else is said.
 */
#ifndef TRACE_PLATFORM_GRAPH_H
#define TRACE_PLATFORM_GRAPH_H

#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_regs;
struct trace_thread;

/* ---- Inline half ---- */

/* What trace/ keeps for the running thread (<trace/thread.h>); never NULL. */
static inline struct trace_thread *trace_plat_current(void);
/* Where the return address into the caller lies. */
static inline uintptr_t *ftrace_regs_return_slot(struct ftrace_regs *fregs);
/*
 * Where a function returns to whose return is hooked. What is there keeps the returned values,
 * calls trace_graph_return(slot) with the place that held the return address, and goes to what that
 * left there.
 */
static inline uintptr_t trace_plat_return_hook(void);
/* What the function returned, while that call lasts. */
static inline uintptr_t trace_plat_return_value(const uintptr_t *slot);
/* Where to go when the return address is lost: the host ends there, with a message. */
static inline uintptr_t trace_plat_return_lost(void);

/* ==== Nothing more is needed for entry and return of functions. ==== */

TRACE_END_DECLS

#endif
