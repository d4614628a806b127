/*
 * Events of the steps of the kernel's start, from the one on that follows the start of tracing. Names,
 * fields and text are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM initcall

#if !defined(KERNEL_EVENTS_INITCALL_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_INITCALL_H

#include <trace/trace_events.h>

TRACE_EVENT(initcall_start,
	TP_PROTO(unsigned long func),
	TP_ARGS(func),
	TP_STRUCT__entry(
		__field_as(initcall_t, unsigned long, func)
	),
	TP_fast_assign(
		__entry->func = func;
	),
	TP_printk("func=%pS", (void *)__entry->func)
);

TRACE_EVENT(initcall_finish,
	TP_PROTO(unsigned long func, int ret),
	TP_ARGS(func, ret),
	TP_STRUCT__entry(
		__field_as(initcall_t, unsigned long, func)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->func = func;
		__entry->ret = ret;
	),
	TP_printk("func=%pS ret=%d", (void *)__entry->func, __entry->ret)
);

#endif

#include <trace/define_trace.h>
