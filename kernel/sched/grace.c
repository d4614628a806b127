/*
 * Grace periods, see <kernel/thread.h>: every CPU has to be seen outside of preempt-off sections.
 *
 * A CPU was outside when an interrupt finds it there, or when it has called sched_switch() since
 * the beginning. The interrupt is enough for most CPUs. A CPU may be in one short section after
 * another, so that every interrupt happens to come inside of one: it is made to call that.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/printk.h>
#include <kernel/time.h>
#include "sched.h"

#define PATIENCE_NS (10 * NSEC_PER_SEC)

struct waiting {
	_Atomic uint64_t cpus;	       /* a bit for each that was not seen outside yet */
	uint64_t passes[MAX_CPUS];     /* of each run queue: nr_passes at the beginning */
	uint64_t named_ns;	       /* time of the last warning, or of the beginning */
	_Atomic int32_t pid[MAX_CPUS]; /* thread that was inside at the last look */
};

/* In an interrupt: was this CPU outside of every preempt-off section when it came? */
static bool grace_is_outside(const struct run_queue *rq)
{
	uint32_t inside = preempt_count() & (PREEMPT_DEPTH_MASK | PREEMPT_SOFTIRQ_MASK);

	/* The idle loop keeps the depth at 1 and is outside only while it is halted. */
	return rq->running == rq->idle ? inside == 1 && rq->is_halted : inside == 0;
}

/* Runs on each CPU, in an interrupt. At the end of the section the CPU comes by sched_switch(). */
static void grace_note_outside(void *arg)
{
	const struct run_queue *rq = this_run_queue();
	struct waiting *waiting = arg;
	uint64_t bit = 1ull << rq->cpu;

	if (grace_is_outside(rq))
		atomic_fetch_and(&waiting->cpus, ~bit);
	if (!(atomic_load(&waiting->cpus) & bit))
		return;
	atomic_store_explicit(&waiting->pid[rq->cpu], rq->running->pid, memory_order_relaxed);
	set_need_resched();
}

/* CPUs that have switched, and those that went offline meanwhile, are outside, too. */
static void grace_note_passes(struct waiting *waiting)
{
	atomic_fetch_and(&waiting->cpus, smp_running_mask());
	for (uint64_t left = atomic_load(&waiting->cpus); left; left &= left - 1) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(left);

		if (atomic_load(&run_queues[cpu].nr_passes) != waiting->passes[cpu])
			atomic_fetch_and(&waiting->cpus, ~(1ull << cpu));
	}
}

static void grace_name_late(struct waiting *waiting)
{
	uint64_t now = ktime_get_ns();

	if (now - waiting->named_ns < PATIENCE_NS)
		return;
	waiting->named_ns = now;
	for (uint64_t left = atomic_load(&waiting->cpus); left; left &= left - 1) {
		uint32_t cpu = (uint32_t)__builtin_ctzll(left);

		kernel_warning("sched: CPU %u has had preemption off for 10 s (thread %d)\n", cpu,
			       atomic_load(&waiting->pid[cpu]));
	}
}

void synchronize_preempt(void)
{
	struct waiting waiting = { .named_ns = ktime_get_ns() };

	/* The CPU of the caller is left out: no section can be open where the caller runs. */
	preempt_disable();
	atomic_store(&waiting.cpus, smp_running_mask() & ~(1ull << cpu_local_read(id)));
	preempt_enable();
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		waiting.passes[cpu] = atomic_load(&run_queues[cpu].nr_passes);
	while (atomic_load(&waiting.cpus)) {
		on_each_cpu(grace_note_outside, &waiting, true);
		grace_note_passes(&waiting);
		grace_name_late(&waiting);
		if (atomic_load(&waiting.cpus))
			yield();
	}
}
