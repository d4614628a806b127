/*
 * Ops that are switched while every CPU calls the functions: no call is missed, counted twice or
 * seen by an ops that did not ask for it; and memory that a preempted thread stands in is not reused.
 */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/smp.h>
#include <arch/unwind.h>
#include "ktest.h"
#include <kernel/string.h>
#include <kernel/text.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/arch_exec.h>
#include <trace/ftrace.h>

#define ROUNDS	 60u /* at most, and as many of them as there is time for */
#define LOAD_NS	 (100 * NSEC_PER_MSEC)
#define FEWEST	 4u
#define BATCH	 64u
#define OLD_PLUS 1000l
#define NEW_PLUS 2000l

static struct {
	_Atomic bool stop;
	_Atomic uint64_t nr_calls; /* made, of load_old() */
	_Atomic uint64_t nr_old;   /* of them, answered by load_old() */
	_Atomic uint64_t nr_new;   /* by load_new() */
	_Atomic uint64_t nr_wrong;
	_Atomic uint64_t nr_seen;   /* by the callback that is always there */
	_Atomic uint64_t nr_other;  /* by those that come and go */
	_Atomic uint64_t nr_direct; /* by the direct calls */
} load;

static TRACE_NOINLINE long load_old(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a + b + OLD_PLUS;
}

static TRACE_NOINLINE long load_new(long a, long b)
{
	__asm__ volatile("" : "+r"(a), "+r"(b));
	return a + b + NEW_PLUS;
}

/* For filters that go from one to the other. */
static TRACE_NOINLINE void load_first(void)
{
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE void load_second(void)
{
	__asm__ volatile("" : : : "memory");
}

static int worker(void *arg)
{
	(void)arg;
	while (!atomic_load(&load.stop)) {
		uint64_t start_ns = ktime_get_ns();

		for (long i = 0; i < (long)BATCH; i++) {
			long result = load_old(i, -i);

			atomic_fetch_add(&load.nr_old, result == OLD_PLUS);
			atomic_fetch_add(&load.nr_new, result == NEW_PLUS);
			atomic_fetch_add(&load.nr_calls, 1);
			load_first();
			load_second();
		}
		ktest_rest(start_ns);
	}
	return 0;
}

static struct thread *workers[MAX_CPUS];

static bool start_load(void)
{
	memset(&load, 0, sizeof(load));
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		workers[cpu] = NULL;
		if (smp_cpu_online(cpu))
			workers[cpu] = thread_create_on(1ull << cpu, "load", worker, NULL, 0);
	}
	while (workers[0] && !atomic_load(&load.nr_calls))
		cond_resched();
	return KTEST_NEED(workers[0] != NULL);
}

static void stop_load(void)
{
	atomic_store(&load.stop, true);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (workers[cpu])
			thread_join_wait(workers[cpu]);
	}
}

/* Whether there is another round. */
static bool goes_on(uint32_t round)
{
	static uint64_t end_ns;

	if (round == 0)
		end_ns = ktime_get_ns() + LOAD_NS;
	return round < FEWEST || (round < ROUNDS && ktime_get_ns() < end_ns);
}

/* Let some calls come by in this state. */
static void let_run(void)
{
	uint64_t until = atomic_load(&load.nr_calls) + 2ul * BATCH;

	while (atomic_load(&load.nr_calls) < until)
		cond_resched();
}

static TRACE_NOTRACE void check_arguments(const struct ftrace_regs *fregs)
{
	if (ftrace_regs_get_argument(fregs, 0) + ftrace_regs_get_argument(fregs, 1) != 0)
		atomic_fetch_add(&load.nr_wrong, 1);
}

static TRACE_NOTRACE void see_all(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	check_arguments(fregs);
	atomic_fetch_add(&load.nr_seen, 1);
}

static TRACE_NOTRACE void see_some(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				   struct ftrace_regs *fregs)
{
	const struct ftrace_regs *all = ftrace_get_regs(fregs, ops);

	(void)ip;
	check_arguments(fregs);
	if (all && (all->rsp != (uintptr_t)&fregs->parent || all->parent != parent_ip))
		atomic_fetch_add(&load.nr_wrong, 1);
	atomic_fetch_add(&load.nr_other, 1);
}

