/*
 * Watchpoints of <trace/wprobe.h> on x86-64: functions for the host's entry of #DB, and for a CPU
 * that comes online. A host that has no trace_arch_call_cpus() calls neither.
 *
 * Context: stated per function. Not traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_WATCH_H
#define TRACE_ARCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/*
 * #DB: calls the handlers of the watchpoints that were hit. The CPU goes on at `rip`; `frame` has
 * the registers in a form of the host, for trace_arch_frame_load(). False: it was something else,
 * or that as well. Interrupts off, any context.
 */
bool trace_watch_dispatch(uintptr_t rip, void *frame);
/*
 * This CPU is about to be online: it watches what the others do. Interrupts off. From then on
 * trace_arch_call_cpus() has to reach it.
 */
void trace_watch_cpu_online(void);
/*
 * This CPU watches nothing until trace_watch_restore() of the result, for code in which no #DB may
 * come. Interrupts off, any context. A host without such code calls neither.
 */
uint64_t trace_watch_suspend(void);
void trace_watch_restore(uint64_t suspended);

TRACE_END_DECLS

#endif
