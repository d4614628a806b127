/*
 * Questions about a field of an event, for code that prints it. See <trace/event.h>.
 */
#ifndef TRACE_OUTPUT_FIELDS_H
#define TRACE_OUTPUT_FIELDS_H

#include <trace/event.h>
#include "text/str.h"

static inline bool trace_field_is_array(const struct trace_event_field *field)
{
	return field->size != field->element_size;
}

static inline bool trace_field_is_char(const struct trace_event_field *field)
{
	return trace_streq(field->type, "char");
}

/* It is an array of characters. */
static inline bool trace_field_is_text(const struct trace_event_field *field)
{
	return trace_field_is_char(field) && trace_field_is_array(field);
}

static inline bool trace_field_is_pointer(const struct trace_event_field *field)
{
	return field->type[trace_strlen(field->type) - 1] == '*';
}

/* It points to text that is there for good. */
static inline bool trace_field_is_text_pointer(const struct trace_event_field *field)
{
	return field->filter_type == FILTER_PTR_STRING || trace_streq(field->type, "char *") ||
	       trace_streq(field->type, "const char *");
}

#endif
