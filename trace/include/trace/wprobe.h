/*
 * Watchpoints: a handler is called when any CPU has written a variable, or read it, with its old
 * and its new value.
 *
 *   an instruction touches the bytes --> debug register of its CPU --> handler
 *
 * The machine has few debug registers, WPROBE_MAX; all CPUs watch the same, those too that come
 * online later. A handler is called behind the instruction. `old` is the value found by the last
 * hit, or by register; so an unwatched write, such as a device's, is part of the next hit.
 *
 * A hit while this CPU is in a handler of a watchpoint, in the same context, is not handled:
 * nmissed counts it. Interrupts and NMIs in the middle of a handler have their own.
 *
 * Context:   handlers - probe, interrupts off; in the context of the access, NMIs included.
 *            Everything else - thread, interrupts on, may block.
 * Locking:   one sleeping lock inside; a handler may not call anything of this header.
 * Ownership: a watchpoint belongs to its user, who may not change or free it between register and
 *            unregister. When unregister has returned no handler of it runs any more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_WPROBE_H
#define TRACE_WPROBE_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

#define WPROBE_MAX TRACE_PLAT_WATCHES

struct wprobe;

/*
 * `regs` has all registers behind the instruction that has touched the variable, `regs->rip` is the
 * next one. Both values are extended with zeros.
 */
typedef void (*wprobe_handler_t)(struct wprobe *wp, struct ftrace_regs *regs, uint64_t old,
				 uint64_t value);

enum wprobe_type {
	WPROBE_R = 1, /* refused: no x86 processor tells reads from writes */
	WPROBE_W = 2,
	WPROBE_RW = 3,
};

struct wprobe {
	/* Set by the user. */
	uintptr_t addr;
	uint32_t len;  /* 1, 2, 4 or 8 bytes, a divisor of `addr` */
	uint32_t type; /* enum wprobe_type */
	wprobe_handler_t handler;
	TRACE_ATOMIC uint64_t nmissed;

	/* For the core only. Zero before first use. */
	TRACE_ATOMIC uint64_t value; /* when it was looked at last */
	bool is_registered;
};

/*
 * When this returns all CPUs watch. 0, or with nothing changed:
 *   -EINVAL no handler, or a wrong `addr`, `len` or `type`; a hit would write there itself -EFAULT
 *   there is no memory at `addr` -EBUSY it is registered; WPROBE_MAX are -ENODEV the host has no
 *   debug registers to give
 */
int register_wprobe(struct wprobe *wp);
/* Does nothing with one that is not registered. */
void unregister_wprobe(struct wprobe *wp);

/*
 * Could `wp` be registered now? Returns 0, or the error of register_wprobe(), and writes a sentence
 * that says why to the `len` bytes at `out_text`.
 */
int wprobe_refusal(const struct wprobe *wp, char *out_text, size_t len);

/* For the machine half: number `which` of trace_plat_watch_set() was hit. Any context. */
void wprobe_hit(uint32_t which, struct ftrace_regs *regs);

TRACE_END_DECLS

#endif
