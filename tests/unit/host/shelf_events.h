/*
 * A few plain events, for tests of what is done with events rather than of what they consist of.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM shelf

#if !defined(SHELF_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define SHELF_EVENTS_H

#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(shelf,

	TP_PROTO(int shelf),

	TP_ARGS(shelf),

	TP_STRUCT__entry(
		__field(int, shelf)
	),

	TP_fast_assign(
		__entry->shelf = shelf;
	),

	TP_printk("shelf=%d", __entry->shelf)
);

DEFINE_EVENT(shelf, shelf_full,
	TP_PROTO(int shelf),
	TP_ARGS(shelf)
);

DEFINE_EVENT(shelf, shelf_empty,
	TP_PROTO(int shelf),
	TP_ARGS(shelf)
);

TRACE_EVENT(shelf_label,

	TP_PROTO(int shelf, const char *label),

	TP_ARGS(shelf, label),

	TP_STRUCT__entry(
		__field(int, shelf)
		__string(label, label)
	),

	TP_fast_assign(
		__entry->shelf = shelf;
		__assign_str(label, label);
	),

	TP_printk("shelf=%d label=%s", __entry->shelf, __get_str(label))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE shelf_events
#include <trace/define_trace.h>
