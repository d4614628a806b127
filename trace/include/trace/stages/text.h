/*
 * Stage: the function that prints an event as TP_printk() says. `p` is where the texts of
 * __print_flags() and the like are made; Linux's headers have macros that use this name. See
 * <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>
#include <trace/stages/data.h>

#undef TP_printk
#define TP_printk(fmt, ...) fmt "\n", ##__VA_ARGS__

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	TRACE_STAGE_TEXT(name, name, PARAMS(print))
#undef TRACE_STAGE_EVENT_PRINT
#define TRACE_STAGE_EVENT_PRINT(template, name, proto, args, print)                                \
	TRACE_STAGE_TEXT(template, name, PARAMS(print))

#define TRACE_STAGE_TEXT(template, name, print)                                                    \
	static TRACE_NOTRACE void trace_event_text_##name(const struct trace_iter *iter_,          \
							  struct trace_seq *seq_)                  \
	{                                                                                          \
		struct trace_seq *p;                                                               \
		struct trace_event_raw_##template *__entry =                                       \
			(struct trace_event_raw_##template *)trace_iter_begin_text(                \
				iter_, seq_, offsetof(struct trace_event_raw_##template, data_),   \
				&p);                                                               \
                                                                                                   \
		(void)p;                                                                           \
		if (__entry)                                                                       \
			trace_seq_printf(seq_, print);                                             \
	}

#define TRACE_STAGE_NAMES(...)                                                                     \
	({                                                                                         \
		static const struct trace_print_flags_u64 names_[] = { __VA_ARGS__ };              \
		names_;                                                                            \
	})
#define TRACE_STAGE_NR(...)                                                                        \
	(sizeof((const struct trace_print_flags_u64[]){ __VA_ARGS__ }) /                           \
	 sizeof(struct trace_print_flags_u64))

#define __print_flags(flag, delim, ...)                                                            \
	trace_print_flags_seq(p, delim, (unsigned long long)(flag),                                \
			      TRACE_STAGE_NAMES(__VA_ARGS__), TRACE_STAGE_NR(__VA_ARGS__))
#define __print_flags_u64 __print_flags
#define __print_symbolic(value, ...)                                                               \
	trace_print_symbols_seq(p, (unsigned long long)(value), TRACE_STAGE_NAMES(__VA_ARGS__),    \
				TRACE_STAGE_NR(__VA_ARGS__))
#define __print_symbolic_u64		  __print_symbolic
#define __print_hex(bytes, len)		  trace_print_hex_seq(p, bytes, (int)(len), false)
#define __print_hex_str(bytes, len)	  trace_print_hex_seq(p, bytes, (int)(len), true)
#define __print_array(array, nr, element) trace_print_array_seq(p, array, (int)(nr), element)
#define __print_hex_dump(before, type, row, group, bytes, len, ascii)                              \
	trace_print_hex_dump_seq(p,                                                                \
				 &(const struct trace_hex_dump){ .prefix = (before),               \
								 .prefix_type = (type),            \
								 .row_bytes = (row),               \
								 .group_bytes = (group),           \
								 .has_ascii = (ascii) },           \
				 bytes, len)
#define __print_ns_to_secs(ns)	    ((unsigned long long)(ns) / 1000000000ull)
#define __print_ns_without_secs(ns) ((unsigned int)((unsigned long long)(ns) % 1000000000ull))
#define __get_bitmask(item)                                                                        \
	trace_print_bitmask_seq(p, __get_dynamic_array(item), __get_dynamic_array_len(item))
#define __get_cpumask(item) __get_bitmask(item)
#define __get_rel_bitmask(item)                                                                    \
	trace_print_bitmask_seq(p, __get_rel_dynamic_array(item), __get_rel_dynamic_array_len(item))
#define __get_rel_cpumask(item) __get_rel_bitmask(item)
#define __get_ip(item)		((void *)trace_plat_ip_unpack(__entry->item))
#define __get_buf(len)		trace_print_room_seq(p, len)
