/*
 * The event of `torture`: a target was called. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM torture

#if !defined(KERNEL_TORTURE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_TORTURE_TRACE_H

#include <trace/trace_events.h>

/* clang-format off */
TRACE_EVENT(torture_call,
	TP_PROTO(uint32_t target, uint64_t value, const char *label),
	TP_ARGS(target, value, label),
	TP_STRUCT__entry(
		__field(uint32_t, target)
		__field(uint64_t, value)
		__string(label, label)
	),
	TP_fast_assign(
		__entry->target = target;
		__entry->value = value;
		__assign_str(label, label);
	),
	TP_printk("target=%u value=%llu label=%s", __entry->target,
		  (unsigned long long)__entry->value, __get_str(label))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tests/kernel/load
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE torture_trace
#include <trace/define_trace.h>
