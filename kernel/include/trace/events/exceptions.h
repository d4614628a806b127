/*
 * Events of page faults. Names, fields and text are Linux's. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM exceptions

#if !defined(KERNEL_EVENTS_EXCEPTIONS_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_EXCEPTIONS_H

#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(page_fault,
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

/* A program has touched a page that is not there, or that it may not touch so. */
DEFINE_EVENT(page_fault, page_fault_user,
	TP_PROTO(unsigned long address, unsigned long ip, unsigned long error_code),
	TP_ARGS(address, ip, error_code));

/*
 * The kernel has: while it copied from or to a program; or by mistake, and the panic that follows shows the
 * event in what ftrace_dump_on_oops prints.
 */
DEFINE_EVENT_ATOMIC(page_fault, page_fault_kernel,
	TP_PROTO(unsigned long address, unsigned long ip, unsigned long error_code),
	TP_ARGS(address, ip, error_code));

#endif

#include <trace/define_trace.h>
