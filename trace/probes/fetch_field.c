/*
 * Fields of an event as values. See fetch.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch_private.h"
#include "text/str.h"

static const struct trace_event_field *fetch_field_find(const struct trace_event *event,
							const struct expr_word *name)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (trace_expr_is(name, event->fields[i].name))
			return &event->fields[i];
	}
	return NULL;
}

static bool fetch_field_is_number(const struct trace_event_field *field)
{
	return field->kind == TRACE_FIELD_PLAIN && field->size == field->element_size &&
	       (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
}

static bool fetch_field_is_chars(const struct trace_event_field *field)
{
	return trace_streq(field->type, "char") || trace_streq(field->type, "const char");
}

void trace_fetch_declare_field(const struct trace_event_field *field, struct trace_seq *seq)
{
	bool is_pointer = field->type[trace_strlen(field->type) - 1] == '*';

	trace_seq_printf(seq, "%s%s%s", field->type, is_pointer ? "" : " ", field->name);
	if (field->kind != TRACE_FIELD_PLAIN)
		trace_seq_puts(seq, "[]");
	else if (field->element_size && field->size != field->element_size)
		trace_seq_printf(seq, "[%u]", field->size / field->element_size);
}

/* The value of a field that is no number is its address. */
bool trace_fetch_field(struct fetch_parse *parse, const struct expr_word *name)
{
	static const uint8_t codes[] = {
		[TRACE_FIELD_PLAIN] = FETCH_ADDRESS,
		[TRACE_FIELD_DATA_LOC] = FETCH_LOCATED,
		[TRACE_FIELD_REL_LOC] = FETCH_LOCATED_BACK,
	};
	const struct trace_event_field *field =
		fetch_field_find(parse->build->context->event, name);
	struct fetch_origin *origin = parse->origin;

	if (!field)
		return false;
	origin->field = field;
	origin->operand = field->offset;
	origin->how = codes[field->kind];
	if (fetch_field_is_number(field)) {
		origin->how = FETCH_LOAD;
		origin->size = (uint16_t)field->size;
		origin->is_signed = field->is_signed || field->is_address;
	} else if (fetch_field_is_chars(field)) {
		parse->own_type = trace_fetch_type_find("string", 6);
	}
	if (field->filter_type == FILTER_PTR_STRING)
		parse->own_type = trace_fetch_type_find("string", 6);
	return true;
}
