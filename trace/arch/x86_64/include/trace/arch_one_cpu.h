/*
 * All answers to <trace/arch_host.h> that a host with one CPU has to give inline, if its text is
 * written where it lies (<trace/arch_in_place.h>): its <trace_arch_inline.h> includes this.
 *
 * Context: as there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_ONE_CPU_H
#define TRACE_ARCH_ONE_CPU_H

#include <trace/arch_in_place.h>

TRACE_BEGIN_DECLS

static inline void trace_arch_cpus_hold(void)
{
}

static inline void trace_arch_cpus_release(void)
{
}

static inline void trace_arch_sync_cores(void)
{
	trace_arch_serialise();
}

/* QEMU's differences matter with two CPUs only. */
static inline bool trace_arch_is_emulated(void)
{
	return false;
}

TRACE_END_DECLS

#endif
