/* Real-time threads: who runs before whom. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define NR_THREADS 4
#define BOUND_NS   (2000 * NSEC_PER_MSEC) /* for what should take no time */

static struct {
	_Atomic uint32_t nr_started;
	_Atomic uint32_t order[NR_THREADS]; /* by start */
} rt;

static uint64_t here(void)
{
	return 1ull << cpu_local_read(id);
}

static int note_start(void *arg)
{
	uint32_t place = atomic_fetch_add(&rt.nr_started, 1);

	atomic_store(&rt.order[place], (uint32_t)(uintptr_t)arg);
	return 0;
}

static bool wait_for_started(uint32_t nr, uint64_t bound_ns)
{
	uint64_t end_ns = ktime_get_ns() + bound_ns;

	while (atomic_load(&rt.nr_started) < nr && ktime_get_ns() < end_ns)
		arch_cpu_relax();
	return atomic_load(&rt.nr_started) >= nr;
}

/* Starts, and runs until another one has started too, or for a while. */
static int wait_for_other(void *arg)
{
	atomic_fetch_add(&rt.nr_started, 1);
	return !wait_for_started(2, *(const uint64_t *)arg);
}

/* Not started. */
static struct thread *prepare(uint64_t cpus, uint32_t prio, int (*fn)(void *arg), void *arg)
{
	struct thread *thread = kernel_clone("ktest-rt", fn, arg, 0);

	if (!KTEST_NEED(thread != NULL))
		return NULL;
	thread->affinity = cpus;
	thread->policy = prio ? THREAD_FIFO : THREAD_NORMAL;
	thread->rt_priority = (uint8_t)prio;
	return thread;
}

/* The caller stays on its CPU, with this priority, until leave(). */
static void enter(uint32_t prio)
{
	atomic_store(&rt.nr_started, 0);
	preempt_disable();
	thread_set_affinity(current_thread(), here());
	preempt_enable();
	if (prio)
		thread_set_policy(current_thread(), THREAD_FIFO, prio);
}

