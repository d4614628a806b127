/*
 * An event whose texts are made by a format and its arguments, as Linux's __vstring() has them: one behind the event's start,
 * one behind its field.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM said

#if !defined(SAID_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define SAID_EVENTS_H

#include <linux/tracepoint.h>

TRACE_EVENT(said_text,

	TP_PROTO(int before, const char *fmt, va_list *args),

	TP_ARGS(before, fmt, args),

	TP_STRUCT__entry(
		__vstring(	text,	fmt,	args	)
		__field(	int,	before	)
		__rel_vstring(	again,	fmt,	args	)
	),

	TP_fast_assign(
		__assign_vstr(text, fmt, args);
		__entry->before = before;
		__assign_rel_vstr(again, fmt, args);
	),

	TP_printk("%d: %s, %s, %d bytes, %d bytes", __entry->before, __get_str(text), __get_rel_str(again),
		__get_dynamic_array_len(text), __get_rel_dynamic_array_len(again))
);

#endif

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE said_events
#include <trace/define_trace.h>
