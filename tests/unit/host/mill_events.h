/*
 * The events of a host that has little more than these: see trace/default/bare_events.c.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mill

#if !defined(MILL_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define MILL_EVENTS_H

#include <trace/trace_events.h>

TRACE_EVENT(mill_grind,

	TP_PROTO(int sacks, const char *grain),

	TP_ARGS(sacks, grain),

	TP_STRUCT__entry(
		__field(int, sacks)
		__string(grain, grain)
	),

	TP_fast_assign(
		__entry->sacks = sacks;
		__assign_str(grain, grain);
	),

	TP_printk("%d sacks of %s", __entry->sacks, __get_str(grain))
);

TRACE_EVENT(mill_stop,

	TP_PROTO(int reason),

	TP_ARGS(reason),

	TP_STRUCT__entry(
		__field(int, reason)
	),

	TP_fast_assign(
		__entry->reason = reason;
	),

	TP_printk("reason=%s", __print_symbolic(__entry->reason, { 0, "none" }, { 1, "wind" }))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mill_events
#include <trace/define_trace.h>
