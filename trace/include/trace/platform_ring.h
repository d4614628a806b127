/*
 * Host functions for the ring buffer and trace_printk(). A part of <trace/platform.h>, which
 * defines "probe context"; include that one.
 *
 * Context: probe, unless a function says otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_RING_H
#define TRACE_PLATFORM_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* Two words that move together; 16-byte aligned. */
struct trace_pair {
	uint64_t lo;
	uint64_t hi;
} __attribute__((aligned(16)));

/* ---- Inline half ---- */

/*
 * Number of the running CPU, 0 .. trace_plat_nr_cpus() - 1; preemption is off. This and all else
 * that belongs to a CPU works before that CPU calls its first traced function: a host that keeps it
 * behind a base register sets that first, or the machine hangs or resets in the first trampoline.
 */
static inline uint32_t trace_plat_cpu_id(void);
/* Is a reschedule of the running thread pending? Events show it as the flag N. */
static inline bool trace_plat_need_resched(void);
/*
 * If *pair equals {*old_lo, old_hi}, make it {new_lo, new_hi} and return true. *old_lo becomes the
 * earlier pair->lo in either case. Atomic against interrupts and NMIs of this CPU; no lock prefix:
 * only this CPU writes the pair.
 */
static inline bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
					   uint64_t old_hi, uint64_t new_lo, uint64_t new_hi);
/*
 * The recursion bits that are set on this CPU; an event's context (interrupt, NMI) is read off
 * them. <trace/platform_ops.h> and <trace/recursion.h> describe them.
 */
static inline uint32_t trace_plat_recursion_word(void);

/* ---- CPUs ---- */

/* The number of CPUs, online or not yet; constant once threads run. Any context. */
uint32_t trace_plat_nr_cpus(void);

/* ==== Nothing more is needed for the ring buffer, trace_printk() and its events as text. ==== */

TRACE_END_DECLS

#endif