static void leave(void)
{
	thread_set_policy(current_thread(), THREAD_NORMAL, 0);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

static void test_rt_policies(void)
{
	struct thread *self = current_thread();

	KTEST_CHECK(thread_set_policy(self, THREAD_FIFO, 0) == -EINVAL);
	KTEST_CHECK(thread_set_policy(self, THREAD_RR, 100) == -EINVAL);
	KTEST_CHECK(thread_set_policy(self, THREAD_NORMAL, 1) == -EINVAL);
	KTEST_CHECK(thread_set_policy(self, (enum thread_policy)7, 1) == -EINVAL);
	KTEST_CHECK(self->policy == THREAD_NORMAL && self->rt_priority == 0);
	KTEST_CHECK(thread_set_policy(self, THREAD_RR, 99) == 0 && self->rt_priority == 99);
	KTEST_CHECK(thread_set_policy(self, THREAD_NORMAL, 0) == 0 && self->rt_priority == 0);
}

/* It runs before the one that starts it goes on. */
static void test_rt_preempts_normal(void)
{
	struct thread *thread;

	enter(0);
	thread = prepare(here(), 1, note_start, NULL);
	if (thread) {
		wake_up_new_thread(thread);
		KTEST_CHECK(atomic_load(&rt.nr_started) == 1);
		thread_join_wait(thread);
	}
	leave();
}

static void test_rt_order(void)
{
	static const uint8_t prios[NR_THREADS] = { 10, 30, 20, 30 };
	static const uint32_t wanted[NR_THREADS] = { 1, 3, 2, 0 };
	struct thread *threads[NR_THREADS];

	enter(90);
	for (uintptr_t i = 0; i < NR_THREADS; i++) {
		threads[i] = prepare(here(), prios[i], note_start, (void *)i);
		if (threads[i])
			wake_up_new_thread(threads[i]);
	}
	KTEST_CHECK(atomic_load(&rt.nr_started) == 0);
	for (int i = 0; i < NR_THREADS; i++) {
		if (threads[i])
			thread_join_wait(threads[i]);
	}
	for (int i = 0; i < NR_THREADS; i++)
		KTEST_CHECK(atomic_load(&rt.order[i]) == wanted[i]);
	leave();
}

/* One that waits goes to its new place at once. */
static void test_rt_change_while_waiting(void)
{
	struct thread *first, *second;

	enter(90);
	first = prepare(here(), 20, note_start, (void *)1);
	second = prepare(here(), 10, note_start, (void *)2);
	if (first && second) {
		wake_up_new_thread(first);
		wake_up_new_thread(second);
		KTEST_CHECK(thread_set_policy(second, THREAD_FIFO, 30) == 0);
		thread_join_wait(first);
		thread_join_wait(second);
		KTEST_CHECK(atomic_load(&rt.order[0]) == 2);
	}
	leave();
}

/* Two of one priority on one CPU that do not sleep: RR takes turns, FIFO does not. */
static uint32_t run_pair(enum thread_policy policy, uint64_t bound_ns)
{
	struct thread *a, *b;
	uint32_t nr_alone = 0;

	enter(90);
	a = prepare(here(), 5, wait_for_other, &bound_ns);
	b = prepare(here(), 5, wait_for_other, &bound_ns);
	if (a && b) {
		a->policy = b->policy = (uint8_t)policy;
		wake_up_new_thread(a);
		wake_up_new_thread(b);
		nr_alone += (uint32_t)thread_join_wait(a);
		nr_alone += (uint32_t)thread_join_wait(b);
	}
	leave();
	return nr_alone;
}

static void test_rt_turns(void)
{
	KTEST_CHECK(run_pair(THREAD_RR, BOUND_NS) == 0);
	KTEST_CHECK(run_pair(THREAD_FIFO, 150 * NSEC_PER_MSEC) == 1);
}

/* A CPU with less urgent work takes a thread that would have to wait. */
static void test_rt_spreads(void)
{
	uint64_t bound_ns = BOUND_NS;
	struct thread *a, *b;

	if (smp_nr_online() < 2)
		return;
	enter(50);
	a = prepare(THREAD_ANY_CPU, 5, wait_for_other, &bound_ns);
	b = prepare(THREAD_ANY_CPU, 5, wait_for_other, &bound_ns);
	if (a && b) {
		wake_up_new_thread(a);
		wake_up_new_thread(b);
		KTEST_CHECK(wait_for_started(1, BOUND_NS)); /* we do not give way */
		KTEST_CHECK(thread_join_wait(a) == 0);
		KTEST_CHECK(thread_join_wait(b) == 0);
	}
	leave();
}

struct spin {
	const struct thread *other;
	uint64_t until_other_ran_ns;
	uint64_t longest_ns;
};

static int spin(void *arg)
{
	const struct spin *spin = arg;
	uint64_t end_ns = ktime_get_ns() + spin->longest_ns;

	while (ktime_get_ns() < end_ns && spin->other->runtime_ns < spin->until_other_ran_ns)
		arch_cpu_relax();
	return 0;
}

static _Atomic bool is_over;

static int spin_until_over(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over))
		arch_cpu_relax();
	return 0;
}

/*
 * The share of a CPU that a normal thread gets while a real-time thread spins there, which it does until the
 * normal one had `enough_ns`, but no longer than `longest_ns`.
 */
static uint64_t share_of(uint64_t enough_ns, uint64_t longest_ns, bool is_urgent)
{
	struct spin spin_args = { .until_other_ran_ns = enough_ns, .longest_ns = longest_ns };
	struct thread *normal, *urgent;
	uint64_t ran_ns = 0;

	enter(60);
	atomic_store(&is_over, false);
	normal = prepare(here(), 0, spin_until_over, NULL);
	spin_args.other = normal;
	urgent = prepare(here(), 50, spin, &spin_args);
	if (normal && urgent) {
		if (is_urgent)
			thread_press(normal);
		wake_up_new_thread(normal);
		wake_up_new_thread(urgent);
		thread_join_wait(urgent);
		ran_ns = normal->runtime_ns;
		atomic_store(&is_over, true);
		thread_join_wait(normal);
	}
	leave();
	return ran_ns;
}

static uint64_t normal_share(uint64_t enough_ns, uint64_t longest_ns)
{
	return share_of(enough_ns, longest_ns, false);
}

