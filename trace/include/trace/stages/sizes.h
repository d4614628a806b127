/*
 * Stage: a function that finds out how long an event will be with these arguments, and where its
 * texts and arrays go. It returns the bytes of all of them. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	static TRACE_ALWAYS_INLINE uint32_t trace_event_sizes_##name(                              \
		struct trace_event_plan_##name *plan_, proto)                                      \
	{                                                                                          \
		typedef struct trace_event_raw_##name entry_;                                      \
		uint32_t data_bytes_ = 0;                                                          \
                                                                                                   \
		tstruct return data_bytes_;                                                        \
	}

#undef TRACE_ITEM_DATA
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	plan_->data.item##_source = (const void *)(uintptr_t)(source);                             \
	plan_->data.item##_is_copied = false;                                                      \
	plan_->data.item = trace_event_data_place(offsetof(entry_, data_), &data_bytes_,           \
						  sizeof(type), (size_t)(nr) * sizeof(type)) -     \
			   TRACE_STAGE_BASE_##kind(item);

#undef TRACE_ITEM_TEXT
#define TRACE_ITEM_TEXT(kind, item, source)                                                        \
	TRACE_ITEM_DATA(kind, char, item,                                                          \
			trace_event_text_first(plan_->room, offsetof(entry_, data_) + data_bytes_, \
					       (source)),                                          \
			source)                                                                    \
	plan_->data.item##_is_copied = plan_->room != NULL;

/* The base from which the offset of a place counts. */
#undef TRACE_STAGE_BASE_data
#undef TRACE_STAGE_BASE_rel
#define TRACE_STAGE_BASE_data(item) 0u
#define TRACE_STAGE_BASE_rel(item)  ((uint32_t)offsetof(entry_, __rel_loc_##item) + 4u)
