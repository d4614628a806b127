/*
 * Events of timers and of the tick. Names are Linux's, and fields and text are but for what these
 * timers do not have: times are in nanoseconds, as ktime_get_ns() counts. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timer

#if !defined(KERNEL_EVENTS_TIMER_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_TIMER_H

#include <kernel/timer.h>
#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(timer_class,
	TP_PROTO(struct timer *timer),
	TP_ARGS(timer),
	TP_STRUCT__entry(
		__field(void *, timer)
	),
	TP_fast_assign(
		__entry->timer = timer;
	),
	TP_printk("timer=%p", __entry->timer)
);

/* The timer was set up, and is not started. */
DEFINE_EVENT(timer_class, timer_init,
	TP_PROTO(struct timer *timer),
	TP_ARGS(timer));

/* The timer was put on the queue of `cpu`, which is the running CPU. */
TRACE_EVENT_ATOMIC(timer_start,
	TP_PROTO(struct timer *timer, uint64_t now, unsigned int cpu),
	TP_ARGS(timer, now, cpu),
	TP_STRUCT__entry(
		__field(void *, timer)
		__field(void *, function)
		__field(unsigned long, expires)
		__field(unsigned long, now)
		__field(unsigned int, cpu)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->function = (void *)timer->fn;
		__entry->expires = timer->node.key;
		__entry->now = now;
		__entry->cpu = cpu;
	),
	TP_printk("timer=%p function=%ps expires=%lu [timeout=%ld] cpu=%u",
		__entry->timer, __entry->function, __entry->expires,
		(long)(__entry->expires - __entry->now), __entry->cpu)
);

/* The timer's function is about to be called. */
TRACE_EVENT_ATOMIC(timer_expire_entry,
	TP_PROTO(struct timer *timer, uint64_t now),
	TP_ARGS(timer, now),
	TP_STRUCT__entry(
		__field(void *, timer)
		__field(unsigned long, now)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->timer = timer;
		__entry->now = now;
		__entry->function = (void *)timer->fn;
	),
	TP_printk("timer=%p function=%ps now=%lu", __entry->timer, __entry->function, __entry->now)
);

/* The function has returned; of the timer only the address may be used. */
DEFINE_EVENT_ATOMIC(timer_class, timer_expire_exit,
	TP_PROTO(struct timer *timer),
	TP_ARGS(timer));

/* The timer was taken off its queue before it fired. */
DEFINE_EVENT_ATOMIC(timer_class, timer_cancel,
	TP_PROTO(struct timer *timer),
	TP_ARGS(timer));

/* An idle CPU stops its tick. Here that always succeeds, and nothing depends on the tick. */
TRACE_EVENT_ATOMIC(tick_stop,
	TP_PROTO(int success, int dependency),
	TP_ARGS(success, dependency),
	TP_STRUCT__entry(
		__field(int, success)
		__field(int, dependency)
	),
	TP_fast_assign(
		__entry->success = success;
		__entry->dependency = dependency;
	),
	TP_printk("success=%d dependency=%s", __entry->success,
		__print_symbolic(__entry->dependency, { 0, "NONE" }))
);

#endif

#include <trace/define_trace.h>