/* A thread that spins leaves the others what the limit says, and without a limit nothing. */
static void test_rt_limit(void)
{
	int period_us = sched_rt_period_us(), runtime_us = sched_rt_runtime_us();

	KTEST_CHECK(sched_rt_set_runtime_us(-1) == 0);
	KTEST_CHECK(sched_rt_set_period_us(40000) == 0);
	thread_pause_ns(50 * NSEC_PER_MSEC); /* a period without */
	KTEST_CHECK(normal_share(UINT64_MAX, 100 * NSEC_PER_MSEC) == 0);
	KTEST_CHECK(share_of(UINT64_MAX, 50 * NSEC_PER_MSEC, true) == 0);
	KTEST_CHECK(sched_rt_set_runtime_us(0) == 0);
	KTEST_CHECK(normal_share(UINT64_MAX, 100 * NSEC_PER_MSEC) == 0);
	KTEST_CHECK(sched_rt_set_runtime_us(20000) == 0);
	KTEST_CHECK(normal_share(10 * NSEC_PER_MSEC, 10 * BOUND_NS) >= 10 * NSEC_PER_MSEC);
	KTEST_CHECK(sched_rt_set_period_us(period_us) == 0);
	KTEST_CHECK(sched_rt_set_runtime_us(runtime_us) == 0);
}

static void test_rt_limit_rules(void)
{
	int period_us = sched_rt_period_us(), runtime_us = sched_rt_runtime_us();

	KTEST_CHECK(sched_rt_set_runtime_us(-2) == -EINVAL);
	KTEST_CHECK(sched_rt_set_runtime_us(period_us + 1) == -EINVAL);
	KTEST_CHECK(sched_rt_set_period_us(runtime_us - 1) == -EINVAL);
	KTEST_CHECK(sched_rt_set_period_us(0) == -EINVAL && sched_rt_set_period_us(-1) == -EINVAL);
	KTEST_CHECK(sched_rt_period_us() == period_us && sched_rt_runtime_us() == runtime_us);
	KTEST_CHECK(sched_rt_set_runtime_us(period_us) == 0);
	KTEST_CHECK(sched_rt_set_period_us(period_us - 1) == -EINVAL);
	KTEST_CHECK(sched_rt_set_runtime_us(0) == 0);
	KTEST_CHECK(sched_rt_set_period_us(0) == -EINVAL);
	KTEST_CHECK(sched_rt_set_period_us(1) == 0 && sched_rt_set_runtime_us(1) == 0);
	KTEST_CHECK(sched_rt_set_period_us(period_us) == 0);
	KTEST_CHECK(sched_rt_set_runtime_us(runtime_us) == 0);
}

static int leave_at_once(void *arg)
{
	return (int)(intptr_t)arg;
}

/* A real-time thread that is to leave code gets a turn from another of its priority. */
static void test_rt_urgent_behind_its_like(void)
{
	struct spin spin_args = { .until_other_ran_ns = 1, .longest_ns = 2 * BOUND_NS };
	struct thread *other, *spinner;

	enter(60);
	other = prepare(here(), 50, leave_at_once, NULL);
	spin_args.other = other;
	spinner = prepare(here(), 50, spin, &spin_args);
	if (KTEST_NEED(other && spinner)) {
		uint64_t begin_ns = ktime_get_ns();

		wake_up_new_thread(spinner);
		wake_up_new_thread(other);
		atomic_store(&other->urgent_until_ns, UINT64_MAX);
		KTEST_CHECK(thread_join_wait(spinner) == 0 && ktime_get_ns() - begin_ns < BOUND_NS);
		KTEST_CHECK(thread_join_wait(other) == 0);
	}
	leave();
}

/* Spins until is_over, or for too long. */
static int spin_bounded(void *arg)
{
	uint64_t end_ns = ktime_get_ns() + 2 * BOUND_NS;

	(void)arg;
	while (!atomic_load(&is_over) && ktime_get_ns() < end_ns)
		arch_cpu_relax();
	return !atomic_load(&is_over);
}

