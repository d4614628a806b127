/*
 * Who answers a breakpoint. Several parts of a system write int3s into code, or run into those of
 * others; each of them registers as a consumer, and the host's entry for #BP asks them in turn:
 *
 *   #BP -> trace_breakpoint_dispatch()    text poke  ->  probes  ->  the host's debugger, tests
 *                                   100                         0    priorities
 *
 * The first who says that the breakpoint was his ends the walk. When nobody does, it is the host's.
 *
 * Who writes an int3 in front of an instruction also knows which instruction that was. trace_text_meant()
 * in <trace/arch_text.h> asks all consumers: readers of code see it without anybody's int3.
 *
 * Context:   dispatch - #BP of any context, NMI included, interrupts off. Consumers are called from
 *            there and must not have call sites. Register, unregister - thread.
 * Locking:   walks take none. Register and unregister: the caller holds the host's text lock, which
 *            is asserted.
 * Ownership: a consumer is its owner's. It may go, or change, when trace_plat_synchronize_preempt()
 *            has returned after trace_breakpoint_unregister(): then no CPU is in a walk that met it.
 */
#ifndef TRACE_ARCH_BREAKPOINT_H
#define TRACE_ARCH_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* A CPU that ran into an int3. What is written to the registers is where it goes on. */
struct trace_breakpoint_hit {
	uintptr_t site; /* of the int3 */
	uintptr_t *rip; /* at first one behind `site` */
	uintptr_t *rsp; /* one word below it may be written: the gap of <trace/arch_host.h> */
	void *frame;	/* all registers, as the host has them; NULL: it tells no more than those */
};

#define TRACE_BREAKPOINT_PRIORITY_POKE 100 /* code that is being changed comes before all others */
#define TRACE_BREAKPOINT_PRIORITY_HOST 0

struct trace_breakpoint_consumer {
	int priority; /* the highest is asked first; of two alike, who came first */
	/* True: it was mine, and the CPU goes on as the registers say now. */
	bool (*answer)(struct trace_breakpoint_consumer *consumer,
		       const struct trace_breakpoint_hit *hit);
	/*
	 * `bytes` are what memory held at `addr` a moment ago, `len` of them: put in what is meant to
	 * be there where they may have been changed by int3s of this consumer. Any context, preemption
	 * off or the text lock held; not traced. Optional, for those who write none.
	 *
	 * What it knows of an int3 is there before that is written, and stays until
	 * trace_breakpoint_forget(), which comes when memory no longer holds it.
	 */
	void (*restore)(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
			size_t len);
	struct trace_breakpoint_consumer *TRACE_ATOMIC next; /* text lock to write */
};

void trace_breakpoint_register(struct trace_breakpoint_consumer *consumer);
/* Its int3s are gone by now, and every CPU has serialised since. */
void trace_breakpoint_unregister(struct trace_breakpoint_consumer *consumer);
/* A consumer is about to forget what int3s stood in front of. Any context. */
void trace_breakpoint_forget(void);

/*
 * For the host's entry for #BP, with what the CPU pushed: rip, one behind the int3, and rsp, which
 * the entry has put behind a gap; `frame`: see above. True: somebody has answered, and the CPU goes
 * on at rip and rsp with all other registers as they are in `frame`. Not traced.
 */
bool trace_breakpoint_dispatch(uintptr_t *rip, uintptr_t *rsp, void *frame);

TRACE_END_DECLS

#endif
