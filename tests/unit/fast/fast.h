/*
 * The kernel's inline platform in a user process: GS points at a struct cpu_local as in the kernel,
 * so trace/ is compiled to the same instructions, and interrupts can come between any two of them.
 *
 * fast_trace() single-steps through `op` by the trap flag and notes which instructions it executes.
 * fast_run_at() runs `op` with an int3 on some of them: the first time that one is reached, its
 * interrupt comes. `irq` may itself call fast_run_at(): interrupted interrupts.
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
/* Run `op` without single steps inside of fast_trace(), for a loop of the test itself: a step costs a signal. */
void fast_untraced(void (*op)(void));
/* Before `insn` is executed for the first time comes `irq`. */
struct fast_point {
	uint8_t *insn;
	void (*irq)(void);
};
/* Run `op` with interrupts at `nr` different points. Returns how many of them came. */
size_t fast_run_at(void (*op)(void *arg), void *arg, const struct fast_point *points, size_t nr);

#endif
