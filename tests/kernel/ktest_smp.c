/* Calls to other CPUs, core sync, NMIs, clocks of CPUs side by side. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include "ktest.h"
#include "nmi_call.h"
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include <kernel/time.h>

#define ROUNDS 20

static _Atomic uint64_t seen_mask;
static _Atomic uint64_t nr_calls;
static _Atomic uint32_t nr_wrong;

/* On each CPU asked: interrupts are off; the boot CPU's own call comes from a thread. */
static void note_call(void *arg)
{
	if (!arch_irqs_disabled())
		atomic_fetch_add(&nr_wrong, 1);
	if (arg != &seen_mask)
		atomic_fetch_add(&nr_wrong, 1);
	atomic_fetch_or(&seen_mask, 1ull << cpu_local_read(id));
	atomic_fetch_add(&nr_calls, 1);
}

static void start_counting(void)
{
	atomic_store(&seen_mask, 0);
	atomic_store(&nr_calls, 0);
	atomic_store(&nr_wrong, 0);
}

static void test_call_all(void)
{
	uint64_t limit;

	start_counting();
	on_each_cpu(note_call, &seen_mask, true);
	KTEST_CHECK(atomic_load(&seen_mask) == smp_online_mask());
	KTEST_CHECK(atomic_load(&nr_calls) == smp_nr_online());
	on_each_cpu(note_call, &seen_mask, false);
	limit = ktime_get_ns() + 10 * NSEC_PER_SEC;
	while (atomic_load(&nr_calls) < 2ul * smp_nr_online() && ktime_get_ns() < limit)
		arch_cpu_relax();
	KTEST_CHECK(atomic_load(&nr_calls) == 2ul * smp_nr_online());
	KTEST_CHECK(atomic_load(&nr_wrong) == 0);
}

static void test_call_one(void)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		int err;

		start_counting();
		err = smp_call_function_single(cpu, note_call, &seen_mask);
		KTEST_CHECK(err == (smp_cpu_online(cpu) ? 0 : -ENODEV));
		KTEST_CHECK(atomic_load(&seen_mask) == (err ? 0 : 1ull << cpu));
	}
	KTEST_CHECK(smp_call_function_single(MAX_CPUS, note_call, &seen_mask) == -ENODEV);
	KTEST_CHECK(smp_call_function_single(UINT32_MAX, note_call, &seen_mask) == -ENODEV);
	KTEST_CHECK(atomic_load(&nr_wrong) == 0);
}

/* Everybody asks everybody, with and without waiting. Returns the calls it caused. */
static int caller(void *arg)
{
	int nr = 0;

	(void)arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		on_each_cpu(note_call, &seen_mask, i & 1);
		nr += (int)smp_nr_online();
		if (smp_call_function_single(i % smp_nr_cpus(), note_call, &seen_mask) == 0)
			nr++;
		smp_sync_cores();
	}
	on_each_cpu(note_call, &seen_mask, true); /* also the last of those before is done then */
	return nr + (int)smp_nr_online();
}

static void test_calls_at_once(void)
{
	long nr;

	start_counting();
	nr = ktest_threads(smp_nr_online() + 2, caller, NULL);
	KTEST_CHECK(nr > 0 && atomic_load(&nr_calls) == (uint64_t)nr);
	KTEST_CHECK(atomic_load(&seen_mask) == smp_online_mask());
	KTEST_CHECK(atomic_load(&nr_wrong) == 0);
}

static void test_sync_reaches_all(void)
{
	static uint64_t before[MAX_CPUS];
	uint32_t own;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++)
		before[cpu] = smp_irq_count(cpu, SMP_IRQ_SYNC);
	preempt_disable();
	own = cpu_local_read(id);
	smp_sync_cores();
	preempt_enable();
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu) && cpu != own)
			KTEST_CHECK(smp_irq_count(cpu, SMP_IRQ_SYNC) > before[cpu]);
	}
}

/* Waits with interrupts off for the NMI. Returns 0 when it came. */
static int deaf_thread(void *arg)
{
	uint64_t bit = 1ull << cpu_local_read(id), flags = arch_irq_save();
	uint64_t limit = ktime_get_ns() + 10 * NSEC_PER_SEC;
	_Atomic bool *is_deaf = arg;

	atomic_store(is_deaf, true);
	while (!(atomic_load(&seen_mask) & bit) && ktime_get_ns() < limit)
		arch_cpu_relax();
	arch_irq_restore(flags);
	return atomic_load(&seen_mask) & bit ? 0 : 1;
}

static void note_nmi(const struct trap_frame *regs, void *arg)
{
	if (!regs || !in_nmi() || arg != &seen_mask)
		atomic_fetch_add(&nr_wrong, 1);
	atomic_fetch_or(&seen_mask, 1ull << cpu_local_read(id));
	atomic_fetch_add(&nr_calls, 1);
}

static void nmi_to_all_others(void)
{
	uint32_t own, nr;

	preempt_disable();
	own = cpu_local_read(id);
	nr = nmi_call_others(note_nmi, &seen_mask);
	preempt_enable();
	KTEST_CHECK(nr == smp_nr_online() - 1);
	KTEST_CHECK(atomic_load(&nr_calls) == nr);
	KTEST_CHECK(atomic_load(&seen_mask) == (smp_online_mask() & ~(1ull << own)));
	KTEST_CHECK(atomic_load(&nr_wrong) == 0);
}

static void test_nmi_call(void)
{
	start_counting();
	nmi_to_all_others();
}

static void test_nmi_reaches_deaf_cpu(void)
{
	static _Atomic bool is_deaf;
	struct thread *thread;
	uint32_t target;

	if (smp_nr_online() < 2)
		return;
	start_counting();
	atomic_store(&is_deaf, false);
	preempt_disable(); /* or this thread might move to the CPU that goes deaf */
	target = cpu_local_read(id) == 0 ? (uint32_t)__builtin_ctzll(smp_online_mask() & ~1ull) : 0;
	preempt_enable();
	thread_set_affinity(current_thread(), ~(1ull << target));
	thread = thread_create_on(1ull << target, "deaf", deaf_thread, (void *)&is_deaf, 0);
	KTEST_CHECK(thread != NULL);
	if (thread) {
		while (!atomic_load(&is_deaf))
			yield();
		nmi_to_all_others();
		KTEST_CHECK(thread_join_wait(thread) == 0);
	}
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

static void read_clock(void *arg)
{
	*(uint64_t *)arg = local_clock_ns();
}

/* A time read on another CPU lies between two of this CPU. */
static void test_clocks_agree(void)
{
	preempt_disable();
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		uint64_t before = local_clock_ns(), there = 0, after;

		if (smp_call_function_single(cpu, read_clock, &there) != 0)
			continue;
		after = local_clock_ns();
		KTEST_CHECK(before <= there && there <= after);
	}
	preempt_enable();
}

const struct ktest ktest_smp[] = {
	{ "on_each_cpu", test_call_all },
	{ "smp_call_function_single", test_call_one },
	{ "smp_calls_at_once", test_calls_at_once },
	{ "smp_sync_reaches_all", test_sync_reaches_all },
	{ "smp_nmi_call", test_nmi_call },
	{ "smp_nmi_reaches_deaf_cpu", test_nmi_reaches_deaf_cpu },
	{ "smp_clocks_agree", test_clocks_agree },
	{ 0 },
};
