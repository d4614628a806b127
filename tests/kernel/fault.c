/*
 * `fault NAME`: a fault of that name, made on purpose, by a thread `fault`. Monitors have to see it,
 * see trace/monitors/monitor.h, and the black box what was before it.
 */
#include <arch/cpu.h>
#include <kernel/command.h>
#include <kernel/lock.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "test_commands.h"

static struct spinlock fault_lock;

/*
 * The thread sleeps until it has left the CPU. A slow host may let the time pass before it has done
 * so: then nothing was switched.
 */
static void switch_out_and_in(void)
{
	uint64_t since_ns = current_thread()->slice_start_ns;

	while (current_thread()->slice_start_ns == since_ns)
		thread_pause_ns(NSEC_PER_MSEC);
}

/* A thread that is woken while it still runs: between the state that it has set and the switch. */
static int fault_wake(void *arg)
{
	(void)arg;
	switch_out_and_in();
	preempt_disable(); /* a tick that switches it just here makes the wakeup a good one */
	set_current_state(THREAD_UNINTERRUPTIBLE);
	wake_up_process(current_thread());
	preempt_enable();
	schedule();
	return 0;
}

/* A thread that takes a spin lock, and goes to sleep with it. */
static int fault_lock_held(void *arg)
{
	(void)arg;
	spin_lock(&fault_lock);
	preempt_enable(); /* or the sleep would be noticed at once */
	switch_out_and_in();
	preempt_disable();
	spin_unlock(&fault_lock);
	return 0;
}

static _Atomic bool fault_nap_ends;

static int fault_nap(void *arg)
{
	(void)arg;
	while (!atomic_load(&fault_nap_ends))
		thread_pause_ns(NSEC_PER_MSEC);
	return 0;
}

/* A thread that is woken while this one keeps the CPU to itself for 3 ms. */
static int fault_late(void *arg)
{
	struct thread *nap;
	uint64_t since_ns;

	(void)arg;
	atomic_store(&fault_nap_ends, false);
	nap = thread_create_on(1, "nap", fault_nap, NULL, 0);
	if (!nap)
		return 1;
	while (atomic_load(&nap->state) == THREAD_RUNNING)
		thread_pause_ns(NSEC_PER_MSEC / 3);
	preempt_disable();
	while (atomic_load(&nap->state) != THREAD_RUNNING)
		arch_cpu_relax();
	since_ns = local_clock_ns();
	while (local_clock_ns() - since_ns < 3 * NSEC_PER_MSEC)
		arch_cpu_relax();
	atomic_store(&fault_nap_ends, true);
	preempt_enable();
	return thread_join_wait(nap);
}

/* An exception without a handler resets the machine, and nothing in the kernel gets to know of it. */
static int fault_triple(void *arg)
{
	const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) empty_idt = { 0, 0 };

	(void)arg;
	__asm__ volatile("lidt %0; int3" : : "m"(empty_idt));
	return 1;
}

static const struct {
	const char *name;
	int (*fn)(void *arg);
} faults[] = {
	{ "late", fault_late },
	{ "lock", fault_lock_held },
	{ "triple", fault_triple },
	{ "wake", fault_wake },
};

/* On one CPU, so that a lock is given back where it was taken. */
static int fault_run(struct command_env *env, int argc, char **argv)
{
	struct thread *thread;
	size_t i = 0;

	while (argc == 2 && i < ARRAY_SIZE(faults) && strcmp(argv[1], faults[i].name) != 0)
		i++;
	if (argc != 2 || i == ARRAY_SIZE(faults))
		return COMMAND_USAGE;
	thread = thread_create_on(1, "fault", faults[i].fn, NULL, 0);
	if (!thread) {
		command_printf(env, "out of memory\n");
		return 1;
	}
	return thread_join_wait(thread);
}

const struct command fault_commands[] = {
	{ .name = "fault",
	  .usage = "late|lock|triple|wake",
	  .help = "a fault on purpose: let a woken thread wait, sleep with a spin lock, reset "
		  "the machine by an exception without handler, wake a thread that runs",
	  .run = fault_run },
	{ 0 },
};
