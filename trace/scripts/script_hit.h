/*
 * A hit of a clause, for its probes:
 *
 *   if (script_hit_begin(clause, &cpu)) {      the run of this CPU
 *           cpu->run.hit.probe = ...           what its steps may look at
 *           script_hit_run(program, cpu);
 *   }
 *
 * A script runs on each CPU once at a time: an interrupt that hits it while it runs is counted as missed.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef TRACE_SCRIPT_HIT_H
#define TRACE_SCRIPT_HIT_H

#include "script.h"

/* Take the run of this CPU until script_hit_run(). False: the script runs here, and the hit is counted. */
static TRACE_ALWAYS_INLINE bool script_hit_begin(const struct script_clause *clause,
						 struct script_cpu **out_cpu)
{
	struct script_cpu *cpu = &clause->cpus[trace_plat_cpu_id()];

	*out_cpu = cpu;
	if (TRACE_UNLIKELY(atomic_load_explicit(&cpu->is_running, memory_order_relaxed))) {
		cpu->missed++;
		return false;
	}
	atomic_store_explicit(&cpu->is_running, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static TRACE_ALWAYS_INLINE void script_hit_end(struct script_cpu *cpu)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&cpu->is_running, false, memory_order_relaxed);
}

/* Give the run back for a hit that its clause cannot look at. */
static inline void script_hit_miss(struct script_cpu *cpu)
{
	cpu->missed++;
	script_hit_end(cpu);
}

/* Run the program of the clause, and give the run back. */
static TRACE_ALWAYS_INLINE void script_hit_run(const struct expr_program *program,
					       struct script_cpu *cpu)
{
	const struct expr_insn *insn = program->insns;

	insn->step(&cpu->run.expr, insn, 0);
	script_hit_end(cpu);
}

#endif
