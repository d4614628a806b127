/*
 * Stage: the function that the tracepoint calls. It builds the event on its stack and hands it
 * over; a long one is built in the ring buffer. See <trace/define_trace.h>.
 */
#include <trace/stages/clear.h>

#undef __print_flags
#undef __print_flags_u64
#undef __print_symbolic
#undef __print_symbolic_u64
#undef __print_hex
#undef __print_hex_str
#undef __print_array
#undef __print_hex_dump
#undef __print_ns_to_secs
#undef __print_ns_without_secs
#undef __get_bitmask
#undef __get_cpumask
#undef __get_rel_bitmask
#undef __get_rel_cpumask
#undef __get_buf

#define TRACE_STAGE_HAS_DATA(name) (!!sizeof(struct trace_event_data_offsets_##name))

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	static TRACE_NOTRACE void trace_event_probe_##name(void *call_, proto)                     \
	{                                                                                          \
		struct trace_event_data_offsets_##name data_offsets_;                              \
		union {                                                                            \
			struct trace_event_raw_##name entry;                                       \
			char bytes[sizeof(struct trace_event_raw_##name) +                         \
				   (TRACE_STAGE_HAS_DATA(name) ? TRACE_EVENT_SCRATCH : 0)];        \
		} scratch_;                                                                        \
		uint32_t bytes_ = (offsetof(struct trace_event_raw_##name, data_) +                \
				   trace_event_sizes_##name(&data_offsets_, args) + 3) /           \
				  4 * 4;                                                           \
		struct trace_event_raw_##name *__entry = &scratch_.entry;                          \
		struct trace_event_room room_;                                                     \
                                                                                                   \
		if (TRACE_STAGE_HAS_DATA(name) &&                                                  \
		    TRACE_UNLIKELY(bytes_ > sizeof(scratch_.bytes))) {                             \
			__entry = (struct trace_event_raw_##name *)trace_event_reserve(            \
				(struct trace_event_call *)call_, bytes_, &room_);                 \
			if (!__entry)                                                              \
				return;                                                            \
		}                                                                                  \
		tstruct                                                                            \
		{                                                                                  \
			assign;                                                                    \
		}                                                                                  \
		if (!TRACE_STAGE_HAS_DATA(name) || TRACE_LIKELY(__entry == &scratch_.entry))       \
			trace_event_write((struct trace_event_call *)call_, __entry, bytes_,       \
					  TRACE_EVENT_SECOND(args, NULL, NULL));                   \
		else                                                                               \
			trace_event_commit(&room_, __entry, bytes_);                               \
	}

#undef TRACE_ITEM_DATA
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	__entry->__##kind##_loc_##item = data_offsets_.item;

/* Definitions for Linux before 6.10 name the source a second time. */
#define __assign_str(item, ...)                                                                    \
	trace_event_copy_text(__get_str(item), (const char *)data_offsets_.item##_source,          \
			      __get_dynamic_array_len(item))
#define __assign_str_len(item, src, len) __assign_str(item)
#define __assign_vstr(item, fmt, va)                                                               \
	trace_event_vtext(__get_str(item), __get_dynamic_array_len(item), fmt, va)
#define __assign_bitmask(item, src, nr_bits)                                                       \
	__builtin_memcpy(__get_dynamic_array(item), src, TRACE_MASK_LONGS(nr_bits) * sizeof(long))
#define __assign_cpumask(item, src)	  __assign_bitmask(item, src, TRACE_CPUMASK_BITS)
#define __assign_sockaddr(item, src, len) __builtin_memcpy(__get_dynamic_array(item), src, len)
#define __assign_rel_str(item, ...)                                                                \
	trace_event_copy_text(__get_rel_str(item), (const char *)data_offsets_.item##_source,      \
			      __get_rel_dynamic_array_len(item))
#define __assign_rel_str_len(item, src, len) __assign_rel_str(item)
#define __assign_rel_vstr(item, fmt, va)                                                           \
	trace_event_vtext(__get_rel_str(item), __get_rel_dynamic_array_len(item), fmt, va)
#define __assign_rel_bitmask(item, src, nr_bits)                                                   \
	__builtin_memcpy(__get_rel_dynamic_array(item), src,                                       \
			 TRACE_MASK_LONGS(nr_bits) * sizeof(long))
#define __assign_rel_cpumask(item, src) __assign_rel_bitmask(item, src, TRACE_CPUMASK_BITS)
#define __assign_rel_sockaddr(item, src, len)                                                      \
	__builtin_memcpy(__get_rel_dynamic_array(item), src, len)
/* Marks that old definitions have for perf. */
#ifndef __perf_count
#define __perf_count(count) (count)
#define __perf_task(task)   (task)
#endif
