/*
 * Tracepoints of every form that TRACE_EVENT has, for golden_events.c: their fields hold what the caller gives, so that
 * what filters, triggers and histograms make of them is the same in each run.
 *
 * Dual licensed: MIT like the rest of this repository, GPL-2.0 inside a kernel.
 */
/* The macros are tables: clang-format would tear their rows apart. */
/* clang-format off */

#undef TRACE_SYSTEM
#define TRACE_SYSTEM gold

#if !defined(GOLDEN_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define GOLDEN_EVENTS_H

#include <linux/tracepoint.h>

#ifndef GOLDEN_EVENTS_ONCE
#define GOLDEN_EVENTS_ONCE
enum gold_colour { GOLD_RED, GOLD_GREEN = 5, GOLD_BLUE };
#define GOLD_READ 1
#define GOLD_WRITE 2
#define GOLD_EXEC 4
struct gold_pair {
	int a;
	int b;
};
#endif

TRACE_DEFINE_ENUM(GOLD_RED);
TRACE_DEFINE_ENUM(GOLD_GREEN);
TRACE_DEFINE_ENUM(GOLD_BLUE);

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
		__field(void *, pointer)
	),
	TP_fast_assign(
		__entry->sc = n;
		__entry->uc = n;
		__entry->c = n;
		__entry->truth = n;
		__entry->s = n;
		__entry->us = n;
		__entry->i = n;
		__entry->ui = n;
		__entry->l = n;
		__entry->ul = n;
		__entry->s8 = n;
		__entry->u16 = n;
		__entry->s64 = n;
		__entry->u64 = n;
		__entry->size = n;
		__entry->pid = n;
		__entry->pointer = (void *)n;
	),
	TP_printk("sc=%d uc=%u c=%d truth=%d s=%hd us=%hu i=%d ui=%u l=%ld ul=%lu s8=%d u16=%u s64=%lld u64=%llx "
		  "size=%zu pid=%d pointer=%px",
		  __entry->sc, __entry->uc, __entry->c, __entry->truth, __entry->s, __entry->us, __entry->i,
		  __entry->ui, __entry->l, __entry->ul, __entry->s8, __entry->u16, __entry->s64, __entry->u64,
		  __entry->size, __entry->pid, __entry->pointer)
);

TRACE_EVENT(gold_enum,
	TP_PROTO(int colour, unsigned int flags),
	TP_ARGS(colour, flags),
	TP_STRUCT__entry(
		__field(enum gold_colour, colour)
		__field(unsigned int, flags)
	),
	TP_fast_assign(
		__entry->colour = colour;
		__entry->flags = flags;
	),
	TP_printk("colour=%s flags=%s raw=%#x",
		  __print_symbolic(__entry->colour, { GOLD_RED, "red" }, { GOLD_GREEN, "green" },
				   { GOLD_BLUE, "blue" }),
		  __print_flags(__entry->flags, "|", { GOLD_READ, "READ" }, { GOLD_WRITE, "WRITE" },
				{ GOLD_EXEC, "EXEC" }),
		  __entry->flags)
);

/* Text in each place a field can keep it. */
TRACE_EVENT(gold_string,
	TP_PROTO(const char *text, int n),
	TP_ARGS(text, n),
	TP_STRUCT__entry(
		__string(dynamic, text)
		__array(char, fixed, 16)
		__field(const char *, pointer)
		__rel_string(relative, text)
		__field(int, n)
	),
	TP_fast_assign(
		__assign_str(dynamic, text);
		strscpy(__entry->fixed, text, sizeof(__entry->fixed));
		__entry->pointer = text;
		__assign_rel_str(relative, text);
		__entry->n = n;
	),
	TP_printk("dynamic=%s fixed=%s relative=%s n=%d", __get_str(dynamic), __entry->fixed, __get_rel_str(relative),
		  __entry->n)
);

TRACE_EVENT(gold_array,
	TP_PROTO(int n, const int *list),
	TP_ARGS(n, list),
	TP_STRUCT__entry(
		__field(int, n)
		__array(int, fixed, 4)
		__array(u8, bytes, 6)
		__dynamic_array(int, list, n)
		__field_struct(struct gold_pair, pair)
		__bitmask(mask, 16)
		__field_ext(int, other, FILTER_OTHER)
	),
	TP_fast_assign(
		unsigned long mask = n;

		__entry->n = n;
		memcpy(__entry->fixed, list, sizeof(__entry->fixed));
		memset(__entry->bytes, n, sizeof(__entry->bytes));
		memcpy(__get_dynamic_array(list), list, n * sizeof(int));
		__entry->pair.a = n;
		__entry->pair.b = -n;
		__assign_bitmask(mask, &mask, 16);
		__entry->other = n;
	),
	TP_printk("n=%d fixed=%s bytes=%s list=%s pair=%d,%d mask=%s", __entry->n,
		  __print_array(__entry->fixed, 4, sizeof(int)), __print_hex(__entry->bytes, 6),
		  __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / sizeof(int), sizeof(int)),
		  __entry->pair.a, __entry->pair.b, __get_bitmask(mask))
);

TRACE_EVENT_CONDITION(gold_condition,
	TP_PROTO(int value),
	TP_ARGS(value),
	TP_CONDITION(value > 0),
	TP_STRUCT__entry(
		__field(int, value)
	),
	TP_fast_assign(
		__entry->value = value;
	),
	TP_printk("value=%d", __entry->value)
);

DECLARE_EVENT_CLASS(gold_class,
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
DEFINE_EVENT(gold_class, gold_first, TP_PROTO(int n, const char *name), TP_ARGS(n, name));
DEFINE_EVENT(gold_class, gold_second, TP_PROTO(int n, const char *name), TP_ARGS(n, name));
DEFINE_EVENT_PRINT(gold_class, gold_third, TP_PROTO(int n, const char *name), TP_ARGS(n, name),
	TP_printk("the third: %s %d", __get_str(name), __entry->n)
);

/* For keys that are addresses, system calls, sizes and times. */
TRACE_EVENT(gold_call,
	TP_PROTO(unsigned long func, unsigned long bytes, long nr, u64 time),
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
	TP_printk("func=%pS bytes=%zu nr=%ld time=%llu", (void *)__entry->func, __entry->bytes, __entry->nr,
		  __entry->time)
);

/* A begin and an end that belong together by their id; the caller gives the time. */
TRACE_EVENT(gold_begin,
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
		strscpy(__entry->name, name, sizeof(__entry->name));
	),
	TP_printk("id=%d time=%llu name=%s", __entry->id, __entry->time, __entry->name)
);

TRACE_EVENT(gold_end,
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

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE golden_events
#include <trace/define_trace.h>
