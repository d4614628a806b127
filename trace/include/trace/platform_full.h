/*
 * What tracers, instances and tracefs need of the host, in addition to all other parts. A part of
 * <trace/platform.h>; include that one.
 *
 * Context: stated per group.
 */
#ifndef TRACE_PLATFORM_FULL_H
#define TRACE_PLATFORM_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform_ring.h>

TRACE_BEGIN_DECLS

/* ---- Inline half, probe context ---- */

/* The cycle counter of this CPU. */
static inline uint64_t trace_plat_cycles(void);
/* Switch interrupts (not NMIs) of this CPU off; returns what restore needs. */
static inline uint64_t trace_plat_irq_save(void);
static inline void trace_plat_irq_restore(uint64_t flags);
/*
 * Add the 128-bit number {lo, hi} to *value, which only this CPU changes. What an interrupt adds in
 * between is not lost. Another CPU that reads it may see a half-done addition.
 */
static inline void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo, uint64_t hi);
/* The preempt count, with bit 31 set when no reschedule is pending; one load. */
static inline uint32_t trace_plat_preempt_word(void);
/* trace_plat_preempt_word() in the low half, trace_plat_recursion_word() in the high half. */
static inline uint64_t trace_plat_context_word(void);
/* The highest end of the running thread's stack, from which it grows down. */
static inline uintptr_t trace_plat_stack_top(void);

/* ---- CPUs, clocks ---- */

bool trace_plat_cpu_online(uint32_t cpu);
/*
 * Run fn(arg) on that CPU with interrupts off, and wait for it. -ENODEV when it is not online.
 * Thread, interrupts on.
 */
int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg);
/* Timer ticks since boot, for trace_clock. Probe context, preemption off. */
uint64_t trace_plat_uptime_ticks(void);

/* ---- Symbols. Any context, lock free. ---- */

/* The address of the function `name`; 0 when there is none. */
uintptr_t trace_plat_symbol_find(const char *name);
/* Is this the call site of a function that interrupts call before any other traced function? */
bool trace_plat_is_irq_entry(uint32_t packed_ip);

/* What patching has done since boot. Any context. */
struct trace_poke_stats {
	uint64_t batches;
	uint64_t sites;
	uint64_t syncs;	    /* core syncs, three to a batch */
	uint64_t int3_hits; /* breakpoint traps that patching looked at */
	uint64_t emulated;  /* of these, at a site that was being changed: emulated */
	uint64_t stale;	    /* of these, where memory held no breakpoint any more: tried again */
};
void trace_plat_poke_stats(struct trace_poke_stats *out_stats);

/* ---- Threads ---- */

struct trace_plat_waitq { /* zeroed is empty */
	uint64_t opaque[8];
};
/*
 * Sleep until done(arg) is true. It is asked after each wake, and at least every 10 ms, so that
 * probes, which may not wake anybody, need not do so. 0, or -EINTR when the user interrupts. Thread
 * context, no lock held.
 */
int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg);
/* Have done() asked now by all who wait. Thread, softirq or irq; not NMI. */
void trace_plat_wake(struct trace_plat_waitq *queue);

/* The running thread as the scheduler sees it; ip and parent_ip are 0. Any context but NMI. */
struct trace_sched_thread;
void trace_plat_current_sched(struct trace_sched_thread *out_thread);
/*
 * The name of the running thread, TRACE_COMM_LEN bytes with a NUL; in interrupts, of the
 * interrupted one. Waits for nobody. Probe context, preemption off.
 */
void trace_plat_current_comm(char *out_comm);

/*
 * Have deferred->fn(deferred) called soon, in a thread of the host. Probe context. `deferred`
 * belongs to the host until fn has begun; from then on it may be deferred again.
 */
struct trace_plat_deferred {
	void (*fn)(struct trace_plat_deferred *deferred);
	struct trace_plat_deferred *next; /* for the host */
};
void trace_plat_defer(struct trace_plat_deferred *deferred);

/* ---- Messages ---- */

/*
 * One line to the host's log, `len` bytes without newline, that a trace event has become: shown on
 * the console as soon as that is possible. Probe context: the code around may hold any lock of the
 * host, that of the scheduler or of the console, too.
 */
void trace_plat_log_event(const char *line, size_t len);

/*
 * Stop the machine with this message, one line without newline. A host that cannot or will not stop
 * says it and returns. Any context.
 */
void trace_plat_panic(const char *fmt, ...) TRACE_PRINTF(1, 2);

/* ---- Memory. Probe context. ---- */

/*
 * Copy `bytes` bytes from `from`, which may be any address; false, with part of `to` perhaps
 * written, when some of them cannot be read.
 */
bool trace_plat_read(void *to, const void *from, size_t bytes);

/* ---- Stacks. Probe context. ---- */

enum trace_stack_kind {
	TRACE_STACK_THREAD,
	TRACE_STACK_IRQ, /* the part of a thread's stack that an interrupt uses */
	TRACE_STACK_NMI,
	TRACE_STACK_FAULT, /* double fault, machine check */
	TRACE_NR_STACK_KINDS,
};

struct trace_stack {
	enum trace_stack_kind kind;
	uintptr_t lo; /* bounds of the whole stack */
	uintptr_t hi;
	uintptr_t base; /* where the part of this kind begins: hi, or the interrupt's saved frame */
};

/* The stack of this CPU or its thread that `addr` lies on; false when it is on none. */
bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack);

/*
 * A backtrace of the running code: return addresses, packed, innermost first. It begins at `frame`,
 * the __builtin_frame_address(0) of a function that has not returned yet. With `is_callback` that
 * function is the callback of an ops, or was called by one; the first address is then in the traced
 * function, the second in its caller. It goes on from interrupts to the code they interrupted.
 * Returns how many addresses it has written, at most `max`.
 */
size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max);

/* ==== Nothing more is needed for anything in trace/. ==== */

TRACE_END_DECLS

#endif
