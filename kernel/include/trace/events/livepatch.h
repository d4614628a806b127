/*
 * Events of live patches, on tracepoints of <trace/livepatch.h>. Linux has none. See
 * <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livepatch

#if !defined(KERNEL_EVENTS_LIVEPATCH_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_LIVEPATCH_H

#include <trace/livepatch.h>
#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(livepatch_transition,
	TP_PROTO(const char *patch, bool is_to_new),
	TP_ARGS(patch, is_to_new),
	TP_STRUCT__entry(
		__string(patch, patch)
		__field(bool, patched)
	),
	TP_fast_assign(
		__assign_str(patch, patch);
		__entry->patched = is_to_new;
	),
	TP_printk("patch=%s to=%s", __get_str(patch), __entry->patched ? "patched" : "unpatched")
);

DEFINE_EVENT_EXISTING(livepatch_transition, livepatch_transition_begin,
	TP_PROTO(const char *patch, bool is_to_new),
	TP_ARGS(patch, is_to_new));

DEFINE_EVENT_EXISTING(livepatch_transition, livepatch_transition_end,
	TP_PROTO(const char *patch, bool is_to_new),
	TP_ARGS(patch, is_to_new));

#endif

#include <trace/define_trace.h>
