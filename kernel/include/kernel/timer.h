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
	_Atomic uint32_t cpu;	/* whose queue it is on, or was last */
	_Atomic uint32_t state; /* queued or not, see timer.c */
};

void timer_setup(struct timer *timer, void (*fn)(struct timer *timer));
/*
 * Have the timer's function called on this CPU, at `deadline_ns` or soon after (as ktime_get_ns()
 * counts). A timer that is queued already gets the new deadline.
 */
void timer_start(struct timer *timer, uint64_t deadline_ns);
/*
 * Take it off its queue. True when it was queued: its function is not called then. When false, the
 * function may be running on another CPU.
 */
bool timer_cancel(struct timer *timer);
/*
 * The same, and waits for the end of the function if it runs. Thread or softirq context, but not in
 * that function.
 */
bool timer_cancel_sync(struct timer *timer);

#endif
