/*
 * Some of the events that the samples of Linux were made with: the same names and fields as in
 * tests/golden/linux-6.1/capture/golden_events.h, so that what was typed there can be typed here.
 * Who includes it has s8, u16, s64, u64.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gold

#if !defined(GOLD_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define GOLD_EVENTS_H

#include <trace/trace_events.h>

/* clang-format off */
TRACE_EVENT(gold_int,
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

/* Every width, signed and not; the same number in all of them. */
TRACE_EVENT(gold_types,
	TP_PROTO(long n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(signed char, sc)
		__field(unsigned char, uc)
		__field(char, c)
		__field(bool, truth)
		__field(short, s)
		__field(unsigned short, us)
		__field(int, i)
		__field(unsigned int, ui)
		__field(long, l)
		__field(unsigned long, ul)
		__field(s8, s8)
		__field(u16, u16)
		__field(s64, s64)
		__field(u64, u64)
		__field(size_t, size)
		__field(pid_t, pid)
	),
	TP_fast_assign(
		__entry->sc = (signed char)n;
		__entry->uc = (unsigned char)n;
		__entry->c = (char)n;
		__entry->truth = n;
		__entry->s = (short)n;
		__entry->us = (unsigned short)n;
		__entry->i = (int)n;
		__entry->ui = (unsigned int)n;
		__entry->l = n;
		__entry->ul = (unsigned long)n;
		__entry->s8 = (s8)n;
		__entry->u16 = (u16)n;
		__entry->s64 = n;
		__entry->u64 = (u64)n;
		__entry->size = (size_t)n;
		__entry->pid = (pid_t)n;
	),
	TP_printk("sc=%d", __entry->sc)
);

/* Text in each place a field can keep it. */
TRACE_EVENT(gold_string,
	TP_PROTO(const char *text, int n),
	TP_ARGS(text, n),
	TP_STRUCT__entry(
		__string(dynamic, text)
		__array(char, fixed, 16)
		__field_ext(const char *, pointer, FILTER_PTR_STRING)
		__rel_string(relative, text)
		__field(int, n)
	),
	TP_fast_assign(
		__assign_str(dynamic, text);
		strncpy(__entry->fixed, text, sizeof(__entry->fixed) - 1);
		__entry->fixed[15] = '\0';
		__entry->pointer = text;
		__assign_rel_str(relative, text);
		__entry->n = n;
	),
	TP_printk("dynamic=%s", __get_str(dynamic))
);

TRACE_EVENT(gold_first,
	TP_PROTO(int n, const char *name),
	TP_ARGS(n, name),
	TP_STRUCT__entry(
		__field(int, n)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->n = n;
		__assign_str(name, name);
	),
	TP_printk("n=%d name=%s", __entry->n, __get_str(name))
);
/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE gold_events
#include <trace/define_trace.h>
