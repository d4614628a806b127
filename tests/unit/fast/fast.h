/*
 * The kernel's inline platform in a user process: GS points at a struct cpu_local as in the kernel,
 * so trace/ is compiled to the same instructions, and interrupts can come between any two of them.
 *
 * fast_trace() single-steps through `op` by the trap flag and notes which instructions it executes.
 * fast_run_at() runs `op` with an int3 on one of them, the first time it is reached: there the
 * interrupt comes, one trap a run. `irq` may itself call fast_run_at(): interrupted interrupts.
 *
 * Context: one thread, CPU 0. The text of the process is made writable.
 */
#ifndef FAST_H
#define FAST_H

#include <trace/platform.h>
#include <arch/cpu_local.h>

extern struct cpu_local fast_cpu;
extern long fast_alloc_out;
extern uint64_t fast_nr_bugs;

/* Point GS at fast_cpu, catch traps. Once, first. */
void fast_init(void);
/*
 * Run `op`; returns how many instructions it executed. The first `max` different ones that belong
 * to this program are noted in `out_insns`, in the order of their first execution.
 */
uint64_t fast_trace(void (*op)(void *arg), void *arg, uint8_t **out_insns, size_t max,
		    size_t *out_nr);
/* Run `op`, and `irq` just before it executes `insn` for the first time. Was it reached? */
bool fast_run_at(void (*op)(void *arg), void *arg, uint8_t *insn, void (*irq)(void));

#endif
