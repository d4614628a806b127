/* Softirqs, see <kernel/softirq.h>. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/per_cpu_array.h>
#include <arch/smp.h>
#include <kernel/preempt.h>
#include <kernel/softirq.h>
#include <kernel/thread.h>
#include "softirq_priv.h"
#include <trace/events/irq.h>
#include <trace/fmt.h>

#define MAX_ROUNDS 5 /* then ksoftirqd goes on, so that other threads may run in between */

/* Written by its own CPU with interrupts off. */
struct softirq_cpu {
	_Atomic uint32_t pending; /* bit per softirq; an NMI may set one at any time */
	uint64_t counts[SOFTIRQ_NR];
	struct thread *daemon; /* NULL before its start */
} __attribute__((aligned(64)));

static struct softirq_cpu cpus[MAX_CPUS];
PER_CPU_ARRAY(cpus);
static void (*handlers[SOFTIRQ_NR])(void);
static const char *const names[SOFTIRQ_NR] = { "timer", "console", "sched", "trace" };

static TRACE_ALWAYS_INLINE struct softirq_cpu *softirq_here(void)
{
	return &cpus[cpu_local_read(id)];
}

void open_softirq(enum softirq nr, void (*fn)(void))
{
	handlers[nr] = fn;
}

/*
 * The handler runs at the end of the next interrupt: the tick at the latest on a busy CPU, and an
 * idle one looks before it waits. No thread is woken here, because callers may hold the lock of a
 * run queue.
 */
TRACE_NOTRACE void raise_softirq_notrace(enum softirq nr)
{
	atomic_fetch_or(&softirq_here()->pending, 1u << nr);
}

void raise_softirq(enum softirq nr)
{
	uint64_t flags = arch_irq_save();

	trace_softirq_raise(nr);
	raise_softirq_notrace(nr);
	arch_irq_restore(flags);
}

TRACE_NOTRACE bool softirq_is_pending(void)
{
	return softirq_here()->pending != 0;
}

static void softirq_run_handlers(uint32_t pending)
{
	for (unsigned int nr = 0; nr < SOFTIRQ_NR; nr++) {
		if (!(pending & 1u << nr) || !handlers[nr])
			continue;
		softirq_here()->counts[nr]++;
		trace_softirq_entry(nr);
		handlers[nr]();
		trace_softirq_exit(nr);
	}
}

/* Interrupts are off before and after. */
static TRACE_NOINLINE void handle_softirqs(struct softirq_cpu *cpu)
{
	for (int round = 0; cpu->pending && round < MAX_ROUNDS; round++) {
		uint32_t pending = atomic_exchange(&cpu->pending, 0);

		arch_irq_enable();
		softirq_run_handlers(pending);
		arch_irq_disable();
	}
	if (cpu->pending && cpu->daemon)
		wake_up_process(cpu->daemon);
}

TRACE_NOTRACE void softirq_run(void)
{
	preempt_count_add(PREEMPT_SOFTIRQ_ONE);
	preempt_tell_off(PREEMPT_SOFTIRQ_ONE, 0);
	handle_softirqs(softirq_here());
	preempt_tell_on(PREEMPT_SOFTIRQ_ONE, 0);
	preempt_count_sub(PREEMPT_SOFTIRQ_ONE);
}

void softirq_take_from(uint32_t cpu)
{
	uint64_t flags = arch_irq_save();

	atomic_fetch_or(&softirq_here()->pending, atomic_exchange(&cpus[cpu].pending, 0));
	arch_irq_restore(flags);
}

static int ksoftirqd(void *arg)
{
	struct softirq_cpu *cpu = arg;

	for (;;) {
		set_current_state(THREAD_INTERRUPTIBLE);
		arch_irq_disable();
		/* It runs on another CPU while its own is offline. */
		if (!cpu->pending || cpu != softirq_here()) {
			arch_irq_enable();
			schedule();
			continue;
		}
		set_current_state(THREAD_RUNNING);
		preempt_disable();
		softirq_run();
		arch_irq_enable();
		preempt_enable();
		cond_resched();
	}
	return 0;
}

int softirq_start_threads(void)
{
	char name[THREAD_NAME_LEN];

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu) || cpus[cpu].daemon)
			continue;
		trace_snprintf(name, sizeof(name), "ksoftirqd/%u", cpu);
		cpus[cpu].daemon =
			thread_create_on(1ull << cpu, name, ksoftirqd, &cpus[cpu], THREAD_SERVICE);
		if (!cpus[cpu].daemon)
			return -ENOMEM;
	}
	return 0;
}

const char *softirq_name(enum softirq nr)
{
	return names[nr];
}

uint64_t softirq_count(uint32_t cpu, enum softirq nr)
{
	return cpus[cpu].counts[nr];
}
