/*
 * One-shot timers with nanosecond deadlines, on the CPU that starts them.
 *
 * Context:   start, cancel: any but NMI. The function runs in softirq, interrupts on.
 * Locking:   inside. One timer is started and cancelled by one owner at a time.
 * Ownership: the caller's struct; it must stay until the timer fired or was cancelled.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <kernel/base.h>
#include <kernel/heap.h>

struct timer {
	struct heap_node node; /* key: deadline_ns */
	void (*fn)(struct timer *timer);
	_Atomic uint32_t cpu;	/* queue it is on */
	_Atomic uint32_t state; /* idle, queued or firing */
};

void timer_setup(struct timer *timer, void (*fn)(struct timer *timer));
/* Fire at or after `deadline_ns` (clock: ktime_ns()). A queued timer is moved. */
void timer_start(struct timer *timer, uint64_t deadline_ns);
/* True when it was queued. It may still be running on another CPU. */
bool timer_cancel(struct timer *timer);
/* The same, and waits until it does not run. Not from its own function; thread or softirq. */
bool timer_cancel_sync(struct timer *timer);

#endif