/* After its turn it goes behind the other: that one goes on, though this one never sleeps. */
static void test_rt_urgent_goes_back(void)
{
	struct spin spin_args = { .until_other_ran_ns = 1, .longest_ns = 4 * BOUND_NS };
	struct thread *other, *spinner;

	enter(60);
	atomic_store(&is_over, false);
	other = prepare(here(), 50, spin_bounded, NULL);
	spin_args.other = other;
	spinner = prepare(here(), 50, spin, &spin_args);
	if (KTEST_NEED(other && spinner)) {
		wake_up_new_thread(spinner);
		wake_up_new_thread(other);
		atomic_store(&other->urgent_until_ns, UINT64_MAX);
		KTEST_CHECK(thread_join_wait(spinner) == 0);
		atomic_store(&is_over, true);
		KTEST_CHECK(thread_join_wait(other) == 0);
	}
	leave();
}

static struct {
	struct mutex mutex;
	struct thread *_Atomic waiter; /* until it has the mutex */
	_Atomic uint32_t nr_unpressed_early;
} held;

static int hold_while_asleep(void *arg)
{
	(void)arg;
	mutex_lock(&held.mutex);
	atomic_fetch_add(&rt.nr_started, 1);
	thread_pause_ns(20 * NSEC_PER_MSEC);
	mutex_unlock(&held.mutex);
	return 0;
}

static TRACE_NOTRACE void note_unpressed(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	struct thread *waiter = held.waiter;

	(void)ip, (void)parent_ip, (void)ops;
	if (fregs->rdi == (uintptr_t)&held.mutex && waiter && !atomic_load(&waiter->on_queue))
		atomic_fetch_add(&held.nr_unpressed_early, 1);
}

/*
 * The holder of a mutex wakes behind one of its priority that never sleeps. It is held up until the
 * waiter is awake: otherwise a tick before that would put it behind the other one again.
 */
static void test_rt_holder_behind_its_like(void)
{
	static struct ftrace_ops ops = { .func = note_unpressed };
	struct thread *holder, *spinner;

	KTEST_CHECK(ftrace_set_filter(&ops, "mutex_unpress", 13, true) == 0 &&
		    KTEST_NEED(register_ftrace_function(&ops) == 0));
	held.waiter = current_thread();
	enter(60);
	atomic_store(&is_over, false);
	holder = prepare(here(), 50, hold_while_asleep, NULL);
	spinner = prepare(here(), 50, spin_bounded, NULL);
	if (KTEST_NEED(holder && spinner)) {
		wake_up_new_thread(holder);
		while (!atomic_load(&rt.nr_started))
			thread_pause_ns(NSEC_PER_MSEC);
		wake_up_new_thread(spinner);
		mutex_lock(&held.mutex);
		held.waiter = NULL;
		mutex_unlock(&held.mutex);
		atomic_store(&is_over, true);
		KTEST_CHECK(thread_join_wait(spinner) == 0 && thread_join_wait(holder) == 0);
	}
	leave();
	KTEST_CHECK(unregister_ftrace_function(&ops) == 0 && !held.nr_unpressed_early);
	ftrace_free_filter(&ops);
}

/* An urgent one need not wait for that: here it would be for 9 seconds. */
static void test_rt_urgent_share(void)
{
	int period_us = sched_rt_period_us(), runtime_us = sched_rt_runtime_us();

	KTEST_CHECK(sched_rt_set_period_us(10000000) == 0);
	KTEST_CHECK(sched_rt_set_runtime_us(9990000) == 0);
	KTEST_CHECK(share_of(5 * NSEC_PER_MSEC, 2 * BOUND_NS, true) >= 5 * NSEC_PER_MSEC);
	KTEST_CHECK(sched_rt_set_runtime_us(runtime_us) == 0);
	KTEST_CHECK(sched_rt_set_period_us(period_us) == 0);
}

/* ---- Who is waited for is urgent, too ---- */

static struct {
	struct mutex outer, inner;
	_Atomic uint32_t nr_had; /* how many have had `outer` behind the holder */
	_Atomic bool has_outer;
} chain;

static bool wait_for_sleep(struct thread *thread)
{
	uint64_t end_ns = ktime_get_ns() + 10 * BOUND_NS;

	while (!(atomic_load(&thread->sleeps_in_waitq) && !atomic_load(&thread->on_cpu)) &&
	       ktime_get_ns() < end_ns)
		thread_pause_ns(NSEC_PER_MSEC / 4);
	return atomic_load(&thread->sleeps_in_waitq);
}