static TRACE_NOTRACE void to_new(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	check_arguments(fregs);
	ftrace_regs_set_instruction_pointer(fregs, (uintptr_t)load_new);
}

static TRACE_DIRECT_BODY void note_direct(long a, long b)
{
	if (a + b != 0)
		atomic_fetch_add(&load.nr_wrong, 1);
	atomic_fetch_add(&load.nr_direct, 1);
}

TRACE_DIRECT(direct_first, note_direct);
TRACE_DIRECT(direct_second, note_direct);

static struct ftrace_ops steady = { .func = see_all };
static struct ftrace_ops some = { .func = see_some };
static struct ftrace_ops some_regs = { .func = see_some, .flags = FTRACE_OPS_FL_SAVE_REGS };
static struct ftrace_ops replace = { .func = to_new,
				     .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY };

static void set_only(struct ftrace_ops *ops, void *ip)
{
	KTEST_CHECK(ftrace_set_filter_ip(ops, (uintptr_t)ip, false, true) == 0);
}

static void toggle(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		KTEST_CHECK(unregister_ftrace_function(ops) == 0);
	else
		KTEST_CHECK(register_ftrace_function(ops) == 0);
}

static void turn_off(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

/* Own trampoline, list, list with registers, and back, under one that sees every call. */
static void test_switching(void)
{
	set_only(&steady, load_old);
	set_only(&some, load_old);
	set_only(&some_regs, load_old);
	KTEST_CHECK(register_ftrace_function(&steady) == 0);
	if (start_load()) {
		for (uint32_t round = 0; goes_on(round); round++) {
			toggle(round % 3 ? &some_regs : &some);
			let_run();
		}
		stop_load();
	}
	KTEST_CHECK(atomic_load(&load.nr_seen) == atomic_load(&load.nr_calls));
	KTEST_CHECK(atomic_load(&load.nr_old) == atomic_load(&load.nr_calls));
	KTEST_CHECK(atomic_load(&load.nr_other) > 0 && atomic_load(&load.nr_wrong) == 0);
	turn_off(&some);
	turn_off(&some_regs);
	turn_off(&steady);
}

/* Every call passes exactly one of the direct calls, alone or beside others. */
static void test_direct(void)
{
	static struct ftrace_ops ops;
	uintptr_t targets[] = { (uintptr_t)direct_first, (uintptr_t)direct_second };

	set_only(&ops, load_old);
	set_only(&some, load_old);
	set_only(&some_regs, load_old);
	if (!KTEST_NEED(register_ftrace_direct(&ops, targets[0]) == 0))
		return;
	if (start_load()) {
		for (uint32_t round = 0; goes_on(round); round++) {
			KTEST_CHECK(modify_ftrace_direct(&ops, targets[(round + 1) % 2]) == 0);
			toggle(round % 3 ? &some_regs : &some);
			let_run();
		}
		stop_load();
	}
	KTEST_CHECK(atomic_load(&load.nr_direct) == atomic_load(&load.nr_calls));
	KTEST_CHECK(atomic_load(&load.nr_old) == atomic_load(&load.nr_calls));
	KTEST_CHECK(atomic_load(&load.nr_other) > 0 && atomic_load(&load.nr_wrong) == 0);
	turn_off(&some);
	turn_off(&some_regs);
	KTEST_CHECK(unregister_ftrace_direct(&ops, ops.direct_call, true) == 0);
}

/* A function that is replaced stays replaced, by whatever means, while others come and go. */
static void test_replacing(void)
{
	set_only(&replace, load_old);
	set_only(&some, load_old);
	KTEST_CHECK(register_ftrace_function(&replace) == 0);
	if (start_load()) {
		for (uint32_t round = 0; goes_on(round); round++) {
			uintptr_t jump = round % 4 ? (uintptr_t)load_new : 0;

			KTEST_CHECK(ftrace_set_site_jump(&replace, jump) == 0);
			if (round % 3)
				toggle(&some);
			let_run();
		}
		stop_load();
	}
	KTEST_CHECK(atomic_load(&load.nr_new) == atomic_load(&load.nr_calls));
	KTEST_CHECK(atomic_load(&load.nr_other) > 0 && atomic_load(&load.nr_wrong) == 0);
	if (start_load()) { /* now it comes and goes itself */
		for (uint32_t round = 0; goes_on(round); round++) {
			toggle(&replace);
			let_run();
		}
		stop_load();
	}
	KTEST_CHECK(atomic_load(&load.nr_new) > 0 && atomic_load(&load.nr_old) > 0);
	KTEST_CHECK(atomic_load(&load.nr_new) + atomic_load(&load.nr_old) ==
		    atomic_load(&load.nr_calls));
	turn_off(&some);
	turn_off(&replace);
}

static TRACE_NOTRACE void see_two(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	if (ip == (uintptr_t)load_first || ip == (uintptr_t)load_second)
		atomic_fetch_add(&load.nr_seen, 1);
	else
		atomic_fetch_add(&load.nr_wrong, 1);
}

static void switch_filters(struct ftrace_ops *ops)
{
	static const char *const names[] = { "load_first", "load_second" };
	void *const funcs[] = { load_first, load_second };

	for (uint32_t round = 0; goes_on(round); round++) {
		const char *name = names[round % 2];

		if (round % 4 < 2)
			set_only(ops, funcs[round % 2]);
		else
			KTEST_CHECK(ftrace_set_filter(ops, name, strlen(name), true) == 0);
		if (round % 8 == 0)
			let_run();
	}
}

/* A filter that is replaced never lets other functions through, not for an instant. */
static void test_reset(void)
{
	static struct ftrace_ops ops = { .func = see_two };
	static struct ftrace_ops ops_regs = { .func = see_two, .flags = FTRACE_OPS_FL_SAVE_REGS };

	set_only(&ops, load_first);
	set_only(&ops_regs, load_first);
	KTEST_CHECK(register_ftrace_function(&ops) == 0);
	if (start_load()) {
		switch_filters(&ops);
		KTEST_CHECK(register_ftrace_function(&ops_regs) == 0); /* by the list */
		switch_filters(&ops_regs);
		stop_load();
	}
	KTEST_CHECK(atomic_load(&load.nr_seen) > 0 && atomic_load(&load.nr_wrong) == 0);
	turn_off(&ops);
	turn_off(&ops_regs);
}

/* ---- A thread that was preempted inside a trampoline ---- */

#define PARK_CPU   1u
#define MAX_FRAMES 16
#define PARK_TRIES 2000u

static struct {
	_Atomic bool stop;
	struct semaphore wanted; /* the CPU of the other thread */
	_Atomic bool has_cpu;	 /* the urgent thread runs there */
	_Atomic bool gives_back;
	_Atomic bool unregistered;
	struct ftrace_ops ops;
} park;

static TRACE_NOINLINE void park_target(void)
{
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOTRACE void park_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static int parked_thread(void *arg)
{
	(void)arg;
	while (!atomic_load(&park.stop)) {
		for (uint32_t i = 0; i < BATCH; i++)
			park_target();
		cond_resched();
	}
	return 0;
}

/* More urgent than the other: takes its CPU wherever it stands. */
static int urgent_thread(void *arg)
{
	(void)arg;
	for (;;) {
		semaphore_down(&park.wanted);
		if (atomic_load(&park.stop))
			return 0;
		atomic_store(&park.has_cpu, true);
		while (!atomic_load(&park.gives_back))
			cond_resched(); /* a grace period need not wait for us */
		atomic_store(&park.has_cpu, false);
	}
}

static int unregister_thread(void *arg)
{
	(void)arg;
	unregister_ftrace_function(&park.ops);
	atomic_store(&park.unregistered, true);
	return 0;
}

static void take_cpu(void)
{
	atomic_store(&park.gives_back, false);
	semaphore_up(&park.wanted);
	while (!atomic_load(&park.has_cpu))
		cond_resched();
}

static void give_back_cpu(void)
{
	atomic_store(&park.gives_back, true);
	while (atomic_load(&park.has_cpu))
		cond_resched();
}

static bool stands_in_trampoline(const struct thread *thread)
{
	uintptr_t frames[MAX_FRAMES];
	size_t nr = arch_backtrace_context(&thread->context, frames, MAX_FRAMES);

	for (size_t i = 0; i < nr; i++) {
		if (frames[i] - park.ops.trampoline.addr < park.ops.trampoline.bytes)
			return true;
	}
	return false;
}

/* Preempt the thread until it is somewhere in the trampoline; its CPU is taken then. */
static bool park_thread(const struct thread *thread)
{
	for (uint32_t try = 0; try < PARK_TRIES; try++) {
		take_cpu();
		if (stands_in_trampoline(thread))
			return true;
		give_back_cpu();
		if (try % 8 == 0)
			thread_sleep_ns(NSEC_PER_MSEC / 20 * (try % 5));
	}
	return false;
}

/* Without a limit for real-time threads the parked thread stays where it is. */
static void check_memory_is_kept(const struct thread *parked)
{
	int runtime_us = sched_rt_runtime_us();
	const struct trace_trampoline tramp = park.ops.trampoline;
	size_t used = trace_exec_used();
	uint8_t code[TRACE_EXEC_UNIT];
	struct thread *remover;
	uintptr_t other;

	memcpy(code, (const void *)tramp.addr, tramp.bytes);
	KTEST_CHECK(sched_rt_set_runtime_us(-1) == 0);
	remover = thread_create_on(1, "remover", unregister_thread, NULL, 0);
	if (!KTEST_NEED(remover != NULL))
		return;
	for (uint32_t i = 0; i < 20; i++) { /* much longer than it takes otherwise */
		thread_sleep_ns(2 * NSEC_PER_MSEC);
		KTEST_CHECK(!atomic_load(&park.unregistered));
		KTEST_CHECK(memcmp(code, (const void *)tramp.addr, tramp.bytes) == 0);
	}
	KTEST_CHECK(*(const uint8_t *)(uintptr_t)park_target == 0x0f); /* the site is off already */
	KTEST_CHECK(trace_exec_used() == used);
	mutex_lock(&text_mutex);
	other = trace_exec_alloc(tramp.bytes);
	KTEST_CHECK(other && other != tramp.addr);
	if (other)
		trace_exec_free(other, tramp.bytes);
	mutex_unlock(&text_mutex);
	/* With one, it gets as much of its CPU as it needs to leave. */
	KTEST_CHECK(sched_rt_set_runtime_us(runtime_us) == 0);
	thread_join_wait(remover);
	give_back_cpu();
	KTEST_CHECK(atomic_load(&parked->urgent_until_ns));
	KTEST_CHECK(atomic_load(&park.unregistered));
	KTEST_CHECK(*(const uint8_t *)tramp.addr == 0xcc);
	KTEST_CHECK(trace_exec_used() < used);
}

static void park_and_unregister(void)
{
	struct thread *parked, *urgent;

	parked = thread_create_on(1ull << PARK_CPU, "parked", parked_thread, NULL, 0);
	urgent = thread_create_on(1ull << PARK_CPU, "urgent", urgent_thread, NULL, 0);
	if (KTEST_NEED(parked && urgent) &&
	    KTEST_NEED(thread_set_policy(urgent, THREAD_FIFO, 50) == 0) &&
	    KTEST_NEED(park_thread(parked)))
		check_memory_is_kept(parked);
	atomic_store(&park.stop, true);
	semaphore_up(&park.wanted);
	if (urgent)
		thread_join_wait(urgent);
	if (parked)
		thread_join_wait(parked);
}

static void test_parked(void)
{
	if (smp_nr_online() <= PARK_CPU || thread_set_affinity(current_thread(), 1) != 0)
		return;
	memset(&park, 0, sizeof(park));
	semaphore_init(&park.wanted, 0);
	park.ops.func = park_callback;
	set_only(&park.ops, park_target);
	if (KTEST_NEED(register_ftrace_function(&park.ops) == 0))
		park_and_unregister();
	turn_off(&park.ops);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
}

const struct ktest ktest_ops_load[] = {
	{ "ops_load_switching", test_switching }, { "ops_load_direct", test_direct },
	{ "ops_load_replacing", test_replacing }, { "ops_load_reset", test_reset },
	{ "ops_load_parked", test_parked },	  { 0 },
};
