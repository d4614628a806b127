/*
 * The events that `bench` measures. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(KERNEL_BENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_BENCH_TRACE_H

#include <trace/trace_events.h>

/* clang-format off */
TRACE_EVENT(bench_int,
	TP_PROTO(int value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(int, value)
	),
	TP_fast_assign(
		__entry->value = value;
	),
	TP_printk("value=%d", __entry->value)
);

TRACE_EVENT(bench_three,
	TP_PROTO(int one, int two, const char *name),
	TP_ARGS(one, two, name),
	TP_STRUCT__entry(
		__field(int, one)
		__field(int, two)
		__array(char, name, 16)
	),
	TP_fast_assign(
		__entry->one = one;
		__entry->two = two;
		memcpy(__entry->name, name, 16);
	),
	TP_printk("one=%d two=%d name=%s", __entry->one, __entry->two, __entry->name)
);

DECLARE_EVENT_CLASS(bench_id,
	TP_PROTO(int id),
	TP_ARGS(id),
	TP_STRUCT__entry(
		__field(int, id)
	),
	TP_fast_assign(
		__entry->id = id;
	),
	TP_printk("id=%d", __entry->id)
);
DEFINE_EVENT(bench_id, bench_begin, TP_PROTO(int id), TP_ARGS(id));
DEFINE_EVENT(bench_id, bench_end, TP_PROTO(int id), TP_ARGS(id));

TRACE_EVENT(bench_label,
	TP_PROTO(const char *label),
	TP_ARGS(label),
	TP_STRUCT__entry(
		__array(char, label, 128)
	),
	TP_fast_assign(
		memcpy(__entry->label, label, 128);
	),
	TP_printk("label=%s", __entry->label)
);

TRACE_EVENT(bench_text,
	TP_PROTO(const char *text),
	TP_ARGS(text),
	TP_STRUCT__entry(
		__string(text, text)
	),
	TP_fast_assign(
		__assign_str(text, text);
	),
	TP_printk("text=%s", __get_str(text))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tests/kernel/load
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bench_trace
#include <trace/define_trace.h>
