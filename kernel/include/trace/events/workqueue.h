/*
 * Events of deferred work. Names and text are Linux's, and fields are but for the name of the queue:
 * there is one for each CPU, and none has a name. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM workqueue

#if !defined(KERNEL_EVENTS_WORKQUEUE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_WORKQUEUE_H

#include <kernel/work.h>
#include <trace/trace_events.h>

/* The work was put on the queue of `cpu`. */
TRACE_EVENT_ATOMIC(workqueue_queue_work,
	TP_PROTO(int cpu, struct work *work),
	TP_ARGS(cpu, work),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
		__field(int, cpu)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = (void *)work->fn;
		__entry->cpu = cpu;
	),
	TP_printk("work struct=%p function=%ps cpu=%d",
		__entry->work, __entry->function, __entry->cpu)
);

/* A worker may take the work. Queues have no limits, so that is as soon as it is queued. */
TRACE_EVENT_ATOMIC(workqueue_activate_work,
	TP_PROTO(struct work *work),
	TP_ARGS(work),
	TP_STRUCT__entry(
		__field(void *, work)
	),
	TP_fast_assign(
		__entry->work = work;
	),
	TP_printk("work struct %p", __entry->work)
);

/* The function of the work is about to be called. */
TRACE_EVENT(workqueue_execute_start,
	TP_PROTO(struct work *work),
	TP_ARGS(work),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = (void *)work->fn;
	),
	TP_printk("work struct %p: function %ps", __entry->work, __entry->function)
);

/* The function has returned; of the work only the address may be used. */
TRACE_EVENT(workqueue_execute_end,
	TP_PROTO(struct work *work, void *function),
	TP_ARGS(work, function),
	TP_STRUCT__entry(
		__field(void *, work)
		__field(void *, function)
	),
	TP_fast_assign(
		__entry->work = work;
		__entry->function = function;
	),
	TP_printk("work struct %p: function %ps", __entry->work, __entry->function)
);

#endif

#include <trace/define_trace.h>
