/*
 * Calls of the machine half when a CPU comes to the place of a probe: see <trace/kprobe.h>.
 *
 *   breakpoint or jump --> find --> begin --> pre --> (the instruction) --> post --> end
 *
 * Context:   probe; preemption is off or interrupts are, from find to the last use of its result.
 *            Not traced.
 * Locking:   none.
 * Ownership: the result of find exists until preemption and interrupts are on again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_KPROBE_HIT_H
#define TRACE_KPROBE_HIT_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct kprobe;

/* Find the struct created for `addr`; NULL when no probe is there. */
struct trace_plat_probe *kprobe_hit_find(uintptr_t addr);
/*
 * May handlers run? If not, which is when this CPU is in a handler already, the hit is counted as
 * missed by all probes of the place, and neither pre, post nor end are to be called.
 */
bool kprobe_hit_begin(struct trace_plat_probe *probe);
void kprobe_hit_end(void);
/*
 * Call the pre handlers; the instruction pointer in `fregs` is the place's address. True: one has
 * sent the CPU elsewhere, where it says in `fregs`.
 */
bool kprobe_hit_pre(struct trace_plat_probe *probe, struct ftrace_regs *fregs);
/* Call the post handlers, if there are any; the instruction pointer is where the CPU goes on. */
void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *fregs);
/*
 * begin, pre and end at once, where there are no post handlers. With interrupts off only. Returns
 * the result of pre; false when the probes are missed.
 */
bool kprobe_hit_run(struct trace_plat_probe *probe, struct ftrace_regs *fregs);
/*
 * Call the probe that trace_plat_probe.only is, or just was, which may read only the registers of a
 * call site's handlers: with interrupts off, registers of arguments, rax, rbp, stack and
 * instruction pointer. The stack may be aligned to 8 bytes only.
 */
void kprobe_hit_args(struct kprobe *only, struct ftrace_regs *fregs);
bool kprobe_hit_has_post(const struct trace_plat_probe *probe);

TRACE_END_DECLS

#endif
