/*
 * Events of interrupts of devices and of softirqs; those of the local APIC are in irq_vectors.h. Names
 * and text are Linux's, and so are the fields but for the numbers of softirqs. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM irq

#if !defined(KERNEL_EVENTS_IRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_IRQ_H

#include <kernel/softirq.h>
#include <trace/trace_events.h>

#define show_softirq_name(vec)				\
	__print_symbolic(vec,				\
		{ SOFTIRQ_TIMER, "TIMER" },		\
		{ SOFTIRQ_CONSOLE, "CONSOLE" },		\
		{ SOFTIRQ_SCHED, "SCHED" },		\
		{ SOFTIRQ_TRACE, "TRACE" })

TRACE_DEFINE_ENUM(SOFTIRQ_TIMER);
TRACE_DEFINE_ENUM(SOFTIRQ_CONSOLE);
TRACE_DEFINE_ENUM(SOFTIRQ_SCHED);
TRACE_DEFINE_ENUM(SOFTIRQ_TRACE);

/* The handler of interrupt `irq` of a device begins. */
TRACE_EVENT_ATOMIC(irq_handler_entry,
	TP_PROTO(int irq, const char *name),
	TP_ARGS(irq, name),
	TP_STRUCT__entry(
		__field(int, irq)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->irq = irq;
		__assign_str(name, name);
	),
	TP_printk("irq=%d name=%s", __entry->irq, __get_str(name))
);

/* It has ended. `ret` is 0 when the device had nothing for it. */
TRACE_EVENT_ATOMIC(irq_handler_exit,
	TP_PROTO(int irq, int ret),
	TP_ARGS(irq, ret),
	TP_STRUCT__entry(
		__field(int, irq)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->irq = irq;
		__entry->ret = ret;
	),
	TP_printk("irq=%d ret=%s", __entry->irq, __entry->ret ? "handled" : "unhandled")
);

DECLARE_EVENT_CLASS(softirq,
	TP_PROTO(unsigned int vec),
	TP_ARGS(vec),
	TP_STRUCT__entry(
		__field(unsigned int, vec)
	),
	TP_fast_assign(
		__entry->vec = vec;
	),
	TP_printk("vec=%u [action=%s]", __entry->vec, show_softirq_name(__entry->vec))
);

/* The handler of a softirq is about to run (entry), or has run (exit). */
DEFINE_EVENT_ATOMIC(softirq, softirq_entry,
	TP_PROTO(unsigned int vec),
	TP_ARGS(vec));

DEFINE_EVENT_ATOMIC(softirq, softirq_exit,
	TP_PROTO(unsigned int vec),
	TP_ARGS(vec));

/* A softirq was raised: its handler is to run soon. Softirqs that probes raise are left out. */
DEFINE_EVENT_ATOMIC(softirq, softirq_raise,
	TP_PROTO(unsigned int vec),
	TP_ARGS(vec));

#endif

#include <trace/define_trace.h>
