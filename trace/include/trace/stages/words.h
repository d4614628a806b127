/*
 * The words of definitions, in terms of few that each stage gives its own meaning to:
 *
 *   TRACE_STAGE_CLASS, _EVENT, _EVENT_PRINT, _EVAL   see clear.h
 *   TRACE_ITEM, _ITEM_STRUCT, _ITEM_ARRAY            fields of fixed size
 *   TRACE_ITEM_IP                                    a code address in 32 bits
 *   TRACE_ITEM_AS                                    a field whose type has another name
 *   TRACE_ITEM_DATA(kind, type, item, nr, source)    a text or an array of `nr` elements behind the
 *                                                    fixed part; its place is in a __data_loc or,
 *                                                    with kind rel, a __rel_loc
 *   TRACE_ITEM_TEXT(kind, item, source)              a text of which only its end says how long it
 *                                                    is; TRACE_ITEM_DATA unless a stage knows
 *                                                    better
 *
 * See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_EVENT
#undef TRACE_EVENT_ATOMIC
#undef TRACE_EVENT_EXISTING
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_NOP
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_ATOMIC
#undef DEFINE_EVENT_EXISTING
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_NOP
#undef TRACE_DEFINE_ENUM
#undef TRACE_DEFINE_SIZEOF

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                             \
	TRACE_STAGE_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),      \
			  PARAMS(print))
#define DEFINE_EVENT(template, name, proto, args)                                                  \
	TRACE_STAGE_EVENT(template, name, PARAMS(proto), PARAMS(args), plain, NULL, NULL)
#define DEFINE_EVENT_ATOMIC(template, name, proto, args)                                           \
	TRACE_STAGE_EVENT(template, name, PARAMS(proto), PARAMS(args), atomic, NULL, NULL)
#define DEFINE_EVENT_EXISTING(template, name, proto, args)                                         \
	TRACE_STAGE_EVENT(template, name, PARAMS(proto), PARAMS(args), existing, NULL, NULL)
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)                                   \
	TRACE_STAGE_EVENT(template, name, PARAMS(proto), PARAMS(args), plain, reg, unreg)
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)                                  \
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)                                     \
	TRACE_STAGE_EVENT_PRINT(template, name, PARAMS(proto), PARAMS(args), PARAMS(print))

/* An event alone is a class with one event. */
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                     \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print))                                                         \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_ATOMIC(name, proto, args, tstruct, assign, print)                              \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print))                                                         \
	DEFINE_EVENT_ATOMIC(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_EXISTING(name, proto, args, tstruct, assign, print)                            \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print))                                                         \
	DEFINE_EVENT_EXISTING(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),            \
		    PARAMS(print))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                      \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print))                                                         \
	DEFINE_EVENT_FN(name, name, PARAMS(proto), PARAMS(args), reg, unreg)
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg)           \
	TRACE_EVENT_FN(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),         \
		       PARAMS(print), reg, unreg)

#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)
#define DECLARE_EVENT_NOP(name, proto, args)
#define DEFINE_EVENT_NOP(template, name, proto, args)

#define TRACE_DEFINE_ENUM(name)	  TRACE_STAGE_EVAL(name, #name, name)
#define TRACE_DEFINE_SIZEOF(type) TRACE_STAGE_EVAL(type, "sizeof(" #type ")", sizeof(type))

/* ---- Fields ---- */

#undef __field
#undef __field_ext
#undef __field_struct
#undef __field_struct_ext
#undef __field_ip
#undef __field_as
#undef __array
#undef __dynamic_array
#undef __string
#undef __string_len
#undef __vstring
#undef __bitmask
#undef __cpumask
#undef __sockaddr
#undef __rel_dynamic_array
#undef __rel_string
#undef __rel_string_len
#undef __rel_vstring
#undef __rel_bitmask
#undef __rel_cpumask
#undef __rel_sockaddr

#define __field(type, item)			    TRACE_ITEM(type, item, FILTER_OTHER)
#define __field_ext(type, item, filter_type)	    TRACE_ITEM(type, item, filter_type)
#define __field_struct(type, item)		    TRACE_ITEM_STRUCT(type, item)
#define __field_struct_ext(type, item, filter_type) TRACE_ITEM_STRUCT(type, item)
#define __array(type, item, len)		    TRACE_ITEM_ARRAY(type, item, len)
/*
 * Not one of Linux's words: a code address that trace_plat_ip_pack() has put into 32 bits. In
 * TP_printk(), __get_ip(item) is the address.
 */
#define __field_ip(item) TRACE_ITEM_IP(item)
/*
 * Nor is this: a field of `type` that `format` calls by the name of Linux's type, which a host need
 * not have, such as pid_t.
 */
#define __field_as(name, type, item) TRACE_ITEM_AS(#name, type, item)

#define TRACE_MASK_LONGS(nr_bits) (((nr_bits) + 8 * sizeof(long) - 1) / (8 * sizeof(long)))
#define TRACE_CPUMASK_BITS	  trace_plat_nr_cpus()

#define __dynamic_array(type, item, len)     TRACE_ITEM_DATA(data, type, item, len, NULL)
#define __rel_dynamic_array(type, item, len) TRACE_ITEM_DATA(rel, type, item, len, NULL)
#define __string(item, src)		     TRACE_ITEM_TEXT(data, item, src)
#define __rel_string(item, src)		     TRACE_ITEM_TEXT(rel, item, src)
#define __string_len(item, src, len)	     TRACE_ITEM_DATA(data, char, item, (len) + 1, src)
#define __rel_string_len(item, src, len)     TRACE_ITEM_DATA(rel, char, item, (len) + 1, src)
#define __vstring(item, fmt, va)                                                                   \
	TRACE_ITEM_DATA(data, char, item, trace_event_vtext_bytes(fmt, va), NULL)
#define __rel_vstring(item, fmt, va)                                                               \
	TRACE_ITEM_DATA(rel, char, item, trace_event_vtext_bytes(fmt, va), NULL)
#define __bitmask(item, nr_bits)                                                                   \
	TRACE_ITEM_DATA(data, unsigned long, item, TRACE_MASK_LONGS(nr_bits), NULL)
#define __rel_bitmask(item, nr_bits)                                                               \
	TRACE_ITEM_DATA(rel, unsigned long, item, TRACE_MASK_LONGS(nr_bits), NULL)
#define __cpumask(item)		  TRACE_ITEM_CPUMASK(data, item)
#define __rel_cpumask(item)	  TRACE_ITEM_CPUMASK(rel, item)
#define __sockaddr(item, len)	  TRACE_ITEM_DATA(data, unsigned char, item, len, NULL)
#define __rel_sockaddr(item, len) TRACE_ITEM_DATA(rel, unsigned char, item, len, NULL)

/* ---- Words with a different meaning in text.h, probe.h and call.h ---- */

#undef __entry

#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_ip
#undef __get_sockaddr
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_rel_str
#undef __get_rel_sockaddr
