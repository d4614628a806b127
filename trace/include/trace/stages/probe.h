/*
 * Stage: the function that the tracepoint calls. It makes the decisions possible without the event,
 * and calls last:
 *
 *   trace_event_plain_NAME     to record it in one instance: inline; if it has texts or arrays, a
 *                              function of its own, whose registers the others need not save
 *   trace_event_special_NAME   for everything else
 *   trace_event_long_NAME      both call this for an event that is too long for their stack
 *
 * <trace/event_probe.h> has the functions they call; see <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
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

/*
 * The fixed part of the event. Without any field it has a word of zeros behind the head, because
 * copies of events take at least one word.
 */
#define TRACE_STAGE_IS_EMPTY(name)                                                                 \
	(offsetof(struct trace_event_raw_##name, data_) == sizeof(struct trace_entry))
#define TRACE_STAGE_FIXED(name)                                                                    \
	(offsetof(struct trace_event_raw_##name, data_) + (TRACE_STAGE_IS_EMPTY(name) ? 4 : 0))
#define TRACE_STAGE_CLEAR(name)                                                                    \
	if (TRACE_STAGE_IS_EMPTY(name))                                                            \
		__builtin_memset(scratch_.bytes, 0, TRACE_STAGE_FIXED(name));

/* Room for the event on the stack of special, and its length, a multiple of 4. */
#define TRACE_STAGE_SCRATCH(name)                                                                  \
	union {                                                                                    \
		struct trace_event_raw_##name entry;                                               \
		char bytes[TRACE_STAGE_HAS_DATA(name)                                              \
				   ? sizeof(struct trace_event_raw_##name) + TRACE_EVENT_SCRATCH   \
				   : TRACE_STAGE_FIXED(name)];                                     \
	}
#define TRACE_STAGE_BYTES(name, args)                                                              \
	((TRACE_STAGE_FIXED(name) + trace_event_sizes_##name(&plan_, args) + 3) / 4 * 4)
#define TRACE_STAGE_IS_LONG(name)                                                                  \
	(TRACE_STAGE_HAS_DATA(name) && TRACE_UNLIKELY(bytes_ > sizeof(scratch_.bytes)))

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	static TRACE_NOTRACE TRACE_NOINLINE TRACE_UNUSED void trace_event_long_##name(             \
		const struct trace_event_front *front_, proto)                                     \
	{                                                                                          \
		struct trace_event_plan_##name plan_ = { .room = NULL };                           \
		uint32_t bytes_ = TRACE_STAGE_BYTES(name, PARAMS(args));                           \
		struct trace_event_room room_;                                                     \
		struct trace_event_raw_##name *__entry =                                           \
			(struct trace_event_raw_##name *)trace_event_reserve(front_, bytes_,       \
									     &room_);              \
                                                                                                   \
		if (!__entry)                                                                      \
			return;                                                                    \
		tstruct                                                                            \
		{                                                                                  \
			assign;                                                                    \
		}                                                                                  \
		trace_event_commit(&room_, __entry, bytes_);                                       \
	}                                                                                          \
	static TRACE_NOTRACE TRACE_NOINLINE void trace_event_special_##name(                       \
		const struct trace_event_front *front_, proto)                                     \
	{                                                                                          \
		struct trace_event_plan_##name plan_ = { .room = NULL };                           \
		uint32_t bytes_ = TRACE_STAGE_BYTES(name, PARAMS(args));                           \
		TRACE_STAGE_SCRATCH(name) scratch_;                                                \
		struct trace_event_raw_##name *__entry = &scratch_.entry;                          \
		const struct trace_event_test *test_;                                              \
                                                                                                   \
		if (TRACE_STAGE_IS_LONG(name)) {                                                   \
			trace_event_long_##name(front_, args);                                     \
			return;                                                                    \
		}                                                                                  \
		TRACE_STAGE_CLEAR(name)                                                            \
		tstruct                                                                            \
		{                                                                                  \
			assign;                                                                    \
		}                                                                                  \
		test_ = trace_atomic_load_acquire(&front_->test);                                  \
		if (trace_event_passes(test_, __entry))                                            \
			trace_event_write_special(front_, __entry, TRACE_EVENT_STEP(bytes_),       \
						  test_, TRACE_EVENT_SECOND(args, NULL, NULL));    \
	}                                                                                          \
	static TRACE_NOTRACE TRACE_ALWAYS_INLINE void trace_event_plain_##name(                    \
		const struct trace_event_front *front_, proto)                                     \
	{                                                                                          \
		union {                                                                            \
			struct trace_event_raw_##name entry;                                       \
			char bytes[TRACE_STAGE_HAS_DATA(name) ? TRACE_EVENT_ROOM                   \
							      : TRACE_STAGE_FIXED(name)];          \
		} scratch_;                                                                        \
		struct trace_event_raw_##name *__entry = &scratch_.entry;                          \
		struct trace_event_plan_##name plan_ = { .room = scratch_.bytes };                 \
		uint32_t bytes_ = TRACE_STAGE_BYTES(name, PARAMS(args));                           \
                                                                                                   \
		if (TRACE_UNLIKELY(bytes_ > TRACE_EVENT_SHORT)) {                                  \
			trace_event_long_##name(front_, args);                                     \
			return;                                                                    \
		}                                                                                  \
		TRACE_STAGE_CLEAR(name)                                                            \
		tstruct                                                                            \
		{                                                                                  \
			assign;                                                                    \
		}                                                                                  \
		trace_event_record(front_, __entry, TRACE_EVENT_STEP(bytes_));                     \
	}                                                                                          \
	static TRACE_NOTRACE TRACE_NOINLINE TRACE_UNUSED void trace_event_plain_data_##name(       \
		const struct trace_event_front *front_, proto)                                     \
	{                                                                                          \
		trace_event_plain_##name(front_, args);                                            \
	}                                                                                          \
	static TRACE_NOTRACE void trace_event_probe_##name(void *call_, proto)                     \
	{                                                                                          \
		const struct trace_event_front *front_ = trace_event_front_of(call_);              \
		uint32_t flags_ = trace_event_flags(front_);                                       \
                                                                                                   \
		if (TRACE_UNLIKELY(flags_ != TRACE_EVENT_RECORDS)) {                               \
			if (trace_event_may_be_wanted(front_, flags_,                              \
						      TRACE_EVENT_SECOND(args, NULL, NULL)))       \
				trace_event_special_##name(front_, args);                          \
			return;                                                                    \
		}                                                                                  \
		if (TRACE_UNLIKELY(trace_event_is_off(front_)))                                    \
			return;                                                                    \
		if (TRACE_STAGE_HAS_DATA(name))                                                    \
			trace_event_plain_data_##name(front_, args);                               \
		else                                                                               \
			trace_event_plain_##name(front_, args);                                    \
	}

#undef TRACE_ITEM_DATA
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	__entry->__##kind##_loc_##item = plan_.data.item;

/* Definitions for Linux before 6.10 name the source a second time. */
#define __assign_str(item, ...)                                                                    \
	(plan_.data.item##_is_copied                                                               \
		 ? (void)0                                                                         \
		 : trace_event_copy_text(__get_str(item), (const char *)plan_.data.item##_source,  \
					 __get_dynamic_array_len(item)))
#define __assign_str_len(item, src, len) __assign_str(item)
#define __assign_vstr(item, fmt, va)                                                               \
	trace_event_vtext(__get_str(item), __get_dynamic_array_len(item), fmt, va)
#define __assign_bitmask(item, src, nr_bits)                                                       \
	__builtin_memcpy(__get_dynamic_array(item), src, TRACE_MASK_LONGS(nr_bits) * sizeof(long))
#define __assign_cpumask(item, src)	  __assign_bitmask(item, src, TRACE_CPUMASK_BITS)
#define __assign_sockaddr(item, src, len) __builtin_memcpy(__get_dynamic_array(item), src, len)
#define __assign_rel_str(item, ...)                                                                \
	(plan_.data.item##_is_copied                                                               \
		 ? (void)0                                                                         \
		 : trace_event_copy_text(__get_rel_str(item),                                      \
					 (const char *)plan_.data.item##_source,                   \
					 __get_rel_dynamic_array_len(item)))
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
