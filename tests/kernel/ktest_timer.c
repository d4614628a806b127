/* Timers, sleeping, softirq context, work. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/lock.h>
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/work.h>
#include <trace/platform.h>

#define NR_TIMERS 40

struct test_timer {
	struct timer timer;
	uint64_t due_ns;
	_Atomic uint64_t fired_ns; /* 0: not yet */
	uint32_t context;	   /* preempt_count() in its function */
	bool irqs_on;
};

static _Atomic int nr_fired;

static void note_time(struct timer *timer)
{
	struct test_timer *t = container_of(timer, struct test_timer, timer);

	t->context = preempt_count();
	t->irqs_on = !arch_irqs_disabled();
	atomic_store(&t->fired_ns, ktime_get_ns());
	atomic_fetch_add(&nr_fired, 1);
}

static void wait_until_fired(int nr)
{
	for (int i = 0; i < 2000 && atomic_load(&nr_fired) < nr; i++)
		thread_sleep_ns(NSEC_PER_MSEC);
}

static void test_timers_fire(void)
{
	static struct test_timer timers[NR_TIMERS];
	uint64_t now = ktime_get_ns();

	atomic_store(&nr_fired, 0);
	for (unsigned int i = 0; i < NR_TIMERS; i++) {
		timer_setup(&timers[i].timer, note_time);
		atomic_store(&timers[i].fired_ns, 0);
		timers[i].due_ns = now + (i * 7 % NR_TIMERS) * (NSEC_PER_MSEC / 2);
		timer_start(&timers[i].timer, timers[i].due_ns);
	}
	wait_until_fired(NR_TIMERS);
	KTEST_CHECK(atomic_load(&nr_fired) == NR_TIMERS);
	for (int i = 0; i < NR_TIMERS; i++) {
		KTEST_CHECK(atomic_load(&timers[i].fired_ns) >= timers[i].due_ns);
		KTEST_CHECK(timers[i].context & PREEMPT_SOFTIRQ_MASK);
		KTEST_CHECK(timers[i].irqs_on);
	}
}

static void test_timer_cancel(void)
{
	struct test_timer t = { 0 };
	uint64_t flags;

	atomic_store(&nr_fired, 0);
	timer_setup(&t.timer, note_time);
	KTEST_CHECK(!timer_cancel(&t.timer));
	flags = arch_irq_save(); /* it cannot fire, however long this takes */
	timer_start(&t.timer, ktime_get_ns() + 3 * NSEC_PER_MSEC);
	timer_start(&t.timer, ktime_get_ns() + 4 * NSEC_PER_MSEC); /* moved, not doubled */
	KTEST_CHECK(timer_cancel(&t.timer));
	arch_irq_restore(flags);
	KTEST_CHECK(!timer_cancel(&t.timer));
	timer_start(&t.timer, ktime_get_ns() + 100 * NSEC_PER_SEC);
	KTEST_CHECK(timer_cancel_sync(&t.timer));
	KTEST_CHECK(!timer_cancel_sync(&t.timer));
	thread_sleep_ns(8 * NSEC_PER_MSEC);
	KTEST_CHECK(atomic_load(&nr_fired) == 0);
	timer_start(&t.timer, 0); /* long past: at once */
	wait_until_fired(1);
	KTEST_CHECK(atomic_load(&nr_fired) == 1);
	timer_cancel_sync(&t.timer);
}

/* Start and cancel against the firing CPU: after cancel_sync() the function does not run. */
static int race_cancel(void *arg)
{
	struct test_timer t = { 0 };
	int bad = 0;

	(void)arg;
	timer_setup(&t.timer, note_time);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t fired;

		atomic_store(&t.fired_ns, 0);
		timer_start(&t.timer, ktime_get_ns() + i % 8 * 20000);
		for (uint64_t spin = 0; spin < i % 5 * 200; spin++)
			arch_cpu_relax();
		if (timer_cancel_sync(&t.timer))
			bad += atomic_load(&t.fired_ns) != 0;
		fired = atomic_load(&t.fired_ns);
		arch_cpu_relax();
		bad += atomic_load(&t.fired_ns) != fired;
	}
	return bad;
}

