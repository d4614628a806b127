/*
 * A hit of a clause, for its probes:
 *
 *   if (script_hit_begin(clause, SCRIPT_RUNS, &cpu)) {   the run of this CPU
 *           cpu->run.hit.probe = ...                     what its steps may look at
 *           script_hit_run(program, cpu);                whose last step gives the run back
 *   }
 *
 * A script runs on each CPU once at a time: an interrupt that hits it while it runs is counted as missed.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef TRACE_SCRIPT_HIT_H
#define TRACE_SCRIPT_HIT_H

#include <trace/recursion.h>
#include "script.h"

/* Take the run of this CPU. False: the script runs here already, and the hit is counted. */
static TRACE_ALWAYS_INLINE bool script_hit_begin(const struct script_clause *clause,
						 enum script_state state,
						 struct script_cpu **out_cpu)
{
	struct script_cpu *cpu = &clause->cpus[trace_plat_cpu_id()];

	*out_cpu = cpu;
	if (TRACE_UNLIKELY(atomic_load_explicit(&cpu->state, memory_order_relaxed))) {
		cpu->missed++;
		return false;
	}
	atomic_store_explicit(&cpu->state, (uint8_t)state, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

/* Give the run back: at the end of a program, or for a hit that it cannot look at. */
static TRACE_ALWAYS_INLINE void script_hit_end(struct script_cpu *cpu)
{
	uint8_t state = atomic_load_explicit(&cpu->state, memory_order_relaxed);

	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&cpu->state, SCRIPT_IDLE, memory_order_relaxed);
	if (state == SCRIPT_RUNS_GUARDED)
		trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

static TRACE_ALWAYS_INLINE void script_hit_run(const struct expr_program *program,
					       struct script_cpu *cpu)
{
	program->insns->step(&cpu->run.expr, program->insns, 0);
}

#endif
