/*
 * The part of <trace/platform.h>, which includes it, for all the rest: tracers, instances, tracefs.
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

/* The raw cycle counter. */
static inline uint64_t trace_plat_cycles(void);
/* Mask interrupts (not NMIs) of this CPU. */
static inline uint64_t trace_plat_irq_save(void);
static inline void trace_plat_irq_restore(uint64_t flags);
/*
 * Add the 128 bits {lo, hi} on this CPU's memory. What interrupts add meanwhile is not lost; other
 * CPUs may see half of it.
 */
static inline void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo, uint64_t hi);
/* Both at once: the preempt count, with bit 31 set when no reschedule is wanted. */
static inline uint32_t trace_plat_preempt_word(void);
/* That word, and above it the recursion word, both at once. */
static inline uint64_t trace_plat_context_word(void);
/* Where the running thread's stack ends: it grows down from there. */
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

/* Address of a function; 0 for none. */
uintptr_t trace_plat_symbol_find(const char *name);
/* Is it the site of a function that interrupts call first, before any other traced one? */
bool trace_plat_is_irq_entry(uint32_t packed_ip);

/* What patching has done since boot. Any context. */
struct trace_poke_stats {
	uint64_t batches;
	uint64_t sites;
	uint64_t syncs;	    /* core syncs, three to a batch */
	uint64_t int3_hits; /* breakpoints that were asked about */
	uint64_t emulated;  /* of them, at a site in flight */
	uint64_t stale;	    /* of them, at a site that memory no longer held */
};
void trace_plat_poke_stats(struct trace_poke_stats *out_stats);

/* ---- Threads ---- */

struct trace_plat_waitq { /* zeroed is empty */
	uint64_t opaque[8];
};
/*
 * Sleep until `done(arg)`; it is asked again after each wake and at least every 10 ms, so that
 * probes need not wake. -EINTR when the user interrupts. Thread context, no lock held.
 */
int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg);
/* Thread, softirq or irq; not NMI. */
void trace_plat_wake(struct trace_plat_waitq *queue);

/* The running thread as the scheduler sees it; ip and parent_ip are 0. Any context but NMI. */
struct trace_sched_thread;
void trace_plat_current_sched(struct trace_sched_thread *out_thread);

/*
 * Call `deferred->fn(deferred)` soon, in a thread of the host. Probe context. It may be given again
 * once `fn` has begun; until then it stays the host's.
 */
struct trace_plat_deferred {
	void (*fn)(struct trace_plat_deferred *deferred);
	struct trace_plat_deferred *next; /* the host's */
};
void trace_plat_defer(struct trace_plat_deferred *deferred);

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
	uintptr_t base; /* where what is of this kind begins: hi, or the frame of the interrupt */
};

/* The stack that `addr` lies on, as this CPU uses it; false for none. */
bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack);

/*
 * Callers of the running code, packed, innermost first: the return addresses from `frame` on, which
 * is __builtin_frame_address(0) of a function that has not returned. With `is_callback` that
 * function is the callback of an ops, or called by one: then the first is the traced function,
 * its caller the second. Goes through interrupts to what they interrupted. Returns the number, at
 * most `max`.
 */
size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max);

/* ==== Nothing more is needed for anything in trace/. ==== */

TRACE_END_DECLS

#endif
