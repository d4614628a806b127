/*
 * All that trace/ asks of its host: its only door, in five parts. Each part is closed by a line
 * that says for what nothing more is needed.
 *
 *   base   this file          memory, locks, grace periods, preemption, time, messages: always
 *   ring   platform_ring.h    the ring buffer, trace_printk(), events read as text
 *   ops    platform_ops.h     call sites, ops, filters, patching; needs no ring
 *   graph  platform_graph.h   entry and return of functions; with ops
 *   full   platform_full.h    tracers, instances, tracefs; with all of the above
 *
 * trace/README.md counts them. A missing function of the inline half does not compile, any other
 * does not link, unless it has a default. Files that include this in a host with less than all
 * parts want -Wno-unused-function: declarations of the other parts are not used there.
 *
 * Context: "probe" means anywhere, NMI included: it may not fault, block, or be traced.
 */
#ifndef TRACE_PLATFORM_H
#define TRACE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/errno.h>
#include <trace_plat_facts.h>

/*
 * What configuration (register, unregister, filters, files of tracefs) takes of the stack of its
 * thread, at most: bytes, with what the host's functions take that it calls. Callbacks, and what
 * tracers do at a call, are on the stack of the traced function.
 */
#define TRACE_CONFIG_STACK 3072u

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;
struct trace_thread;

/*
 * Facts of the host, macros of its <trace_plat_facts.h>:
 *
 *   TRACE_PRODUCT       name of the host, a literal: `latency trace ... on NAME`
 *   TRACE_CYCLES_CLOCK  name in trace_clock of the clock that trace_plat_cycles() is, a literal
 *   TRACE_INSN_SIZE     bytes of a call, a jmp and a NOP at a site
 */

#define TRACE_COMM_LEN 16  /* thread name, NUL included */
#define TRACE_SYM_LEN  128 /* symbol name, NUL included */

/*
 * preempt_count layout, as Linux prints it from: bits 0-7 preempt depth, 8-15 softirq,
 * 16-19 hardirq, 20-23 NMI.
 */
#define TRACE_PREEMPT_MASK    0x000000ffu
#define TRACE_SOFTIRQ_MASK    0x0000ff00u
#define TRACE_SOFTIRQ_SERVING 0x00000100u
#define TRACE_HARDIRQ_MASK    0x000f0000u
#define TRACE_NMI_MASK	      0x00f00000u

/* ==== Base ==== */

/* ---- Inline half, probe context. Defined by the host's <trace_plat_inline.h>. ---- */

/* Nested; the outermost enable may reschedule. */
static inline void trace_plat_preempt_disable(void);
static inline void trace_plat_preempt_enable(void);
/* See the layout above. */
static inline uint32_t trace_plat_preempt_count(void);
/* Id of the running thread; 0 for idle. */
static inline int32_t trace_plat_current_pid(void);
static inline bool trace_plat_irqs_disabled(void);
/* Nanoseconds; never goes back on one CPU. */
static inline uint64_t trace_plat_clock_ns(void);
/* One instruction on this CPU's memory: atomic against interrupts, not against other CPUs. */
static inline void trace_plat_local_add(uint64_t *value, uint64_t delta);
/* Code addresses in 32 bits and back: the lower half; its sign makes the upper, for tools too. */
static inline uint32_t trace_plat_ip_pack(uintptr_t ip);
static inline uintptr_t trace_plat_ip_unpack(uint32_t packed);

/* ---- Memory ---- */

/* Zeroed, page aligned, virtually contiguous; NULL when out of memory. Thread context. */
void *trace_plat_alloc(size_t bytes);
void trace_plat_free(void *memory, size_t bytes);

/* ---- Locks and grace periods ---- */

struct trace_plat_lock { /* sleeping lock; zeroed is unlocked */
	uint64_t opaque[8];
};
void trace_plat_lock(struct trace_plat_lock *lock);
void trace_plat_unlock(struct trace_plat_lock *lock);

/* Return when every preempt-off section that ran at the call has ended. Thread. */
void trace_plat_synchronize_preempt(void);

/* ---- Symbols. Any context, lock free. ---- */

/* Name, start and size of the function that holds `addr`; false for none, never a neighbour. */
bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size);

/*
 * Copy the name of thread `pid`, or return false. With `may_wait` thread context, without it any:
 * it gives up rather than wait.
 */
bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm);

/* ---- Messages ---- */

/* One line to the host's log, without newline. Any context. */
void trace_plat_log(const char *fmt, ...) TRACE_PRINTF(1, 2);
/* The same, shown to whoever watches the machine, however quiet it is. */
void trace_plat_alert(const char *fmt, ...) TRACE_PRINTF(1, 2);
/*
 * The same for a broken invariant of tracing, which stops for good: the host calls ftrace_kill()
 * and goes on. Any context.
 */
void trace_plat_bug(const char *fmt, ...) TRACE_PRINTF(1, 2);

/* ==== Nothing more is needed for what all profiles have in common. ==== */

TRACE_END_DECLS

#include <trace/platform_ring.h>
#include <trace/platform_ops.h>
#include <trace/platform_graph.h>
#include <trace/platform_full.h>
#include <trace_plat_inline.h> /* the host's inline half: with the facts, all that leaves trace/ */

#endif
