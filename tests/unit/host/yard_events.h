/*
 * Definitions of events in the form in which Linux's are written, with each kind of field. Nothing
 * in here is special to Fathom: <linux/tracepoint.h> and the types are the host's.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM yard

#if !defined(_TRACE_YARD_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_YARD_H

#include <linux/tracepoint.h>

TRACE_DEFINE_ENUM(YARD_SAND);
TRACE_DEFINE_ENUM(YARD_GRAVEL);
TRACE_DEFINE_SIZEOF(struct yard_box);

#define show_yard_kind(kind)				\
	__print_symbolic(kind,				\
		{ YARD_SAND,	"sand" },		\
		{ YARD_GRAVEL,	"gravel" })

TRACE_EVENT(yard_numbers,

	TP_PROTO(u8 tiny, short small, int number, u64 large, bool flag),

	TP_ARGS(tiny, small, number, large, flag),

	TP_STRUCT__entry(
		__field(	u8,	tiny	)
		__field(	short,	small	)
		__field(	int,	number	)
		__field(	u64,	large	)
		__field(	bool,	flag	)
	),

	TP_fast_assign(
		__entry->tiny = tiny;
		__entry->small = small;
		__entry->number = number;
		__entry->large = large;
		__entry->flag = flag;
	),

	TP_printk("tiny=%u small=%d number=%d large=%llx flag=%d",
		__entry->tiny, __entry->small, __entry->number,
		(unsigned long long)__entry->large, __entry->flag)
);

TRACE_EVENT(yard_kinds,

	TP_PROTO(const struct yard_box *box, enum yard_kind kind, unsigned long flags),

	TP_ARGS(box, kind, flags),

	TP_STRUCT__entry(
		__field(const void *, where)
		__field(enum yard_kind, kind)
		__field(unsigned long, flags)
		__field_struct(struct yard_box, box)
		__array(char, label, 8)
		__array(u16, sizes, 3)
	),

	TP_fast_assign(
		__entry->where = box;
		__entry->kind = kind;
		__entry->flags = flags;
		__entry->box = *box;
		memcpy(__entry->label, box->label, sizeof(__entry->label));
		__entry->sizes[0] = box->width;
		__entry->sizes[1] = box->height;
		__entry->sizes[2] = sizeof(struct yard_box);
	),

	TP_printk("where=%p kind=%s flags=%s label=%.8s sizes=%s hex=%s/%s %s",
		__entry->where, show_yard_kind(__entry->kind),
		__print_flags(__entry->flags, "|",
			{ 1, "OPEN" }, { 2, "WET" }, { 4, "FULL" }),
		__entry->label,
		__print_array(__entry->sizes, 3, sizeof(u16)),
		__print_hex(__entry->label, 3),
		__print_hex_str(__entry->label, 3),
		__entry->sizes[2] == sizeof(struct yard_box) ? "whole" : "cut")
);

TRACE_EVENT(yard_texts,

	TP_PROTO(const char *name, const u32 *list, int nr, const unsigned long *mask),

	TP_ARGS(name, list, nr, mask),

	TP_STRUCT__entry(
		__string(	name,	name	)
		__field(	u8,	odd	)
		__dynamic_array(u32,	list,	nr	)
		__string_len(	cut,	name,	2	)
		__bitmask(	mask,	40	)
		__rel_string(	last,	name	)
		__rel_dynamic_array(u8,	bytes,	nr	)
	),

	TP_fast_assign(
		__assign_str(name, name);
		__entry->odd = 7;
		memcpy(__get_dynamic_array(list), list, nr * sizeof(*list));
		__assign_str_len(cut, name, 2);
		__assign_bitmask(mask, mask, 40);
		__assign_rel_str(last);
		memset(__get_rel_dynamic_array(bytes), 0xab, nr);
	),

	TP_printk("name=%s odd=%u list=%s cut=%s mask=%s last=%s bytes=%s len=%d",
		__get_str(name), __entry->odd,
		__print_array(__get_dynamic_array(list),
			      __get_dynamic_array_len(list) / sizeof(u32), sizeof(u32)),
		__get_str(cut), __get_bitmask(mask), __get_rel_str(last),
		__print_hex(__get_rel_dynamic_array(bytes), __get_rel_dynamic_array_len(bytes)),
		__get_dynamic_array_len(name))
);

DECLARE_EVENT_CLASS(yard_gate,

	TP_PROTO(int gate),

	TP_ARGS(gate),

	TP_STRUCT__entry(
		__field(int, gate)
	),

	TP_fast_assign(
		__entry->gate = gate;
	),

	TP_printk("gate=%d", __entry->gate)
);

DEFINE_EVENT(yard_gate, yard_gate_open,
	TP_PROTO(int gate),
	TP_ARGS(gate)
);

DEFINE_EVENT_PRINT(yard_gate, yard_gate_close,
	TP_PROTO(int gate),
	TP_ARGS(gate),
	TP_printk("gate=%d shut", __entry->gate)
);

DEFINE_EVENT_CONDITION(yard_gate, yard_gate_jam,
	TP_PROTO(int gate),
	TP_ARGS(gate),
	TP_CONDITION(gate > 2)
);

TRACE_EVENT_CONDITION(yard_full,

	TP_PROTO(int used, int room),

	TP_ARGS(used, room),

	TP_CONDITION(used >= room),

	TP_STRUCT__entry(
		__field(int, used)
	),

	TP_fast_assign(
		__entry->used = used;
	),

	TP_printk("used=%d at %llu.%09u", __entry->used,
		__print_ns_to_secs(1234567890123ULL), __print_ns_without_secs(1234567890123ULL))
);

TRACE_EVENT_FN(yard_watch,

	TP_PROTO(int who),

	TP_ARGS(who),

	TP_STRUCT__entry(
		__field(int, who)
	),

	TP_fast_assign(
		__entry->who = who;
	),

	TP_printk("who=%d", __entry->who),

	yard_watch_begins, yard_watch_ends
);

#endif /* _TRACE_YARD_H */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE yard_events
#include <trace/define_trace.h>
