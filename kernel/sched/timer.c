/* Timers, see <kernel/timer.h>: a heap per CPU, run in SOFTIRQ_TIMER. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/cpu_local.h>
#include <arch/per_cpu_array.h>
#include <arch/timer.h>
#include <kernel/lock.h>
#include <kernel/softirq.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/upcall.h>
#include <trace/events/timer.h>
#include "kernel_init.h"

enum {
	TIMER_IDLE,
	TIMER_QUEUED
};

struct timer_queue {
	struct spinlock lock;
	struct heap heap;
	struct timer *_Atomic firing; /* its function runs now */
} __attribute__((aligned(64)));

static struct timer_queue queues[MAX_CPUS];
PER_CPU_ARRAY(queues);

void timer_setup(struct timer *timer, void (*fn)(struct timer *timer))
{
	*timer = (struct timer){ .fn = fn };
	trace_timer_init(timer);
}

/* Set the hardware timer to the first deadline of this CPU's queue. Interrupts off. */
static void timer_arm_first_locked(struct timer_queue *queue)
{
	struct heap_node *first = heap_first(&queue->heap);

	arch_timer_arm_ns(first ? first->key : TIMER_NONE);
}

void timer_start(struct timer *timer, uint64_t deadline_ns)
{
	struct timer_queue *queue;
	uint64_t flags;

	timer_cancel(timer);
	flags = arch_irq_save();
	queue = &queues[cpu_local_read(id)];
	spin_lock(&queue->lock);
	timer->node.key = deadline_ns;
	atomic_store(&timer->cpu, cpu_local_read(id));
	atomic_store(&timer->state, TIMER_QUEUED);
	heap_insert(&queue->heap, &timer->node);
	if (trace_timer_start_enabled())
		trace_timer_start(timer, local_clock_ns(), cpu_local_read(id));
	if (heap_first(&queue->heap) == &timer->node)
		timer_arm_first_locked(queue);
	spin_unlock(&queue->lock);
	arch_irq_restore(flags);
}

/* The timer may move to another CPU's queue, in timers_take_from(), until it is locked. */
static struct timer_queue *timer_lock_queue_of(struct timer *timer, uint64_t *out_flags)
{
	for (;;) {
		struct timer_queue *queue = &queues[atomic_load(&timer->cpu)];

		*out_flags = spin_lock_irqsave(&queue->lock);
		if (queue == &queues[atomic_load(&timer->cpu)])
			return queue;
		spin_unlock_irqrestore(&queue->lock, *out_flags);
	}
}

bool timer_cancel(struct timer *timer)
{
	struct timer_queue *queue;
	bool was_queued;
	uint64_t flags;

	if (atomic_load(&timer->state) != TIMER_QUEUED)
		return false;
	/* The hardware timer stays as it is and may fire for nothing: it may be another CPU's. */
	queue = timer_lock_queue_of(timer, &flags);
	was_queued = atomic_load(&timer->state) == TIMER_QUEUED;
	if (was_queued) {
		heap_remove(&queue->heap, &timer->node);
		atomic_store(&timer->state, TIMER_IDLE);
		trace_timer_cancel(timer);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return was_queued;
}

bool timer_cancel_sync(struct timer *timer)
{
	bool was_queued = timer_cancel(timer);
	struct timer_queue *queue = &queues[atomic_load(&timer->cpu)];

	while (atomic_load(&queue->firing) == timer)
		arch_cpu_relax();
	return was_queued;
}

/* Softirq: run what is due on this CPU. */
static void timer_run_expired(void)
{
	struct timer_queue *queue = &queues[cpu_local_read(id)];
	uint64_t flags = spin_lock_irqsave(&queue->lock);
	struct heap_node *first;

	while ((first = heap_first(&queue->heap)) && first->key <= local_clock_ns()) {
		struct timer *timer = container_of(first, struct timer, node);

		heap_remove(&queue->heap, first);
		atomic_store(&queue->firing, timer);
		atomic_store(&timer->state, TIMER_IDLE);
		spin_unlock_irqrestore(&queue->lock, flags);
		if (trace_timer_expire_entry_enabled())
			trace_timer_expire_entry(timer, local_clock_ns());
		timer->fn(timer); /* `timer` may be gone afterwards */
		trace_timer_expire_exit(timer);
		flags = spin_lock_irqsave(&queue->lock);
		atomic_store(&queue->firing, NULL);
	}
	timer_arm_first_locked(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
}

void timers_take_from(uint32_t cpu)
{
	struct timer_queue *from = &queues[cpu], *queue;
	uint64_t flags = arch_irq_save();
	struct heap_node *first;

	queue = &queues[cpu_local_read(id)];
	spin_lock(&queue->lock);
	spin_lock(&from->lock); /* no other function takes two */
	while ((first = heap_first(&from->heap))) {
		heap_remove(&from->heap, first);
		atomic_store(&container_of(first, struct timer, node)->cpu, cpu_local_read(id));
		heap_insert(&queue->heap, first);
	}
	spin_unlock(&from->lock);
	timer_arm_first_locked(queue);
	spin_unlock(&queue->lock);
	arch_irq_restore(flags);
}

void upcall_timer(void)
{
	raise_softirq(SOFTIRQ_TIMER);
}

void timers_init(void)
{
	open_softirq(SOFTIRQ_TIMER, timer_run_expired);
}
