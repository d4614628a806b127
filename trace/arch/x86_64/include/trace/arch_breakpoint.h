/*
 * A chain of consumers of breakpoints. Several parts of a system write int3s into code; each of
 * them registers as a consumer, and the host's entry for #BP asks them one after the other:
 *
 *   #BP -> trace_breakpoint_dispatch() -> probes -> text poke -> the host's debugger, tests
 *              priority:                  200       100          0
 *
 * Probes come before text poke: a hit of a probe that is being written, or taken away, is a hit.
 *
 * The first consumer that answers ends the walk. When none does, the host handles the breakpoint.
 *
 * A consumer also knows the byte that its int3 replaces. trace_text_meant() in <trace/arch_text.h>
 * asks all consumers, so that readers of code see it without int3s.
 *
 * Context:   dispatch - #BP of any context, NMI included, interrupts off. Consumers are called from
 *            there and must not have call sites. Register, unregister - thread.
 * Locking:   walks take none. Register and unregister: the caller holds the host's text lock, which
 *            is asserted.
 * Ownership: a consumer belongs to its owner, who may free or change it when
 *            trace_plat_synchronize_preempt() has returned after trace_breakpoint_unregister():
 *            no CPU is in a walk that has met it then.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_BREAKPOINT_H
#define TRACE_ARCH_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* A CPU that executed an int3. It goes on with the values that *rip and *rsp have afterwards. */
struct trace_breakpoint_hit {
	uintptr_t site; /* address of the int3 */
	uintptr_t *rip; /* site + 1 at first */
	uintptr_t *rsp; /* the word below it may be written: see <trace/arch_host.h> */
	void *frame;	/* all registers, in a form of the host; NULL: it gives none */
};

#define TRACE_BREAKPOINT_PRIORITY_PROBE 200
#define TRACE_BREAKPOINT_PRIORITY_POKE	100
#define TRACE_BREAKPOINT_PRIORITY_HOST	0
/* without owner, and memory does not hold it any more */
#define TRACE_BREAKPOINT_PRIORITY_GONE (-100)

struct trace_breakpoint_consumer {
	int priority; /* the highest is asked first; of the same, the one registered first */
	/* True: the int3 is this consumer's, and the CPU goes on at *rip and *rsp. */
	bool (*answer)(struct trace_breakpoint_consumer *consumer,
		       const struct trace_breakpoint_hit *hit);
	/*
	 * `bytes` is a copy of the `len` bytes at `addr`: put back what int3s of this consumer may
	 * have changed in it. Any context, preemption off or the text lock held; not traced. NULL
	 * for a consumer that writes no int3s.
	 *
	 * The consumer has to know of an int3 before it writes it, and until it has called
	 * trace_breakpoint_forget(), after memory does not hold the int3 any more.
	 */
	void (*restore)(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
			size_t len);
	struct trace_breakpoint_consumer *TRACE_ATOMIC next; /* for the chain; zero at first */
};

/* To be called before the consumer writes its first int3. */
void trace_breakpoint_register(struct trace_breakpoint_consumer *consumer);
/* To be called when its int3s are gone from memory, and every CPU has serialised since. */
void trace_breakpoint_unregister(struct trace_breakpoint_consumer *consumer);
/*
 * To be called by a consumer whose int3s are gone from memory, before it forgets what they stood in
 * place of: trace_text_meant() then reads again. Any context.
 */
void trace_breakpoint_forget(void);

/*
 * To be called by the host's entry for #BP: *rip is what the CPU has pushed, one behind the int3;
 * *rsp is that of the interrupted code, with the gap below it; `frame` as in struct
 * trace_breakpoint_hit. True: a consumer has answered; the CPU goes on at *rip and *rsp, with the
 * other registers as they are in `frame`. False: the breakpoint is the host's. Not traced.
 */
bool trace_breakpoint_dispatch(uintptr_t *rip, uintptr_t *rsp, void *frame);

TRACE_END_DECLS

#endif
