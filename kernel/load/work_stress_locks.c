/*
 * stress locks: counters that only a lock keeps right, one for each kind of lock.
 */
#include <kernel/lock.h>
#include <kernel/thread.h>
#include "work_stress.h"

struct locks_shared {
	struct spinlock spin;
	struct spinlock irq_spin;
	struct mutex mutex;
	struct semaphore semaphore;
	/*
	 * Counters that are not atomic, each guarded by the lock of its name: a lock that fails
	 * makes its counter wrong.
	 */
	volatile uint64_t spin_count;
	volatile uint64_t irq_spin_count;
	volatile uint64_t mutex_count;
	volatile uint64_t semaphore_count;
};

static int locks_begin(struct stress_run *run)
{
	struct locks_shared *shared = run->shared;

	semaphore_init(&shared->semaphore, 1);
	return 0;
}

/* A wide window between reading and writing: without the lock it would be hit. */
static void stress_locks_count_up(volatile uint64_t *count)
{
	uint64_t value = *count;

	for (volatile int i = 0; i < 10; i++)
		;
	*count = value + 1;
}

static void locks_round(struct stress_worker *worker)
{
	struct locks_shared *shared = worker->run->shared;
	uint64_t flags;

	spin_lock(&shared->spin);
	stress_locks_count_up(&shared->spin_count);
	spin_unlock(&shared->spin);

	flags = spin_lock_irqsave(&shared->irq_spin);
	stress_locks_count_up(&shared->irq_spin_count);
	spin_unlock_irqrestore(&shared->irq_spin, flags);

	mutex_lock(&shared->mutex);
	stress_locks_count_up(&shared->mutex_count);
	if (stress_random(worker, 16) == 0)
		yield();
	mutex_unlock(&shared->mutex);

	semaphore_down(&shared->semaphore);
	stress_locks_count_up(&shared->semaphore_count);
	semaphore_up(&shared->semaphore);
}

static void stress_locks_check_count(struct stress_run *run, const char *name, uint64_t count,
				     uint64_t rounds)
{
	if (count != rounds)
		stress_fail(run, "%s: counted %lu of %lu", name, count, rounds);
}

static void locks_end(struct stress_run *run, uint64_t rounds)
{
	const struct locks_shared *shared = run->shared;

	stress_locks_check_count(run, "spinlock", shared->spin_count, rounds);
	stress_locks_check_count(run, "spinlock with interrupts off", shared->irq_spin_count,
				 rounds);
	stress_locks_check_count(run, "mutex", shared->mutex_count, rounds);
	stress_locks_check_count(run, "semaphore", shared->semaphore_count, rounds);
}

const struct stress_kind stress_locks = {
	.name = "locks",
	.checked = "no step of a counter lost under any lock",
	.shared_bytes = sizeof(struct locks_shared),
	.begin = locks_begin,
	.round = locks_round,
	.end = locks_end,
};
