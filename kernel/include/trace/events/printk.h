/*
 * The event of messages of the kernel. Name, field and text are Linux's. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM printk

#if !defined(KERNEL_EVENTS_PRINTK_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_PRINTK_H

#include <trace/trace_events.h>

/* A line of a message, whether the console shows it or not. */
TRACE_EVENT(console,
	TP_PROTO(const char *text, size_t len),
	TP_ARGS(text, len),
	TP_STRUCT__entry(
		__string_len(msg, text, len)
	),
	TP_fast_assign(
		__assign_str_len(msg, text, len);
	),
	TP_printk("%s", __get_str(msg))
);

#endif

#include <trace/define_trace.h>
