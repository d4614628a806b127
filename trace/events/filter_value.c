/*
 * Names in a filter: fields of the event, then cpu and comm, then the head that all events have.
 * See filter_private.h.
 */
#include "filter_private.h"
#include "print/output_fields.h"
#include "text/str.h"

/* The head, as the `format` file describes it. */
static const struct trace_event_field filter_head_fields[] = {
	TRACE_FIELD("common_type", unsigned short, trace_entry, type),
	TRACE_FIELD("common_flags", unsigned char, trace_entry, flags),
	TRACE_FIELD("common_preempt_count", unsigned char, trace_entry, preempt_count),
	TRACE_FIELD("common_pid", int, trace_entry, pid),
};

struct current_value {
	const char *name;
	struct filter_value value;
};

/* The CPU and the name of the thread that write the event. */
#define CURRENT_CPU                                                                                \
	{                                                                                          \
		.class = FILTER_CLASS_CPU, .is_signed = true                                       \
	}
#define CURRENT_COMM                                                                               \
	{                                                                                          \
		.class = FILTER_CLASS_TEXT, .place = FILTER_PLACE_COMM, .size = TRACE_COMM_LEN     \
	}
static const struct current_value current_values[] = {
	{ "cpu", CURRENT_CPU },	  { "CPU", CURRENT_CPU },   { "common_cpu", CURRENT_CPU },
	{ "comm", CURRENT_COMM }, { "COMM", CURRENT_COMM },
};

static bool filter_value_is_named(const char *name, const char *word, size_t len)
{
	return trace_strlen(name) == len && memcmp(name, word, len) == 0;
}

static const struct trace_event_field *
filter_value_find_field(const struct trace_event_field *fields, size_t nr, const char *name,
			size_t len)
{
	for (size_t i = 0; i < nr; i++) {
		if (filter_value_is_named(fields[i].name, name, len))
			return &fields[i];
	}
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	while (*text && !trace_str_starts(text, word))
		text++;
	return *text;
}

static enum filter_place filter_value_place_of(const struct trace_event_field *field)
{
	if (field->kind == TRACE_FIELD_DATA_LOC)
		return FILTER_PLACE_LOC;
	if (field->kind == TRACE_FIELD_REL_LOC)
		return FILTER_PLACE_REL;
	return field->size ? FILTER_PLACE_FIELD : FILTER_PLACE_REST;
}

static bool is_size_of_number(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * The class of a field. Linux lets arrays of numbers and structs be compared with a number: they
 * count as a number of their size.
 */
static enum filter_class class_of(const struct trace_event_field *field)
{
	bool is_array = field->kind != TRACE_FIELD_PLAIN || field->size != field->element_size;

	if (field->filter_type == FILTER_STACKTRACE)
		return FILTER_CLASS_STACK;
	if (field->filter_type == FILTER_CPUMASK)
		return FILTER_CLASS_MASK;
	if (is_array && has_word(field->type, "char"))
		return FILTER_CLASS_TEXT;
	if (field->is_address && field->size == sizeof(uint32_t))
		return FILTER_CLASS_ADDRESS;
	return is_size_of_number(field->size) ? FILTER_CLASS_NUMBER : FILTER_CLASS_OTHER;
}

static struct filter_value filter_value_of(const struct trace_event_field *field)
{
	struct filter_value value = { .class = class_of(field),
				      .place = filter_value_place_of(field),
				      .offset = field->offset,
				      .size = field->size,
				      .is_signed = field->is_signed };

	if (value.class == FILTER_CLASS_NUMBER && field->size == sizeof(uintptr_t) &&
	    trace_field_is_text_pointer(field)) {
		value.class = FILTER_CLASS_TEXT;
		value.place = FILTER_PLACE_POINTER;
	}
	return value;
}

bool trace_filter_value_find(const struct trace_event *event, const char *name, size_t len,
			     struct filter_value *out_value)
{
	const struct trace_event_field *field =
		filter_value_find_field(event->fields, event->nr_fields, name, len);

	for (size_t i = 0; !field && i < TRACE_ARRAY_SIZE(current_values); i++) {
		if (filter_value_is_named(current_values[i].name, name, len)) {
			*out_value = current_values[i].value;
			return true;
		}
	}
	if (!field)
		field = filter_value_find_field(filter_head_fields,
						TRACE_ARRAY_SIZE(filter_head_fields), name, len);
	if (!field)
		return false;
	*out_value = filter_value_of(field);
	return true;
}
