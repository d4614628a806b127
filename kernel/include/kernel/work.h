/*
 * Deferred work: functions that run soon, in thread context, on a worker thread of the CPU that
 * queued them.
 *
 * Context:   queue: any but NMI. flush: thread.
 * Locking:   inside.
 * Ownership: the caller's struct; it must stay until its function has begun.
 */
#ifndef KERNEL_WORK_H
#define KERNEL_WORK_H

#include <kernel/base.h>
#include <kernel/list.h>
#include <kernel/timer.h>

struct work {
	struct list link;
	void (*fn)(struct work *work);
	_Atomic uint32_t is_pending; /* queued, and its function has not begun */
};

struct delayed_work {
	struct work work;
	struct timer timer;
};

void work_init(struct work *work, void (*fn)(struct work *work));
/* Have the work run on this CPU's worker. False when it is queued already: it runs once. */
bool queue_work(struct work *work);
/* The same on the worker of `cpu`, which runs elsewhere while that CPU is offline. */
bool queue_work_on(uint32_t cpu, struct work *work);
/*
 * Wait until everything queued before the call, on all CPUs, has run. Delayed work counts from the
 * end of its delay.
 */
void work_flush(void);

void delayed_work_init(struct delayed_work *work, void (*fn)(struct work *work));
/* Queue it `delay_ns` from now. If it is still waiting, the new delay counts. */
void queue_delayed_work(struct delayed_work *work, uint64_t delay_ns);

#endif
