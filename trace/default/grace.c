/*
 * Default: grace periods of preempt-off sections. For each CPU there are two counters, which
 * trace_quiescent() and trace_idle_enter() and _exit() increase. See <trace/defaults.h>.
 *
 * The CPU that waits runs a thread with preemption on, so it is in no section. Every other CPU is
 * waited for until it is idle, or has counted since the call, or is not online.
 */
#include <stdatomic.h>
#include <trace/defaults.h>
#include <trace/platform.h>

#define LOOK_NS 10000u

static struct {
	_Atomic uint64_t nr_quiescent;
	_Atomic uint64_t nr_idle; /* odd: it is idle */
} cpus[TRACE_DEFAULT_CPUS];

void trace_quiescent(void)
{
	/*
	 * A full barrier: whoever sees the new count also sees all that earlier sections have done.
	 */
	atomic_fetch_add(&cpus[trace_plat_cpu_id()].nr_quiescent, 1);
}

void trace_idle_enter(void)
{
	atomic_fetch_add(&cpus[trace_plat_cpu_id()].nr_idle, 1);
}

void trace_idle_exit(void)
{
	atomic_fetch_add(&cpus[trace_plat_cpu_id()].nr_idle, 1);
}

static bool is_elsewhere(uint32_t cpu)
{
	bool is_here;

	trace_plat_preempt_disable();
	is_here = cpu == trace_plat_cpu_id();
	trace_plat_preempt_enable();
	return !is_here;
}

/* Has `cpu` left all sections that it was in when its counters had these values? */
static bool has_left(uint32_t cpu, uint64_t nr_quiescent, uint64_t nr_idle)
{
	return nr_idle & 1 || atomic_load(&cpus[cpu].nr_idle) != nr_idle ||
	       atomic_load(&cpus[cpu].nr_quiescent) != nr_quiescent;
}

void trace_grace_wait(void)
{
	atomic_thread_fence(memory_order_seq_cst); /* after what the caller has changed */
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus() && cpu < TRACE_DEFAULT_CPUS; cpu++) {
		uint64_t nr_quiescent = atomic_load(&cpus[cpu].nr_quiescent);
		uint64_t nr_idle = atomic_load(&cpus[cpu].nr_idle);

		while (is_elsewhere(cpu) && !has_left(cpu, nr_quiescent, nr_idle))
			trace_plat_pause(LOOK_NS, false);
	}
}

TRACE_DEFAULT void trace_plat_synchronize_preempt(void)
{
	trace_grace_wait();
}
