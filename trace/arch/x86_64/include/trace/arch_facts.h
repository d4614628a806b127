/*
 * Facts about x86-64 for <trace/platform.h>: included by the host's <trace_plat_facts.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_FACTS_H
#define TRACE_ARCH_FACTS_H

#define TRACE_INSN_SIZE	   5 /* call, jmp and NOP at a site, bytes */
#define TRACE_CYCLES_CLOCK "x86-tsc"

#endif
