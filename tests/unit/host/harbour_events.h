/*
 * Events with each kind of field that a histogram may be about.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM harbour

#if !defined(_TRACE_HARBOUR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_HARBOUR_H

#include <linux/tracepoint.h>

TRACE_EVENT(ship_arrive,

	TP_PROTO(int id, u64 time, const char *name),

	TP_ARGS(id, time, name),

	TP_STRUCT__entry(
		__field(int, id)
		__field(u64, time)
		__array(char, name, 16)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->time = time;
		strncpy(__entry->name, name, sizeof(__entry->name));
	),

	TP_printk("id=%d time=%llu name=%s", __entry->id, __entry->time, __entry->name)
);

TRACE_EVENT(ship_leave,

	TP_PROTO(int id, u64 time, const char *name),

	TP_ARGS(id, time, name),

	TP_STRUCT__entry(
		__field(int, id)
		__field(u64, time)
		__string(name, name)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->time = time;
		__assign_str(name, name);
	),

	TP_printk("id=%d time=%llu name=%s", __entry->id, __entry->time, __get_str(name))
);

TRACE_EVENT(cargo,

	TP_PROTO(unsigned long func, size_t bytes, long nr, u64 time),

	TP_ARGS(func, bytes, nr, time),

	TP_STRUCT__entry(
		__field(unsigned long, func)
		__field(size_t, bytes)
		__field(long, nr)
		__field(u64, time)
	),

	TP_fast_assign(
		__entry->func = func;
		__entry->bytes = bytes;
		__entry->nr = nr;
		__entry->time = time;
	),

	TP_printk("func=%pS bytes=%zu nr=%ld time=%llu", (void *)__entry->func, __entry->bytes,
		  __entry->nr, __entry->time)
);

TRACE_EVENT(widths,

	TP_PROTO(long n, const char *text),

	TP_ARGS(n, text),

	TP_STRUCT__entry(
		__field(s8, a)
		__field(u8, b)
		__field(short, c)
		__field(u16, d)
		__field(int, e)
		__field(u32, f)
		__field(s64, g)
		__field_ext(const char *, text, FILTER_PTR_STRING)
		__rel_string(relative, text)
		__array(u8, bytes, 6)
		__array(int, list, 3)
		__array(char, eight, 8)
		__dynamic_array(unsigned long, stack, 3)
	),

	TP_fast_assign(
		__entry->a = n;
		__entry->b = n;
		__entry->c = n;
		__entry->d = n;
		__entry->e = n;
		__entry->f = n;
		__entry->g = n;
		__entry->text = text;
		__assign_rel_str(relative);
		memset(__entry->bytes, 'x', 6);
		memset(__entry->list, 0, sizeof(__entry->list));
		strncpy(__entry->eight, text, 8);
		memcpy(__get_dynamic_array(stack), harbour_stack, sizeof(harbour_stack));
	),

	TP_printk("a=%d", __entry->a)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE harbour_events
#include <trace/define_trace.h>
