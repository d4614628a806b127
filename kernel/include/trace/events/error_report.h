/*
 * The event of errors that the kernel finds in itself. Name and fields are Linux's; the error is
 * always a panic here. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM error_report

#if !defined(KERNEL_EVENTS_ERROR_REPORT_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_ERROR_REPORT_H

#include <trace/trace_events.h>

/* <trace/trace_events.h> includes this file several times, but an enum can be defined only once. */
#ifndef KERNEL_ERROR_DETECTORS
#define KERNEL_ERROR_DETECTORS
enum error_detector {
	ERROR_DETECTOR_PANIC,
};
#endif

TRACE_DEFINE_ENUM(ERROR_DETECTOR_PANIC);

/* `id` is the address of the code that found the error, or of the code at fault. */
TRACE_EVENT_ATOMIC(error_report_end,
	TP_PROTO(enum error_detector error_detector, unsigned long id),
	TP_ARGS(error_detector, id),
	TP_STRUCT__entry(
		__field(enum error_detector, error_detector)
		__field(unsigned long, id)
	),
	TP_fast_assign(
		__entry->error_detector = error_detector;
		__entry->id = id;
	),
	TP_printk("[%s] %lx",
		__print_symbolic(__entry->error_detector, { ERROR_DETECTOR_PANIC, "panic" }),
		__entry->id)
);

#endif

#include <trace/define_trace.h>