static bool wait_for_urgent(struct thread *thread, uint32_t nr)
{
	uint64_t end_ns = ktime_get_ns() + 10 * BOUND_NS;

	while (atomic_load(&thread->nr_urgent) != nr && ktime_get_ns() < end_ns)
		thread_pause_ns(NSEC_PER_MSEC / 4);
	return atomic_load(&thread->nr_urgent) == nr;
}

static int hold_outer(void *arg)
{
	(void)arg;
	mutex_lock(&chain.outer);
	atomic_store(&chain.has_outer, true);
	mutex_lock(&chain.inner);
	mutex_unlock(&chain.inner);
	mutex_unlock(&chain.outer);
	return 0;
}

/* Returns its place among those that have had it. */
static int take_outer(void *is_urgent)
{
	int place;

	if (is_urgent)
		thread_urgent_begin();
	mutex_lock(&chain.outer);
	place = (int)atomic_fetch_add(&chain.nr_had, 1);
	mutex_unlock(&chain.outer);
	if (is_urgent)
		thread_urgent_end();
	return place;
}

/*
 * The test holds `inner`, for which the holder of `outer` sleeps, for which a normal thread sleeps.
 * One that is urgent comes, or real-time, and then both holders are urgent; it also gets the mutex
 * before the other that came earlier.
 */
static void chain_of_two(bool is_rt)
{
	struct thread *self = current_thread(), *holder, *normal, *waiter;
	uint32_t before = atomic_load(&self->nr_urgent);

	atomic_store(&chain.nr_had, 0);
	atomic_store(&chain.has_outer, false);
	mutex_lock(&chain.inner);
	holder = thread_create("ktest-rt", hold_outer, NULL, 0);
	KTEST_CHECK(wait_for_sleep(holder) && atomic_load(&chain.has_outer));
	normal = thread_create("ktest-rt", take_outer, NULL, 0);
	KTEST_CHECK(wait_for_sleep(normal) && wait_for_urgent(holder, 0));
	waiter = prepare(THREAD_ANY_CPU, is_rt ? 10 : 0, take_outer, is_rt ? NULL : &chain);
	wake_up_new_thread(waiter);
	KTEST_CHECK(wait_for_urgent(holder, 1) && wait_for_urgent(self, before + 1));
	mutex_unlock(&chain.inner);
	KTEST_CHECK(atomic_load(&self->nr_urgent) == before && wait_for_urgent(holder, 0));
	KTEST_CHECK(thread_join_wait(waiter) == 0 && thread_join_wait(normal) == 1);
	KTEST_CHECK(thread_join_wait(holder) == 0);
}

static void test_rt_mutex(void)
{
	chain_of_two(false);
	chain_of_two(true);
}

static int wait_to_be_urgent(void *arg)
{
	(void)arg;
	return wait_for_urgent(current_thread(), 1) ? 3 : 4;
}

static int join_one(void *arg)
{
	return thread_join_wait(arg);
}

/* One that is joined by one that is joined, also when that was not urgent yet. */
static void test_rt_join(void)
{
	struct thread *last = thread_create("ktest-rt", wait_to_be_urgent, NULL, 0);
	struct thread *first;

	if (!KTEST_NEED(last != NULL))
		return;
	first = thread_create("ktest-rt", join_one, last, 0);
	if (!KTEST_NEED(first != NULL))
		return;
	KTEST_CHECK(wait_for_sleep(first));
	thread_urgent_begin();
	KTEST_CHECK(thread_join_wait(first) == 3);
	thread_urgent_end();
}

const struct ktest ktest_rt[] = {
	{ "rt_policies", test_rt_policies },
	{ "rt_preempts_normal", test_rt_preempts_normal },
	{ "rt_order", test_rt_order },
	{ "rt_urgent_behind_its_like", test_rt_urgent_behind_its_like },
	{ "rt_urgent_goes_back", test_rt_urgent_goes_back },
	{ "rt_holder_behind_its_like", test_rt_holder_behind_its_like },
	{ "rt_change_while_waiting", test_rt_change_while_waiting },
	{ "rt_turns", test_rt_turns },
	{ "rt_spreads", test_rt_spreads },
	{ "rt_limit", test_rt_limit },
	{ "rt_limit_rules", test_rt_limit_rules },
	{ "rt_urgent_share", test_rt_urgent_share },
	{ "rt_mutex", test_rt_mutex },
	{ "rt_join", test_rt_join },
	{ 0 },
};
