/*
 * Grace periods, see <kernel/thread.h>.
 *
 * Tasks: a thread may stand in a trampoline only while it runs or waits for a CPU after being
 * preempted. A thread that sleeps got there by schedule() and has left it. So: remember the count
 * of voluntary switches of each runnable thread, and wait until each has moved or the thread
 * sleeps.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/time.h>
#include "sched.h"
#include "thread_list.h"

#define POLL_NS (1 * NSEC_PER_MSEC)

struct snapshot_entry {
	struct thread *thread; /* referenced */
	uint64_t nr_voluntary;
};

struct snapshot {
	struct snapshot_entry *entries;
	size_t nr;
	size_t max;
};

static bool may_be_inside(const struct thread *thread)
{
	return !(thread->flags & THREAD_IDLE) && thread != current_thread() &&
	       atomic_load(&thread->state) != THREAD_DEAD &&
	       (atomic_load(&thread->on_queue) != ON_QUEUE_NO || atomic_load(&thread->on_cpu));
}

static void snapshot_thread(struct thread *thread, void *arg)
{
	struct snapshot *snapshot = arg;

	if (!may_be_inside(thread))
		return;
	if (snapshot->nr < snapshot->max) {
		struct snapshot_entry *entry = &snapshot->entries[snapshot->nr];

		/* It may have died since it was asked: then it is out of everything. */
		if (!thread_try_get(thread))
			return;
		entry->thread = thread;
		entry->nr_voluntary = atomic_load(&thread->nr_voluntary);
	}
	snapshot->nr++;
}

static void put_snapshot(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->nr && i < snapshot->max; i++)
		thread_put(snapshot->entries[i].thread);
	kfree(snapshot->entries);
}

/* All runnable threads but the caller; tries until there is room for all of them. */
static void take_snapshot(struct snapshot *snapshot)
{
	size_t max = 64;

	for (;;) {
		*snapshot = (struct snapshot){ .max = max };
		snapshot->entries = kmalloc(max * sizeof(struct snapshot_entry));
		if (snapshot->entries) {
			thread_each(snapshot_thread, snapshot);
			if (snapshot->nr <= max)
				return;
			put_snapshot(snapshot);
			max = snapshot->nr + 32;
		} else {
			thread_sleep_ns(POLL_NS); /* memory comes back, or the machine is lost */
		}
	}
}

/* Sleep that Ctrl-C does not shorten: the callers wait for correctness. */
static void pause_ns(uint64_t ns)
{
	set_current_state(THREAD_UNINTERRUPTIBLE);
	schedule_until(ktime_ns() + ns);
	set_current_state(THREAD_RUNNING);
}

void synchronize_tasks(void)
{
	struct snapshot snapshot;

	/* Pairs with what the caller changed: no thread gets in any more after this. */
	atomic_thread_fence(memory_order_seq_cst);
	take_snapshot(&snapshot);
	for (size_t i = 0; i < snapshot.nr; i++) {
		struct snapshot_entry *entry = &snapshot.entries[i];

		while (may_be_inside(entry->thread) &&
		       atomic_load(&entry->thread->nr_voluntary) == entry->nr_voluntary)
			pause_ns(POLL_NS);
	}
	put_snapshot(&snapshot);
	/* Idle threads never sleep; all they do is one preempt-off section. */
	synchronize_preempt();
}

/* On each CPU, interrupts off: does this interrupt lie outside of every preempt-off section? */
static void note_quiescent(void *arg)
{
	_Atomic uint64_t *waiting = arg;
	struct run_queue *rq = this_run_queue();
	uint32_t inside = preempt_count() & (PREEMPT_DEPTH_MASK | PREEMPT_SOFTIRQ_MASK);

	/* The idle loop keeps the depth at 1 and is outside only while it is halted. */
	if (rq->running == rq->idle ? inside == 1 && rq->is_halted : inside == 0)
		atomic_fetch_and(waiting, ~(1ull << rq->cpu));
}

void synchronize_preempt(void)
{
	_Atomic uint64_t waiting;
	uint64_t passes[MAX_CPUS];

	/* The caller is in no such section, so its CPU is in none. */
	preempt_disable();
	atomic_store(&waiting, smp_online_mask() & ~(1ull << cpu_local_read(id)));
	preempt_enable();
	for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
		passes[cpu] = atomic_load(&run_queues[cpu].nr_passes);
	while (atomic_load(&waiting)) {
		smp_call_all(note_quiescent, &waiting, true);
		for (uint64_t left = atomic_load(&waiting); left; left &= left - 1) {
			uint32_t cpu = (uint32_t)__builtin_ctzll(left);

			if (atomic_load(&run_queues[cpu].nr_passes) != passes[cpu])
				atomic_fetch_and(&waiting, ~(1ull << cpu));
		}
		if (atomic_load(&waiting))
			yield();
	}
}
