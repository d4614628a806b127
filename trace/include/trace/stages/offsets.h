/*
 * Stage: struct trace_event_data_offsets_NAME, which has for each text and array its place, as in
 * its __data_loc, its source, and whether it is copied already. It has no members when the size of
 * the event is fixed. struct trace_event_plan_NAME has all of these; `room` is the place of the
 * event if it is short: texts are copied there while they are measured, so that they are read only
 * once; NULL: they are not. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	struct trace_event_data_offsets_##name {                                                   \
		tstruct                                                                            \
	};                                                                                         \
	struct trace_event_plan_##name {                                                           \
		char *room;                                                                        \
		struct trace_event_data_offsets_##name data;                                       \
	};

#undef TRACE_ITEM_DATA
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	uint32_t item;                                                                             \
	const void *item##_source;                                                                 \
	bool item##_is_copied;
