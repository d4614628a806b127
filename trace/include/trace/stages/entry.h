/*
 * Stage: struct trace_event_raw_NAME, the event as it is in the ring buffer. Members of 8 bytes are
 * aligned to 4, as events are. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	_Pragma("pack(push, 4)") struct trace_event_raw_##name {                                   \
		struct trace_entry ent;                                                            \
		tstruct char data_[];                                                              \
	};                                                                                         \
	_Pragma("pack(pop)")

#undef TRACE_ITEM
#undef TRACE_ITEM_STRUCT
#undef TRACE_ITEM_ARRAY
#undef TRACE_ITEM_DATA
#define TRACE_ITEM(type, item, filter_type)	      type item;
#define TRACE_ITEM_STRUCT(type, item)		      type item;
#define TRACE_ITEM_ARRAY(type, item, len)	      type item[len];
#define TRACE_ITEM_DATA(kind, type, item, nr, source) uint32_t __##kind##_loc_##item;
