/*
 * The event of page faults without a handler. Name, fields and text are Linux's. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM exceptions

#if !defined(KERNEL_EVENTS_EXCEPTIONS_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_EXCEPTIONS_H

#include <trace/trace_events.h>

/* The panic follows, so the event is seen in the trace that ftrace_dump_on_oops prints. */
TRACE_EVENT_ATOMIC(page_fault_kernel,
	TP_PROTO(unsigned long address, unsigned long ip, unsigned long error_code),
	TP_ARGS(address, ip, error_code),
	TP_STRUCT__entry(
		__field(unsigned long, address)
		__field(unsigned long, ip)
		__field(unsigned long, error_code)
	),
	TP_fast_assign(
		__entry->address = address;
		__entry->ip = ip;
		__entry->error_code = error_code;
	),
	TP_printk("address=%ps ip=%ps error_code=0x%lx",
		(void *)__entry->address, (void *)__entry->ip, __entry->error_code)
);

#endif

#include <trace/define_trace.h>
