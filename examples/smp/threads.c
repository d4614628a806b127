/*
 * Threads: each CPU has some, for good, and its timer switches from one to the next wherever they are, in the middle of a
 * trampoline, too. See smp.h.
 */
#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/arch_stacks.h>
#include <trace/defaults.h>
#include <trace/platform.h>
#include "smp.h"

#define WORD_BYTES   8u
#define SWITCH_WORDS 7u /* boot.asm, switch_stacks: six registers and where it returns to */
#define SAVED_RBP    5u

static uint8_t thread_stacks[SMP_MAX_CPUS][SMP_NR_THREADS - 1][SMP_STACK_BYTES]
	__attribute__((aligned(16)));
static _Atomic uint64_t nr_switches, nr_inside;

static struct smp_cpu *this_cpu(void)
{
	return &smp_cpus[trace_plat_cpu_id()];
}

struct smp_thread *thread_current(void)
{
	const struct smp_cpu *cpu = this_cpu();

	return &this_cpu()->threads[cpu->running];
}

/* ---- Start ---- */

/*
 * Make the frame that switch_stacks() takes from a new stack: registers that are 0, rbp too, where
 * frames end, and thread_begin().
 */
static void thread_make(struct smp_thread *thread, uint8_t *stack)
{
	uintptr_t *words = (uintptr_t *)(stack + SMP_STACK_BYTES - 2 * WORD_BYTES);

	thread->stack_end = (uintptr_t)(stack + SMP_STACK_BYTES);
	*--words = (uintptr_t)thread_begin;
	thread->rsp = (uintptr_t)(words - (SWITCH_WORDS - 1));
}

/* The first thread of a CPU is the one that started it. */
void threads_init(uint32_t id)
{
	struct smp_cpu *cpu = &smp_cpus[id];

	for (uint32_t i = 0; i < SMP_NR_THREADS; i++) {
		cpu->threads[i].pid = (int32_t)(1 + id * SMP_NR_THREADS + i);
		if (i)
			thread_make(&cpu->threads[i], thread_stacks[id][i - 1]);
	}
	cpu->threads[0].stack_end = (uintptr_t)&boot_stacks[(id + 1) * SMP_STACK_BYTES];
	trace_per_cpu_init(&cpu->trace, id, &cpu->threads[0].trace, cpu->threads[0].pid,
			   cpu->threads[0].stack_end);
}

/* ---- The switch; interrupts are off ---- */

static void switch_to_next(bool was_interrupted)
{
	struct smp_cpu *cpu = this_cpu();
	struct smp_thread *from = &cpu->threads[cpu->running], *to;

	trace_quiescent(); /* this CPU is using nothing of the library that could be freed */
	nr_switches++;
	from->was_interrupted = was_interrupted;
	cpu->running = (cpu->running + 1) % SMP_NR_THREADS;
	to = &cpu->threads[cpu->running];
	trace_per_cpu_switch(&to->trace, to->pid, to->stack_end);
	switch_stacks(&from->rsp, to->rsp);
}

void thread_tick(uintptr_t rip)
{
	if (!trace_may_switch()) {
		trace_want_switch();
		return;
	}
	nr_inside += trace_exec_contains(rip);
	switch_to_next(true);
}

void smp_reschedule(void)
{
	uint64_t irqs;

	if (trace_plat_irqs_disabled())
		return;
	irqs = trace_plat_irq_save();
	switch_to_next(false);
	trace_plat_irq_restore(irqs);
}

/* ---- Walks over the stacks ---- */

static void show_others(const struct trace_plat_look *look)
{
	struct smp_cpu *cpu = this_cpu();

	for (uint32_t i = 0; i < SMP_NR_THREADS; i++) {
		struct smp_thread *thread = &cpu->threads[i];

		if (i == cpu->running)
			continue;
		if (thread->was_interrupted)
			trace_stack_show_words(look, &thread->trace, thread->rsp,
					       thread->stack_end);
		else
			trace_stack_show_frames(look, &thread->trace,
						thread->rsp + SAVED_RBP * WORD_BYTES,
						thread->stack_end);
	}
}

/* In the interrupt of a call. */
static void show_all(void *arg)
{
	struct smp_thread *thread = thread_current();

	show_others(arg);
	trace_stack_show_words(arg, &thread->trace, (uintptr_t)__builtin_frame_address(0),
			       thread->stack_end);
}

void trace_plat_each_stack(const struct trace_plat_look *look)
{
	struct smp_thread *thread = thread_current();
	uint64_t irqs;

	call_begin(show_all, (void *)(uintptr_t)look);
	call_end();
	irqs = trace_plat_irq_save();
	show_others(look);
	trace_stack_show_frames(look, &thread->trace, (uintptr_t)__builtin_frame_address(0),
				thread->stack_end);
	trace_plat_irq_restore(irqs);
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus; cpu++) {
		for (uint32_t i = 0; i < SMP_NR_THREADS; i++)
			fn(smp_cpus[cpu].threads[i].pid, &smp_cpus[cpu].threads[i].trace, arg);
	}
}

void threads_count(uint64_t *out_switches, uint64_t *out_inside)
{
	*out_switches = nr_switches;
	*out_inside = nr_inside;
}
