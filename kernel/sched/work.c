/*
 * Work queues, see <kernel/work.h>: one worker thread for each CPU. Work that is queued during the
 * start, before there are workers, waits for them.
 */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/per_cpu_array.h>
#include <arch/smp.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/work.h>
#include <trace/events/workqueue.h>
#include <trace/fmt.h>
#include "kernel_init.h"

struct worker {
	struct list queue; /* guarded by lock; zero before its first use */
	struct waitq waitq;
	struct spinlock lock;
	bool has_thread;
} __attribute__((aligned(64)));

static struct worker workers[MAX_CPUS];
PER_CPU_ARRAY(workers);

/* The lock is held. */
static struct list *work_queue_of(struct worker *worker)
{
	if (!worker->queue.next)
		list_init(&worker->queue);
	return &worker->queue;
}

void work_init(struct work *work, void (*fn)(struct work *work))
{
	list_init(&work->link);
	work->fn = fn;
	atomic_store(&work->is_pending, 0);
}

bool queue_work_on(uint32_t cpu, struct work *work)
{
	struct worker *worker = &workers[cpu];
	uint64_t flags;

	ASSERT(cpu < smp_nr_cpus());
	if (atomic_exchange(&work->is_pending, 1))
		return false;
	flags = spin_lock_irqsave(&worker->lock);
	list_add_tail(work_queue_of(worker), &work->link);
	trace_workqueue_queue_work((int)cpu, work);
	trace_workqueue_activate_work(work);
	spin_unlock_irqrestore(&worker->lock, flags);
	waitq_wake_one(&worker->waitq);
	return true;
}

bool queue_work(struct work *work)
{
	return queue_work_on(cpu_local_read(id), work);
}

static struct work *work_take(struct worker *worker)
{
	struct work *work = NULL;
	uint64_t flags = spin_lock_irqsave(&worker->lock);

	if (!list_empty(work_queue_of(worker))) {
		work = list_entry(worker->queue.next, struct work, link);
		list_remove(&work->link);
	}
	spin_unlock_irqrestore(&worker->lock, flags);
	return work;
}

static bool work_has(void *arg)
{
	struct worker *worker = arg;
	uint64_t flags = spin_lock_irqsave(&worker->lock);
	bool has = !list_empty(work_queue_of(worker));

	spin_unlock_irqrestore(&worker->lock, flags);
	return has;
}

static int kworker(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		struct work *work = work_take(worker);
		void (*fn)(struct work * work);

		if (!work) {
			waitq_wait(&worker->waitq, work_has, worker, true, WAIT_FOREVER);
			continue;
		}
		fn = work->fn;
		trace_workqueue_execute_start(work);
		atomic_store(&work->is_pending, 0);
		fn(work); /* `work` may be gone afterwards */
		trace_workqueue_execute_end(work, (void *)fn);
		cond_resched();
	}
	return 0;
}

int work_start_threads(void)
{
	char name[THREAD_NAME_LEN];

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu) || workers[cpu].has_thread)
			continue;
		trace_snprintf(name, sizeof(name), "kworker/%u", cpu);
		if (!thread_create_on(1ull << cpu, name, kworker, &workers[cpu],
				      THREAD_DETACHED | THREAD_SERVICE))
			return -ENOMEM;
		workers[cpu].has_thread = true;
	}
	return 0;
}

struct barrier {
	struct work work;
	struct completion reached;
};

static void work_reach_barrier(struct work *work)
{
	complete(&container_of(work, struct barrier, work)->reached);
}

void work_flush(void)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct barrier barrier = { 0 };

		if (!workers[cpu].has_thread)
			continue;
		work_init(&barrier.work, work_reach_barrier);
		queue_work_on(cpu, &barrier.work);
		wait_for_completion(&barrier.reached);
	}
}

static void work_delayed_due(struct timer *timer)
{
	queue_work(&container_of(timer, struct delayed_work, timer)->work);
}

void delayed_work_init(struct delayed_work *work, void (*fn)(struct work *work))
{
	work_init(&work->work, fn);
	timer_setup(&work->timer, work_delayed_due);
}

void queue_delayed_work(struct delayed_work *work, uint64_t delay_ns)
{
	timer_start(&work->timer, ktime_get_ns() + delay_ns);
}
