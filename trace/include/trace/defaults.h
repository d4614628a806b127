/*
 * Functions for hosts that use the defaults for functions of <trace/platform.h>. A default is a
 * weak function in trace/default/; a function of the host with the same name replaces it.
 *
 * Context: stated per function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_DEFAULTS_H
#define TRACE_DEFAULTS_H

#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/thread.h>

TRACE_BEGIN_DECLS

/* ---- The state of a host with one CPU and no threads: <trace/one_cpu.h> ---- */

struct trace_one_cpu {
	uint32_t preempt_count; /* see TRACE_PREEMPT_MASK */
	uint32_t recursion;	/* see trace_plat_recursion_word() */
	uintptr_t stack_top;	/* end of the stack, set by the host; 0: no backtraces are made */
	struct trace_thread thread;
};
extern struct trace_one_cpu trace_one_cpu;

/*
 * ---- Grace periods with several CPUs: the host says when a CPU is in no preempt-off section ----
 */

#define TRACE_DEFAULT_CPUS 64 /* CPUs that the default can count for */

/*
 * To be called at each switch of threads, and in a timer interrupt that came while preemption was
 * on: this CPU is in no preempt-off section. Any context but NMI, interrupts or preemption off.
 */
void trace_quiescent(void);
/*
 * To be called when this CPU goes idle or into user mode, and when it comes back. In between it may
 * enter no preempt-off section, so an interrupt calls exit first and enter at its end. Contexts as
 * above.
 */
void trace_idle_enter(void);
void trace_idle_exit(void);
/* The default of trace_plat_synchronize_preempt(), for hosts that wrap it. Thread context. */
void trace_grace_wait(void);

/* ---- Work that was put off ---- */

/*
 * Carry out deferred work that is due: freeing trampolines that no thread is in any more, a dump
 * requested by a probe. A host without threads calls this now and then from its main loop. Thread
 * context.
 */
void trace_run_later(void);

/* ---- Symbols ---- */

struct trace_symbol {
	uintptr_t addr;
	const char *name; /* shorter than TRACE_SYM_LEN */
};

/*
 * Set the table of symbols: `nr` functions with ascending addresses, each address once (of several
 * equal ones the last would be shown, and the others have no size); `end` is the end of the last
 * function. To be called once, before symbols are asked for; without it no address has a name. The
 * table belongs to the host and may never be changed or freed.
 */
void trace_symbols_set(const struct trace_symbol *symbols, size_t nr, uintptr_t end);

TRACE_END_DECLS

#endif
