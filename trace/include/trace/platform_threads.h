/*
 * Threads, time and recursion, as call sites, graph and events need them; the ring does without. A
 * part of <trace/platform.h>, which defines "probe context"; include that one.
 *
 * Context: stated per function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_THREADS_H
#define TRACE_PLATFORM_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_thread;

/* ---- Inline half, probe context ---- */

/*
 * Set or clear recursion bit `bit`, 0 to 31, of this CPU; see <trace/recursion.h>. Preemption is
 * off. set returns false when the bit was set already. Both are barriers for the compiler. They
 * need not be atomic: interrupts leave the word as they found it.
 */
static inline bool trace_plat_recursion_set(uint32_t bit);
static inline void trace_plat_recursion_clear(uint32_t bit);
/*
 * The struct of <trace/thread.h> in the running thread; in interrupts, that of the interrupted one.
 * Never NULL. It has to change exactly where the stack changes, with no call of a traced function
 * between the two: its return address would be looked for on the shadow stack of the wrong thread
 * (`fgraph: thread N has no frame of this return`). Ops alone do without.
 */
static inline struct trace_thread *trace_plat_current(void);

/* ---- Time ---- */

/* As trace_plat_clock_ns(), and never goes back across CPUs. Probe context, preemption off. */
uint64_t trace_plat_clock_mono_ns(void);
/*
 * Sleep for about `ns`, or where threads are cooperative, yield to the others for that long. With
 * `may_interrupt` it ends early, with -EINTR, when the user interrupts, and at once when he has. 0
 * otherwise. Thread context.
 */
int trace_plat_pause(uint64_t ns, bool may_interrupt);

/* ---- Threads ---- */

/*
 * Call fn for every thread that exists: each has to be seen by trace_plat_each_stack() in the end,
 * or waits for all threads do not end. Thread context.
 */
void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg);

TRACE_END_DECLS

#endif
