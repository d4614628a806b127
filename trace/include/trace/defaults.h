/*
 * What a host calls, or gives, for the defaults of <trace/platform.h> that it does not replace:
 * each is a weak function of trace/default/, and the host's own takes its place when the linker
 * sees it.
 *
 * Context: stated per function.
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
	uint32_t recursion;
	uintptr_t stack_top; /* for backtraces: set by the host; 0: none are made */
	struct trace_thread thread;
};
extern struct trace_one_cpu trace_one_cpu;

/* ---- Grace periods of several CPUs: two counters for each CPU, which the host bumps ---- */

#define TRACE_DEFAULT_CPUS 64 /* CPUs that the default can count for */

/*
 * This CPU is outside of every preempt-off section: at each switch of threads, and in a timer
 * interrupt that came while preemption was on. Any context but NMI, interrupts or preemption off.
 */
void trace_quiescent(void);
/*
 * This CPU goes idle, or into user mode; it comes back. No section of it begins in between: an
 * interrupt that comes then says first that it is back. The same context.
 */
void trace_idle_enter(void);
void trace_idle_exit(void);
/* What trace_plat_synchronize_preempt() does by default. Its context. */
void trace_grace_wait(void);

/* ---- Work that was put off ---- */

/*
 * Do what is due. A host without threads calls it now and then from its main loop; what is only
 * done here can wait: memory of trampolines that nobody is in any more, a dump that a probe asked
 * for. Thread context.
 */
void trace_run_later(void);

/* ---- Symbols ---- */

struct trace_symbol {
	uintptr_t addr;
	const char *name; /* shorter than TRACE_SYM_LEN */
};

/*
 * Functions in ascending order, and the end of the last one. The table stays the host's, for good.
 * Before, no address has a name. Once, before symbols are asked for.
 */
void trace_symbols_set(const struct trace_symbol *symbols, size_t nr, uintptr_t end);

TRACE_END_DECLS

#endif
