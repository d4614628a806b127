/*
 * Probes at instructions: the machine half of <trace/platform_probes.h>.
 *
 *   place in the code    slot, 32 bytes of memory for code
 *   int3 ...             | the instruction | jmp behind the original |   .. | slot_note |
 *
 * A CPU that hits the int3 goes on in the slot, where relative operands are fixed up, and from
 * there by itself behind the original: one trap. An instruction that changes where the CPU is, is
 * not copied; the handler does what it does. With post handlers there is a second slot, with an
 * int3 in place of the jmp.
 *
 * An optimised probe is a jmp to a detour, which calls the handlers, runs copies of the
 * instructions that the jmp has taken the place of, and jumps behind them:
 *
 *   place in the code detour, 64 bytes of memory for code jmp detour ... | push its address | call
 *   trace_probe_detour | the instructions | jmp behind
 *                           them | .. | note |
 *
 * From when the detour is made, the int3 that is there before the jmp goes on in those copies, too:
 * so that no CPU comes to where the rest of the jmp will be.
 *
 * Context:   create, destroy - thread, under the text lock. The others - any, not traced.
 * Ownership: a slot belongs to its probe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_PROBE_H
#define TRACE_ARCH_PROBE_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/* As the functions of <trace/platform_probes.h>, which the host puts under its text lock. */
int trace_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post);
void trace_probe_destroy(struct trace_plat_probe *probe);
int trace_probe_jump_create(struct trace_plat_probe *probe, size_t bytes);

/*
 * For an address in a slot or a detour: the address in the original code that it stands for, which
 * for whoever reads a trace, a stack or a fault is where the CPU is. Any other address comes back
 * as it is.
 */
uintptr_t trace_probe_original(uintptr_t addr);
/*
 * Is the address in a detour? If it is a return address, the caller is there: its frame was pushed
 * on the stack of the original code, which may be anywhere in its function.
 */
bool trace_probe_is_detour(uintptr_t addr);
/*
 * In a kernel, bytes that trace_probe_detour finds above its return address, before the stack of
 * the original code; and for an address in a detour, how many of them are there when the
 * instruction there is next.
 */
#define PROBE_DETOUR_PUSHED 8u
size_t trace_probe_pushed(uintptr_t addr);

TRACE_END_DECLS

#endif
