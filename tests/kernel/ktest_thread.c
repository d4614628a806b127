/* Threads, the scheduler, grace periods. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>

static int return_arg(void *arg)
{
	return (int)(intptr_t)arg;
}

static void test_join(void)
{
	for (intptr_t i = 0; i < 100; i++) {
		struct thread *thread = thread_create("ktest-join", return_arg, (void *)i, 0);
		int status = -1;

		if (!KTEST_NEED(thread != NULL))
			return;
		KTEST_CHECK(strcmp(thread->name, "ktest-join") == 0 && thread->pid > 0);
		KTEST_CHECK(thread_join(thread, &status) == 0 && status == i);
	}
}

/* One that ends at once, on one of the CPUs in turn. */
static struct thread *start_to_end(uint32_t turn)
{
	uint64_t cpu = 1ull << turn % smp_nr_online();
	struct thread *thread = thread_create_on(cpu, "ktest-end", return_arg, NULL, 0);

	ASSERT(thread);
	return thread;
}

/* Who asks what is in use waits for those that have ended, until the last is off its CPU. */
static void test_ended_are_gone(void)
{
	int32_t pids[8];

	for (uint32_t round = 0; round < 40; round++) {
		struct thread *threads[8];
		struct mm_stats stats;

		for (uint32_t i = 0; i < 8; i++) {
			threads[i] = start_to_end(i + round);
			pids[i] = threads[i]->pid;
		}
		for (uint32_t i = 0; i < 8; i++)
			KTEST_CHECK(thread_join_wait(threads[i]) == 0);
		mm_stats_get(&stats);
		for (uint32_t i = 0; i < 8; i++)
			KTEST_CHECK(thread_find(pids[i]) == NULL);
	}
}

static void test_find(void)
{
	struct thread *self = thread_find(current_thread()->pid);

	KTEST_CHECK(self == current_thread());
	thread_put(self);
	KTEST_CHECK(thread_find(0) == NULL && thread_find(1 << 30) == NULL);
}

static int sleep_long(void *arg)
{
	(void)arg;
	return thread_sleep_ns(60 * NSEC_PER_SEC);
}

static void test_kill_sleeper(void)
{
	struct thread *thread = thread_create("ktest", sleep_long, NULL, 0);

	if (!KTEST_NEED(thread != NULL))
		return;
	KTEST_CHECK(thread_kill(thread->pid) == 0);
	KTEST_CHECK(thread_join_wait(thread) == -EINTR);
}

static int stay_on_cpu(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	int bad = 0;

	for (int i = 0; i < 50; i++) {
		bad += cpu_local_read(id) != cpu;
		yield();
		if (i % 10 == 0)
			thread_sleep_ns(50000);
	}
	return bad;
}

static void test_affinity(void)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct thread *thread;

		if (!smp_cpu_online(cpu))
			continue;
		thread = thread_create_on(1ull << cpu, "ktest", stay_on_cpu, (void *)(uintptr_t)cpu,
					  0);
		if (KTEST_NEED(thread != NULL))
			KTEST_CHECK(thread_join_wait(thread) == 0);
		/* And a running thread moves. */
		KTEST_CHECK(thread_set_affinity(current_thread(), 1ull << cpu) == 0);
		yield();
		KTEST_CHECK(cpu_local_read(id) == cpu);
	}
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
	KTEST_CHECK(thread_set_affinity(current_thread(), 0) == -EINVAL);
}

static _Atomic uint32_t stop_spinning;
static _Atomic uint64_t spinner_cpus; /* where spinners were seen */

static int spin(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop_spinning)) {
		atomic_fetch_or(&spinner_cpus, 1ull << cpu_local_read(id));
		arch_cpu_relax();
	}
	return 0;
}

