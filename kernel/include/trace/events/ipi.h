/*
 * Events of interrupts that CPUs send each other; irq_vectors.h has their arrival. Names, fields and
 * text are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ipi

#if !defined(KERNEL_EVENTS_IPI_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_IPI_H

#include <trace/trace_events.h>

/* One is sent to `cpu`, by code at `callsite`, to have `callback` called there. */
TRACE_EVENT_ATOMIC(ipi_send_cpu,
	TP_PROTO(unsigned int cpu, unsigned long callsite, void *callback),
	TP_ARGS(cpu, callsite, callback),
	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(void *, callsite)
		__field(void *, callback)
	),
	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->callsite = (void *)callsite;
		__entry->callback = callback;
	),
	TP_printk("cpu=%u callsite=%pS callback=%pS",
		__entry->cpu, __entry->callsite, __entry->callback)
);

/* The same to all CPUs of the mask, which has a bit for each. */
TRACE_EVENT_ATOMIC(ipi_send_cpumask,
	TP_PROTO(const unsigned long *cpumask, unsigned long callsite, void *callback),
	TP_ARGS(cpumask, callsite, callback),
	TP_STRUCT__entry(
		__cpumask(cpumask)
		__field(void *, callsite)
		__field(void *, callback)
	),
	TP_fast_assign(
		__assign_cpumask(cpumask, cpumask);
		__entry->callsite = (void *)callsite;
		__entry->callback = callback;
	),
	TP_printk("cpumask=%s callsite=%pS callback=%pS",
		__get_cpumask(cpumask), __entry->callsite, __entry->callback)
);

#endif

#include <trace/define_trace.h>
