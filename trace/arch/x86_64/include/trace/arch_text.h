/*
 * Changing code that other CPUs execute. With text_poke.c a batch of any size takes three core
 * syncs:
 *
 *        site   0f 1f 44 00 00      a CPU that runs over it meanwhile:
 *   1           cc 1f 44 00 00      int3; the handler does the new instruction
 *      sync     (no CPU fetches the old instruction any more)
 *   2           cc xx xx xx xx      int3
 *      sync     (no CPU fetches an old tail any more)
 *   3           e8 xx xx xx xx      the new instruction, or still int3
 *      sync     (no CPU is on the int3 any more; handlers have left the batch)
 *
 * With text_stop.c the other CPUs stand still for it; then there are no halves, and no handler.
 *
 * All old bytes are compared before the first is written. Text is written through the host's view
 * of it, <trace/arch_host.h>.
 *
 * Context:   batches - thread, interrupts on (they wait for every CPU). Handler - #BP of any
 *            context, NMI included, see <trace/arch_breakpoint.h>; it takes no lock.
 * Locking:   one batch at a time: the caller holds the host's text lock; violations are asserted.
 *            The host lets no CPU come online inside a batch.
 * Ownership: the pokes belong to the caller, and are not read after the call.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_TEXT_H
#define TRACE_ARCH_TEXT_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/* The work of trace_plat_poke_batch(), which the host's calls with its text lock held. */
int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error);

/*
 * The two halves of text_poke_batch(), for tests: begin ends when every site is an int3. After a
 * failed begin finish is not to be called.
 */
int text_poke_begin(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error);
void text_poke_finish(void);

/*
 * Write up to TEXT_WRITE_MAX bytes of code that no CPU executes yet. Switches interrupts off
 * meanwhile. The text lock is held.
 */
#define TEXT_WRITE_MAX 4096ul
void trace_text_write(uintptr_t addr, const void *bytes, size_t len);

/*
 * Read the `len` bytes at `addr` as they are meant to be: the bytes in memory, but without the
 * int3s of text_poke.c and of other consumers of breakpoints. A site of a batch that is being made
 * reads as its new instruction. False: not all of these bytes are code that can be changed.
 *
 * Any context, NMI included; preemption is off, or the text lock is held. Not traced.
 */
bool trace_text_meant(uintptr_t addr, void *out_bytes, size_t len);

/* Test the emulation of NOP, CALL and JMP, and log the result. Once, before other CPUs run. */
void text_poke_selftest(void);

TRACE_END_DECLS

#endif
