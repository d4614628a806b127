/*
 * Stage: a function with the description of the fields, in the order of the definition. See
 * <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	static const struct trace_event_field *trace_event_fields_##name(size_t *out_nr)           \
	{                                                                                          \
		typedef struct trace_event_raw_##name entry_;                                      \
		static const struct trace_event_field fields[] = { tstruct };                      \
                                                                                                   \
		*out_nr = sizeof(fields) / sizeof(struct trace_event_field);                       \
		return fields;                                                                     \
	}

#define TRACE_STAGE_FIELD(c_type, item, member, bytes, element, sign, place, filter, address)      \
	{ .name = #item,                                                                           \
	  .type = c_type,                                                                          \
	  .offset = offsetof(entry_, member),                                                      \
	  .size = (bytes),                                                                         \
	  .element_size = (element),                                                               \
	  .is_signed = (sign),                                                                     \
	  .is_address = (address),                                                                 \
	  .kind = (place),                                                                         \
	  .filter_type = (filter) },

#undef TRACE_ITEM
#undef TRACE_ITEM_IP
#undef TRACE_ITEM_AS
#undef TRACE_ITEM_STRUCT
#undef TRACE_ITEM_ARRAY
#undef TRACE_ITEM_DATA
#undef TRACE_ITEM_CPUMASK
/* With <stdbool.h>, `bool` has become _Bool by now. */
#define TRACE_STAGE_TYPE(type, text) (__builtin_types_compatible_p(type, _Bool) ? "bool" : text)
#define TRACE_ITEM(type, item, filter)                                                             \
	TRACE_STAGE_FIELD(TRACE_STAGE_TYPE(type, #type), item, item, sizeof(type), sizeof(type),   \
			  TRACE_TYPE_IS_SIGNED(type), TRACE_FIELD_PLAIN, filter, false)
#define TRACE_ITEM_AS(text, type, item)                                                            \
	TRACE_STAGE_FIELD(text, item, item, sizeof(type), sizeof(type),                            \
			  TRACE_TYPE_IS_SIGNED(type), TRACE_FIELD_PLAIN, FILTER_OTHER, false)
#define TRACE_ITEM_IP(item)                                                                        \
	TRACE_STAGE_FIELD("unsigned int", item, item, 4, 4, false, TRACE_FIELD_PLAIN,              \
			  FILTER_TRACE_FN, true)
#define TRACE_ITEM_STRUCT(type, item)                                                              \
	TRACE_STAGE_FIELD(#type, item, item, sizeof(type), sizeof(type), false, TRACE_FIELD_PLAIN, \
			  FILTER_OTHER, false)
#define TRACE_ITEM_ARRAY(type, item, len)                                                          \
	TRACE_STAGE_FIELD(TRACE_STAGE_TYPE(type, #type), item, item, (len) * sizeof(type),         \
			  sizeof(type), TRACE_TYPE_IS_SIGNED(type), TRACE_FIELD_PLAIN,             \
			  FILTER_OTHER, false)
#define TRACE_ITEM_DATA(kind, type, item, nr, source)                                              \
	TRACE_STAGE_FIELD(TRACE_STAGE_TYPE(type, #type), item, __##kind##_loc_##item, 4,           \
			  sizeof(type), TRACE_TYPE_IS_SIGNED(type), TRACE_STAGE_KIND_##kind,       \
			  FILTER_OTHER, false)
#define TRACE_ITEM_CPUMASK(kind, item)                                                             \
	TRACE_STAGE_FIELD("cpumask_t", item, __##kind##_loc_##item, 4, sizeof(unsigned long),      \
			  false, TRACE_STAGE_KIND_##kind, FILTER_CPUMASK, false)

#define TRACE_STAGE_KIND_data TRACE_FIELD_DATA_LOC
#define TRACE_STAGE_KIND_rel  TRACE_FIELD_REL_LOC
