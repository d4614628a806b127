/*
 * Deferred work: functions that run soon, in thread context, on a worker thread of the CPU that
 * queued them.
 *
 * Context:   queue: any but NMI. flush, cancel: thread.
 * Ownership: the caller's struct, until its function has begun.
 */
#ifndef KERNEL_WORK_H
#define KERNEL_WORK_H

#include <kernel/base.h>
#include <kernel/list.h>
#include <kernel/timer.h>

struct work {
	struct list link;
	void (*fn)(struct work *work);
	_Atomic uint32_t is_pending;
};

struct delayed_work {
	struct work work;
	struct timer timer;
};

void work_init(struct work *work, void (*fn)(struct work *work));
/* False when it was queued already and has not begun. */
bool work_queue(struct work *work);
/* The same on the worker of `cpu`, which is online. */
bool work_queue_on(uint32_t cpu, struct work *work);
/* Wait until everything queued before the call, on all CPUs, has run. */
void work_flush(void);

void delayed_work_init(struct delayed_work *work, void (*fn)(struct work *work));
void delayed_work_queue(struct delayed_work *work, uint64_t delay_ns);
bool delayed_work_cancel(struct delayed_work *work);

#endif
