/* Names of an event: see expr_value.h. */
#include "expr_value.h"
#include "print/output_fields.h"
#include "text/str.h"

/* The head, as the `format` file describes it. */
static const struct trace_event_field expr_head_fields[] = {
	TRACE_FIELD("common_type", unsigned short, trace_entry, type),
	TRACE_FIELD("common_flags", unsigned char, trace_entry, flags),
	TRACE_FIELD("common_preempt_count", unsigned char, trace_entry, preempt_count),
	TRACE_FIELD("common_pid", int, trace_entry, pid),
};

static const struct trace_event_field *expr_find_field(const struct trace_event_field *fields,
						       size_t nr, const struct expr_word *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (trace_expr_is(name, fields[i].name))
			return &fields[i];
	}
	return NULL;
}

static bool expr_has_word(const char *text, const char *word)
{
	while (*text && !trace_str_starts(text, word))
		text++;
	return *text;
}

static enum expr_place expr_place_of(const struct trace_event_field *field)
{
	if (field->kind == TRACE_FIELD_DATA_LOC)
		return EXPR_PLACE_LOC;
	if (field->kind == TRACE_FIELD_REL_LOC)
		return EXPR_PLACE_REL;
	return field->size ? EXPR_PLACE_FIELD : EXPR_PLACE_REST;
}

static bool expr_is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * The class of a field. Linux lets arrays of numbers and structs be compared with a number: they
 * count as a number of their size.
 */
static enum expr_class expr_class_of(const struct trace_event_field *field)
{
	bool is_array = field->kind != TRACE_FIELD_PLAIN || field->size != field->element_size;

	if (field->filter_type == FILTER_STACKTRACE)
		return EXPR_CLASS_STACK;
	if (field->filter_type == FILTER_CPUMASK)
		return EXPR_CLASS_SET;
	if (is_array && expr_has_word(field->type, "char"))
		return EXPR_CLASS_TEXT;
	if (field->is_address && field->size == sizeof(uint32_t))
		return EXPR_CLASS_ADDRESS;
	return expr_is_number_size(field->size) ? EXPR_CLASS_NUMBER : EXPR_CLASS_OTHER;
}

static struct expr_value expr_value_of(const struct trace_event_field *field)
{
	struct expr_value value = { .class = expr_class_of(field),
				    .place = expr_place_of(field),
				    .offset = field->offset,
				    .size = field->size,
				    .is_signed = field->is_signed,
				    .field = field };

	if (value.class == EXPR_CLASS_NUMBER && field->size == sizeof(uintptr_t) &&
	    trace_field_is_text_pointer(field)) {
		value.class = EXPR_CLASS_TEXT;
		value.place = EXPR_PLACE_POINTER;
	}
	return value;
}

bool trace_expr_find_in_event(const struct expr_names *names, const struct expr_word *name,
			      struct expr_value *out_value)
{
	const struct trace_event *event = names->event;
	const struct trace_event_field *field =
		expr_find_field(event->fields, event->nr_fields, name);

	for (uint32_t i = 0; !field && i < names->nr_words; i++) {
		if (trace_expr_is(name, names->words[i].name)) {
			*out_value = names->words[i].value;
			return true;
		}
	}
	if (!field)
		field = expr_find_field(expr_head_fields, TRACE_ARRAY_SIZE(expr_head_fields), name);
	if (!field)
		return false;
	*out_value = expr_value_of(field);
	return true;
}
