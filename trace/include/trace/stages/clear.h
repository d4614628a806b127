/*
 * All that a stage can give a meaning to; the empty one at first. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_STAGE_CLASS
#undef TRACE_STAGE_EVENT
#undef TRACE_STAGE_EVENT_PRINT
#undef TRACE_STAGE_EVAL
#undef TRACE_ITEM
#undef TRACE_ITEM_IP
#undef TRACE_ITEM_AS
#undef TRACE_ITEM_STRUCT
#undef TRACE_ITEM_ARRAY
#undef TRACE_ITEM_DATA
#undef TRACE_ITEM_TEXT
#undef TRACE_ITEM_CPUMASK
#undef TP_printk

/* DECLARE_EVENT_CLASS(), and the first half of TRACE_EVENT(). */
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)
/*
 * DEFINE_EVENT(), and the second half of TRACE_EVENT(). `tp` says about the tracepoint: plain,
 * atomic, or existing when it is declared and defined elsewhere.
 */
#define TRACE_STAGE_EVENT(template, name, proto, args, tp, reg, unreg)
/* DEFINE_EVENT_PRINT(). */
#define TRACE_STAGE_EVENT_PRINT(template, name, proto, args, print)                                \
	TRACE_STAGE_EVENT(template, name, PARAMS(proto), PARAMS(args), plain, NULL, NULL)
/* TRACE_DEFINE_ENUM() and TRACE_DEFINE_SIZEOF(). */
#define TRACE_STAGE_EVAL(id, text, value)
/* Fields, see words.h. */
#define TRACE_ITEM(type, item, filter_type)
#define TRACE_ITEM_IP(item)		TRACE_ITEM(unsigned int, item, FILTER_TRACE_FN)
#define TRACE_ITEM_AS(text, type, item) TRACE_ITEM(type, item, FILTER_OTHER)
#define TRACE_ITEM_STRUCT(type, item)
#define TRACE_ITEM_ARRAY(type, item, len)
#define TRACE_ITEM_DATA(kind, type, item, nr, source)
#define TRACE_ITEM_TEXT(kind, item, source)                                                        \
	TRACE_ITEM_DATA(kind, char, item, trace_event_text_bytes(source), source)
#define TRACE_ITEM_CPUMASK(kind, item)                                                             \
	TRACE_ITEM_DATA(kind, unsigned long, item, TRACE_MASK_LONGS(TRACE_CPUMASK_BITS), NULL)
#define TP_printk(fmt, ...)