static void test_timer_cancel_race(void)
{
	KTEST_CHECK(ktest_threads(smp_nr_online() + 1, race_cancel, NULL) == 0);
}

static int sleep_some(void *arg)
{
	int bad = 0;

	(void)arg;
	for (uint64_t i = 1; i < 20; i++) {
		uint64_t ns = i * 100000, start = ktime_get_ns();

		bad += thread_sleep_ns(ns) != 0;
		bad += ktime_get_ns() - start < ns;
	}
	return bad;
}

static void test_sleep(void)
{
	KTEST_CHECK(ktest_threads(2 * smp_nr_online(), sleep_some, NULL) == 0);
}

/* Time must not go back, whichever CPU reads it. */
static _Atomic uint64_t highest_ns;

static int read_clock(void *arg)
{
	int bad = 0;

	(void)arg;
	for (int i = 0; i < 5000; i++) {
		uint64_t seen = atomic_load(&highest_ns), now = ktime_get_ns();

		bad += now < seen;
		while (now > seen && !atomic_compare_exchange_weak(&highest_ns, &seen, now))
			;
	}
	return bad;
}

static void test_clock_is_monotonic(void)
{
	KTEST_CHECK(ktest_threads(smp_nr_online() + 1, read_clock, NULL) == 0);
}

struct test_work {
	struct work work;
	_Atomic uint32_t cpu; /* + 1 */
	_Atomic uint32_t nr;
	bool in_thread;
};

static void note_cpu(struct work *work)
{
	struct test_work *w = container_of(work, struct test_work, work);

	w->in_thread = preempt_count() == 0;
	atomic_store(&w->cpu, cpu_local_read(id) + 1);
	atomic_fetch_add(&w->nr, 1);
}

static void test_work(void)
{
	static struct test_work works[MAX_CPUS];

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		works[cpu] = (struct test_work){ 0 };
		work_init(&works[cpu].work, note_cpu);
		KTEST_CHECK(queue_work_on(cpu, &works[cpu].work));
	}
	work_flush();
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		KTEST_CHECK(atomic_load(&works[cpu].cpu) == cpu + 1);
		KTEST_CHECK(atomic_load(&works[cpu].nr) == 1 && works[cpu].in_thread);
	}
}

static _Atomic uint32_t nr_delayed;

static void count_delayed(struct work *work)
{
	(void)work;
	atomic_fetch_add(&nr_delayed, 1);
}

static void test_delayed_work(void)
{
	struct delayed_work work = { 0 };

	atomic_store(&nr_delayed, 0);
	delayed_work_init(&work, count_delayed);
	queue_delayed_work(&work, 2 * NSEC_PER_MSEC);
	for (int i = 0; i < 500 && !atomic_load(&nr_delayed); i++)
		thread_sleep_ns(NSEC_PER_MSEC);
	KTEST_CHECK(atomic_load(&nr_delayed) == 1);
}

static _Atomic uint32_t nr_later;

static void count_later(void)
{
	atomic_fetch_add(&nr_later, 1);
}

/* Asking again does not put it off; asking after it has begun is a new call. */
static void test_call_later(void)
{
	static struct trace_plat_later later;

	for (uint32_t round = 0; round < 2; round++) {
		atomic_store(&nr_later, 0);
		trace_plat_call_later(&later, count_later, 20 * NSEC_PER_MSEC);
		trace_plat_call_later(&later, count_later, 3600 * NSEC_PER_SEC);
		for (int i = 0; i < 5000 && !atomic_load(&nr_later); i++)
			thread_sleep_ns(NSEC_PER_MSEC);
		KTEST_CHECK(atomic_load(&nr_later) == 1);
	}
}

const struct ktest ktest_timer[] = {
	{ "timer_fire", test_timers_fire },
	{ "timer_cancel", test_timer_cancel },
	{ "timer_cancel_race", test_timer_cancel_race },
	{ "timer_sleep", test_sleep },
	{ "timer_clock_is_monotonic", test_clock_is_monotonic },
	{ "timer_work", test_work },
	{ "timer_delayed_work", test_delayed_work },
	{ "trace_call_later", test_call_later },
	{ 0 },
};
