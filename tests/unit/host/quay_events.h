/*
 * The words of definitions that yard_events.h has no room for: masks of CPUs, what lies relative to
 * its field, dumps.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quay

#if !defined(_TRACE_QUAY_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_QUAY_H

#include <linux/tracepoint.h>

TRACE_EVENT(quay_masks,

	TP_PROTO(const char *name, const unsigned long *mask),

	TP_ARGS(name, mask),

	TP_STRUCT__entry(
		__field_ext(	const char *,	name,	FILTER_PTR_STRING	)
		__cpumask(	cpus	)
		__rel_bitmask(	rel_mask,	70	)
		__rel_cpumask(	rel_cpus	)
		__rel_string_len(	rel_cut,	name,	3	)
		__field(	unsigned long,	first	)
	),

	TP_fast_assign(
		__entry->name = name;
		__assign_cpumask(cpus, mask);
		__assign_rel_bitmask(rel_mask, mask, 70);
		__assign_rel_cpumask(rel_cpus, mask + 1);
		__assign_rel_str_len(rel_cut, name, 3);
		__entry->first = *mask;
	),

	TP_printk("cpus=%s rel_mask=%s rel_cpus=%s rel_cut=%s lens=%d,%d first=%s/%s",
		__get_cpumask(cpus), __get_rel_bitmask(rel_mask), __get_rel_cpumask(rel_cpus),
		__get_rel_str(rel_cut), __get_rel_dynamic_array_len(rel_mask),
		__get_rel_dynamic_array_len(rel_cut),
		__print_flags_u64(__entry->first, "+",
			{ 1ULL << 32, "HIGH" }, { 1, "LOW" }),
		__print_symbolic_u64(__entry->first,
			{ 0x8100000001ULL, "odd" }))
);

TRACE_EVENT(quay_dump,

	TP_PROTO(const u8 *bytes, int nr),

	TP_ARGS(bytes, nr),

	TP_STRUCT__entry(
		__dynamic_array(u8,	bytes,	nr	)
	),

	TP_fast_assign(
		memcpy(__get_dynamic_array(bytes), bytes, nr);
	),

	TP_printk("bytes:%s in words:%s",
		__print_hex_dump("at ", DUMP_PREFIX_OFFSET, 16, 1, __get_dynamic_array(bytes),
				 __get_dynamic_array_len(bytes), true),
		__print_hex_dump("", DUMP_PREFIX_NONE, 32, 4, __get_dynamic_array(bytes),
				 __get_dynamic_array_len(bytes), false))
);

TRACE_EVENT(quay_bell,

	TP_PROTO(int ignored),

	TP_ARGS(ignored),

	TP_STRUCT__entry(
	),

	TP_fast_assign(
	),

	TP_printk("rings")
);

#endif /* _TRACE_QUAY_H */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE quay_events
#include <trace/define_trace.h>
