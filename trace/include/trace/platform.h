/*
 * All functions that trace/ needs of its host, in eight parts. The last line of a part names the
 * things that can be used if the host provides that part and those that it goes with.
 *
 *   base     this file            memory, locks, grace periods, preemption, time, messages: always
 *   ring     platform_ring.h      the ring buffer, trace_printk(), events read as text
 *   threads  platform_threads.h   threads, time, recursion, for all that follow
 *   ops      platform_ops.h       call sites, ops, filters, patching; needs no ring
 *   graph    platform_graph.h     entry and return of functions; with ops
 *   probes   platform_probes.h    probes at instructions; with ops
 *   events   platform_events.h    trace events, instances, files of tracefs; with the ring
 *   full     platform_full.h      tracers and all the rest; with all of the above
 *
 * trace/README.md counts them. If a function of the inline half is missing, trace/ does not
 * compile; if another one is missing and has no default (<trace/defaults.h>), it does not link. A
 * host that provides only some parts compiles files that include this with -Wno-unused-function,
 * because the inline functions of the other parts are declared and not defined.
 *
 * Context: "probe" means that a function may be called anywhere, in an NMI, too: it may not fault,
 *          block, or be traced.
 *
 * SPDX-License-Identifier: MIT
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
 * The most bytes that configuration (register, unregister, filters, files of tracefs) takes of its
 * thread's stack, including those of the host's functions that it calls. Callbacks, and tracers at
 * a call, use the stack of the traced function.
 */
#define TRACE_CONFIG_STACK 3072u

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;
struct trace_thread;

/*
 * Facts of the host, macros of its <trace_plat_facts.h>:
 *
 *   TRACE_PRODUCT       a literal: name of the host, for `latency trace ... on NAME`
 *   TRACE_CYCLES_CLOCK  a literal: name of trace_plat_cycles() in trace_clock, such as "x86-tsc"
 *   TRACE_INSN_SIZE     bytes of an instruction at a call site: a call, a jmp and a NOP
 */

#define TRACE_COMM_LEN 16  /* thread name, NUL included */
#define TRACE_SYM_LEN  128 /* symbol name, NUL included */

/*
 * Layout of trace_plat_preempt_count(), the same as in Linux: bits 0-7 preempt depth, 8-15 softirq
 * (bit 8: one is being served; above: how often they are held off), 16-19 hardirq, 20-23 NMI.
 */
#define TRACE_PREEMPT_MASK    0x000000ffu
#define TRACE_SOFTIRQ_MASK    0x0000ff00u
#define TRACE_SOFTIRQ_SERVING 0x00000100u
#define TRACE_HARDIRQ_MASK    0x000f0000u
#define TRACE_NMI_MASK	      0x00f00000u

/* ==== Base ==== */

/* ---- Inline half, probe context. Defined by the host's <trace_plat_inline.h>. ---- */

/* May be nested; the outermost enable may reschedule. */
static inline void trace_plat_preempt_disable(void);
static inline void trace_plat_preempt_enable(void);
/*
 * The same with interrupts off, when nothing can be rescheduled. A host to which that makes a
 * difference has a function of its own, with the macro TRACE_PLAT_HAS_PREEMPT_ENABLE_IRQS_OFF.
 */
static inline void trace_plat_preempt_enable_irqs_off(void);
/* See the layout above. */
static inline uint32_t trace_plat_preempt_count(void);
/*
 * Id of the running thread; 0 for idle. 0 is shown as <idle>, so a boot thread that goes on to do
 * work has another.
 */
static inline int32_t trace_plat_current_pid(void);
static inline bool trace_plat_irqs_disabled(void);
/* Nanoseconds; never goes back on one CPU. */
static inline uint64_t trace_plat_clock_ns(void);
/* *value += delta, atomic against interrupts and NMIs of this CPU, not against other CPUs. */
static inline void trace_plat_local_add(uint64_t *value, uint64_t delta);
/*
 * A code address in 32 bits, and back. It has to be the lower half of the address, from which
 * extending the sign makes the whole: the `format` files tell tools to do that.
 */
static inline uint32_t trace_plat_ip_pack(uintptr_t ip);
static inline uintptr_t trace_plat_ip_unpack(uint32_t packed);

/* ---- Memory ---- */

/*
 * Zeroed, virtually contiguous. A page or more is page aligned; less is aligned to 16, or to 64 if
 * its size is a multiple of that. NULL when out of memory. Thread context.
 */
void *trace_plat_alloc(size_t bytes);
void trace_plat_free(void *memory, size_t bytes);
/*
 * Copy `bytes` bytes from `from`, which may be any address; false, with part of `to` perhaps
 * written, when some of them cannot be read. Probe context.
 */
bool trace_plat_read(void *to, const void *from, size_t bytes);
/*
 * The same for 8 bytes. A host that can do it by an instruction that may fault has a function of
 * its own, with the macro TRACE_PLAT_HAS_READ_WORD; the others have the one below.
 */
static inline bool trace_plat_read_word(uint64_t *to, const void *from);

/* ---- Locks and grace periods ---- */

struct trace_plat_lock { /* sleeping lock; zeroed is unlocked */
	uint64_t opaque[8];
};
void trace_plat_lock(struct trace_plat_lock *lock);
void trace_plat_unlock(struct trace_plat_lock *lock);

/*
 * A grace period: returns when every preempt-off section, on any CPU, that was running when it was
 * called has ended; sections of interrupts included. Thread context.
 */
void trace_plat_synchronize_preempt(void);

/* ---- Symbols. Any context, lock free. ---- */

/*
 * Name (TRACE_SYM_LEN bytes), start and size of the function that `addr` is in. False when it is in
 * none, such as in a gap between two functions.
 */
bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size);
/* The address of the function `name`; 0 when there is none. */
uintptr_t trace_plat_symbol_find(const char *name);

/*
 * Copy the name of living thread `pid` (TRACE_COMM_LEN bytes); false when it is not known. Thread
 * context with `may_wait`; without it any context, and false rather than waiting for a lock.
 */
bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm);

/* ---- Messages ---- */

/* One line to the host's log, without newline. Any context. */
void trace_plat_log(const char *fmt, ...) TRACE_PRINTF(1, 2);
/* The same, for a line that has to be shown on the console even if others are not. Any context. */
void trace_plat_alert(const char *fmt, ...) TRACE_PRINTF(1, 2);
/*
 * The same, for a broken invariant of tracing. The host has to call ftrace_kill(), which stops
 * tracing for good, and goes on. Any context.
 */
void trace_plat_bug(const char *fmt, ...) TRACE_PRINTF(1, 2);

/* ==== End of the common part of all profiles. ==== */

TRACE_END_DECLS

#include <trace/platform_ring.h>
#include <trace/platform_threads.h>
#include <trace/platform_ops.h>
#include <trace/platform_graph.h>
#include <trace/platform_probes.h>
#include <trace/platform_events.h>
#include <trace/platform_full.h>
#include <trace_plat_inline.h> /* the host's inline half: with the facts, all that leaves trace/ */

#ifndef TRACE_PLAT_HAS_PREEMPT_ENABLE_IRQS_OFF
static inline void trace_plat_preempt_enable_irqs_off(void)
{
	trace_plat_preempt_enable();
}
#endif

#ifndef TRACE_PLAT_HAS_READ_WORD
static inline bool trace_plat_read_word(uint64_t *to, const void *from)
{
	return trace_plat_read(to, from, sizeof(*to));
}
#endif

#endif