/* A thread that never gives up its CPU must not keep another from running there. */
static void test_preemption(void)
{
	struct thread *spinner;

	atomic_store(&stop_spinning, 0);
	thread_set_affinity(current_thread(), 1);
	yield();
	spinner = thread_create_on(1, "ktest", spin, NULL, 0);
	if (KTEST_NEED(spinner != NULL)) {
		thread_sleep_ns(5 * NSEC_PER_MSEC);
		yield();
		thread_sleep_ns(5 * NSEC_PER_MSEC); /* we are here: we were let in again */
		KTEST_CHECK(spinner->nr_involuntary > 0);
		atomic_store(&stop_spinning, 1);
		thread_join_wait(spinner);
	}
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

/* More busy threads than CPUs: all CPUs get some. */
static void test_all_cpus_used(void)
{
	struct thread *threads[MAX_CPUS + 2];
	uint32_t nr = smp_nr_online() + 2, started = 0;

	atomic_store(&stop_spinning, 0);
	atomic_store(&spinner_cpus, 0);
	for (; started < nr; started++) {
		threads[started] = thread_create("ktest", spin, NULL, 0);
		if (!KTEST_NEED(threads[started] != NULL))
			break;
	}
	for (int i = 0; i < 200 && atomic_load(&spinner_cpus) != smp_online_mask(); i++)
		thread_sleep_ns(5 * NSEC_PER_MSEC);
	KTEST_CHECK(atomic_load(&spinner_cpus) == smp_online_mask());
	atomic_store(&stop_spinning, 1);
	while (started > 0)
		thread_join_wait(threads[--started]);
}

static _Atomic uint32_t phase; /* 1: inside the section, 2: about to leave it */

static int preempt_off_section(void *arg)
{
	uint64_t end;

	(void)arg;
	preempt_disable();
	end = ktime_get_ns() + 10 * NSEC_PER_MSEC;
	atomic_store(&phase, 1);
	while (ktime_get_ns() < end)
		arch_cpu_relax();
	atomic_store(&phase, 2);
	preempt_enable();
	return 0;
}

static void test_synchronize_preempt(void)
{
	struct thread *thread;

	atomic_store(&phase, 0);
	thread = thread_create("ktest", preempt_off_section, NULL, 0);
	if (!KTEST_NEED(thread != NULL))
		return;
	while (atomic_load(&phase) == 0)
		yield();
	synchronize_preempt();
	KTEST_CHECK(atomic_load(&phase) == 2);
	thread_join_wait(thread);
}

static int synchronize(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		synchronize_preempt();
	return 0;
}

/* Several at once, while all CPUs work: none may wait for ever. */
static void test_synchronize_concurrent(void)
{
	KTEST_CHECK(ktest_threads(smp_nr_online() + 1, synchronize, NULL) == 0);
}

static int hop(void *arg)
{
	uint64_t mask = smp_online_mask();
	int bad = 0;

	(void)arg;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t cpu = (uint32_t)(current_thread()->pid + (int32_t)i) % smp_nr_cpus();

		if (!(mask & 1ull << cpu))
			continue;
		thread_set_affinity(current_thread(), 1ull << cpu);
		yield();
		bad += cpu_local_read(id) != cpu;
	}
	return bad;
}

static void test_migration(void)
{
	KTEST_CHECK(ktest_threads(smp_nr_online() + 2, hop, NULL) == 0);
}

/* A thread that others move: once it was told where to run, and let go, it runs nowhere else. */
struct moved {
	struct thread *thread;
	_Atomic uint64_t order; /* number << 8 | CPU + 1; 0 while it changes */
	_Atomic uint32_t stop;
};

static int obey(void *arg)
{
	struct moved *self = arg;
	int bad = 0;

	while (!atomic_load(&self->stop)) {
		uint64_t order = atomic_load(&self->order);
		uint32_t cpu;

		yield();
		preempt_disable();
		cpu = cpu_local_read(id);
		bad += order && atomic_load(&self->order) == order && cpu + 1 != (order & 0xff);
		preempt_enable();
	}
	return bad;
}

static void order_about(struct moved *moved, uint32_t nr)
{
	for (uint64_t i = 0; i < 400; i++) {
		struct moved *one = &moved[i % nr];
		uint32_t cpu = (uint32_t)(i * 7 / 3) % smp_nr_cpus();

		if (!smp_cpu_online(cpu))
			continue;
		atomic_store(&one->order, 0);
		KTEST_CHECK(thread_set_affinity(one->thread, 1ull << cpu) == 0);
		atomic_store(&one->order, (i + 1) << 8 | (cpu + 1));
		if (i % 4 == 0)
			yield();
	}
}

static void test_moved_by_others(void)
{
	struct moved moved[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		moved[i].thread = thread_create("ktest", obey, &moved[i], 0);
		ASSERT(moved[i].thread);
	}
	order_about(moved, 4);
	for (int i = 0; i < 4; i++) {
		atomic_store(&moved[i].stop, 1);
		KTEST_CHECK(thread_join_wait(moved[i].thread) == 0);
	}
}

const struct ktest ktest_thread[] = {
	{ "thread_join", test_join },
	{ "thread_ended_are_gone", test_ended_are_gone },
	{ "thread_find", test_find },
	{ "thread_kill_sleeper", test_kill_sleeper },
	{ "thread_affinity", test_affinity },
	{ "thread_preemption", test_preemption },
	{ "thread_all_cpus_used", test_all_cpus_used },
	{ "thread_migration", test_migration },
	{ "thread_moved_by_others", test_moved_by_others },
	{ "thread_synchronize_preempt", test_synchronize_preempt },
	{ "thread_synchronize_concurrent", test_synchronize_concurrent },
	{ 0 },
};
