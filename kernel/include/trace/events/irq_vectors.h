/*
 * Events of the interrupts of a local APIC, as their handlers begin and end. Names, fields and text
 * are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irq_vectors

#if !defined(KERNEL_EVENTS_IRQ_VECTORS_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_IRQ_VECTORS_H

#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(irq_vector,
	TP_PROTO(int vector),
	TP_ARGS(vector),
	TP_STRUCT__entry(
		__field(int, vector)
	),
	TP_fast_assign(
		__entry->vector = vector;
	),
	TP_printk("vector=%d", __entry->vector)
);

/* The timer's interrupt. */
DEFINE_EVENT_ATOMIC(irq_vector, local_timer_entry,
	TP_PROTO(int vector),
	TP_ARGS(vector));

DEFINE_EVENT_ATOMIC(irq_vector, local_timer_exit,
	TP_PROTO(int vector),
	TP_ARGS(vector));

/* Another CPU asks this one to reschedule. */
DEFINE_EVENT_ATOMIC(irq_vector, reschedule_entry,
	TP_PROTO(int vector),
	TP_ARGS(vector));

DEFINE_EVENT_ATOMIC(irq_vector, reschedule_exit,
	TP_PROTO(int vector),
	TP_ARGS(vector));

/* Another CPU has functions for this one to call. */
DEFINE_EVENT_ATOMIC(irq_vector, call_function_entry,
	TP_PROTO(int vector),
	TP_ARGS(vector));

DEFINE_EVENT_ATOMIC(irq_vector, call_function_exit,
	TP_PROTO(int vector),
	TP_ARGS(vector));

#endif

#include <trace/define_trace.h>
