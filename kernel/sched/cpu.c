/*
 * CPUs that come and go, see <kernel/cpu.h>.
 *
 * The work is done by a thread on the boot CPU, which never goes, and whose clock a CPU that starts is
 * compared with. What a CPU itself does at its end is in sched_idle_loop() and in <arch/smp.h>.
 */
#include <arch/smp.h>
#include <kernel/cpu.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/events/cpuhp.h>
#include <trace/trace.h>
#include "../kernel_init.h"
#include "sched.h"
#include "softirq_priv.h"

#define CPU_LEAVE_POLL_NS (100 * NSEC_PER_USEC)

_Atomic uint64_t cpu_active_mask;

static struct mutex cpu_hotplug_lock; /* one CPU comes or goes at a time */

struct cpu_change {
	uint32_t cpu;
	bool is_up;
};

static void cpu_mark_active(void *arg)
{
	const struct cpu_change *change = arg;

	if (change->is_up)
		atomic_fetch_or(&cpu_active_mask, 1ull << change->cpu);
	else
		atomic_fetch_and(&cpu_active_mask, ~(1ull << change->cpu));
}

/*
 * Of each thread, after the CPU has left the mask of active ones. The lock orders this against
 * thread_set_affinity(): either that sees the mask without the CPU, or this sees what it has set.
 */
static void cpu_break_affinity(struct thread *thread, void *arg)
{
	const struct cpu_change *change = arg;
	bool is_broken = false;

	if (thread->flags & (THREAD_SERVICE | THREAD_IDLE))
		return;
	spin_lock(&thread->wake_lock);
	if (!(thread->affinity & cpu_active_mask)) {
		thread->affinity = THREAD_ANY_CPU;
		is_broken = true;
	}
	spin_unlock(&thread->wake_lock);
	if (is_broken)
		pr_info("process %d (%s) no longer affine to cpu%u\n", thread->pid, thread->name,
			change->cpu);
}

static int cpu_take_softirqs(struct cpu_change *change)
{
	softirq_take_from(change->cpu);
	return 0;
}

static int cpu_take_timers(struct cpu_change *change)
{
	timers_take_from(change->cpu);
	return 0;
}

static int cpu_start(struct cpu_change *change)
{
	return smp_start_cpu(change->cpu);
}

static int cpu_stop(struct cpu_change *change)
{
	sched_close_queue(change->cpu);
	while (!smp_cpu_gone(change->cpu))
		thread_pause_ns(CPU_LEAVE_POLL_NS);
	return 0;
}

static int cpu_free_threads(struct cpu_change *change)
{
	thread_each(cpu_break_affinity, change);
	return 0;
}

static int cpu_tell_tracers(struct cpu_change *change)
{
	trace_cpus_change(cpu_mark_active, change);
	return 0;
}

static int cpu_start_threads(struct cpu_change *change)
{
	int err = softirq_start_threads();

	(void)change;
	return err ? err : work_start_threads();
}

typedef int (*cpu_step_fn)(struct cpu_change *change); /* 0 or -errno */

/* The work for a CPU on its way from 0, where it is offline, to CPU_ONLINE, and on its way back. */
struct cpu_step {
	cpu_step_fn startup, teardown; /* NULL: nothing is to be done */
};

#define CPU_ONLINE 6
static const struct cpu_step cpu_steps[] = {
	[1] = { NULL, cpu_take_softirqs },
	[2] = { NULL, cpu_take_timers },
	[3] = { cpu_start, cpu_stop },
	[4] = { NULL, cpu_free_threads },
	[5] = { cpu_tell_tracers, cpu_tell_tracers },
	[CPU_ONLINE] = { cpu_start_threads, NULL },
};

static int cpu_do_step(struct cpu_change *change, int step)
{
	cpu_step_fn fn = change->is_up ? cpu_steps[step].startup : cpu_steps[step].teardown;
	int err;

	if (!fn)
		return 0;
	trace_cpuhp_enter(change->cpu, change->is_up ? CPU_ONLINE : 0, step, (void *)fn);
	err = fn(change);
	trace_cpuhp_exit(change->cpu, step, step, err);
	return err;
}

static void cpu_take_down(struct cpu_change *change)
{
	for (int step = CPU_ONLINE; step > 0; step--)
		cpu_do_step(change, step);
	pr_info("SMP: CPU %u is now offline\n", change->cpu);
}

/* A step that fails is the last one. */
static int cpu_bring_up(struct cpu_change *change)
{
	int err = 0;

	for (int step = 1; step <= CPU_ONLINE && !err; step++)
		err = cpu_do_step(change, step);
	if (cpu_active(change->cpu))
		pr_info("SMP: CPU %u is now online\n", change->cpu);
	return err;
}

static int cpu_change_thread(void *arg)
{
	struct cpu_change *change = arg;

	if (change->is_up == cpu_active(change->cpu))
		return 0;
	if (change->is_up)
		return cpu_bring_up(change);
	cpu_take_down(change);
	return 0;
}

static int cpu_change_state(uint32_t cpu, bool is_up)
{
	struct cpu_change change = { .cpu = cpu, .is_up = is_up };
	struct thread *thread;
	int err = -ENOMEM;

	mutex_lock(&cpu_hotplug_lock);
	thread = thread_create_on(1, "cpuhp", cpu_change_thread, &change, THREAD_SERVICE);
	if (thread)
		err = thread_join_wait(thread);
	mutex_unlock(&cpu_hotplug_lock);
	return err;
}

int cpu_down(uint32_t cpu)
{
	if (cpu >= smp_nr_cpus())
		return -EINVAL;
	return cpu ? cpu_change_state(cpu, false) : -EPERM;
}

int cpu_up(uint32_t cpu)
{
	return cpu < smp_nr_cpus() ? cpu_change_state(cpu, true) : -EINVAL;
}
