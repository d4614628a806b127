/*
 * Stage: struct trace_event_data_offsets_NAME, which has for each text and array where it goes, as
 * its __data_loc says, and where it comes from. It has no members when the size of the event is
 * fixed. See <trace/define_trace.h>.
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	struct trace_event_data_offsets_##name {                                                   \
		tstruct                                                                            \
	};

#undef TRACE_ITEM_DATA
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	uint32_t item;                                                                             \
	const void *item##_source;
