/*
 * The fields of a synthetic event, from its text. Error messages have Linux's words. See
 * synth_private.h.
 */
#include <trace/errno.h>
#include "synth_private.h"
#include "text/str.h"

#define BAD_ARRAY "Invalid array specification"
#define BAD_TYPE  "Invalid type"

struct synth_type {
	const char *name;
	bool is_unsigned; /* the word `unsigned` stood in front */
	uint8_t size;
	bool is_signed;
};

static const struct synth_type synth_types[] = {
	{ "s64", false, 8, true },   { "u64", false, 8, false },  { "s32", false, 4, true },
	{ "u32", false, 4, false },  { "s16", false, 2, true },	  { "u16", false, 2, false },
	{ "s8", false, 1, true },    { "u8", false, 1, false },	  { "char", false, 1, true },
	{ "char", true, 1, false },  { "int", false, 4, true },	  { "int", true, 4, false },
	{ "long", false, 8, true },  { "long", true, 8, false },  { "bool", false, 1, false },
	{ "pid_t", false, 4, true }, { "gfp_t", false, 4, false }
};

int trace_synth_refuse(struct dyn_event_error *error, const char *at, const char *why)
{
	error->where = "synthetic_events";
	return trace_dyn_event_blame(error, at, why, -EINVAL);
}

/* Take the part from '[' on off the end of the word. */
static struct expr_word take_array(struct expr_word *word)
{
	struct expr_word array = *word;

	*word = expr_take_until(&array, "[");
	return array;
}

/* The number between the brackets, 0 for none. False: it is something else. */
static bool take_length(struct expr_word array, uint64_t *out_nr)
{
	bool is_open = expr_take(&array, '[');
	struct expr_word number = expr_take_until(&array, "]");

	*out_nr = 0;
	return is_open && trace_expr_is(&array, "]") && number.len < 4 &&
	       (!number.len || !trace_expr_number(&number, 0, false, out_nr));
}

static bool parse_text(struct synth_parsed *field, const struct expr_word *array)
{
	uint64_t nr;

	if (!take_length(*array, &nr) || nr > SYNTH_TEXT_MAX)
		return false;
	field->kind = nr ? SYNTH_TEXT : SYNTH_DYNAMIC_TEXT;
	field->size = nr ? (uint16_t)nr : sizeof(uint32_t);
	field->is_signed = !field->is_unsigned;
	return true;
}

static bool synth_parse_stack(struct synth_parsed *field, const struct expr_word *array)
{
	field->kind = SYNTH_STACK;
	field->size = sizeof(uint32_t);
	field->is_signed = !field->is_unsigned;
	return trace_expr_is(array, "[]");
}

static bool synth_parse_number(struct synth_parsed *field)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(synth_types); i++) {
		const struct synth_type *type = &synth_types[i];

		if (type->is_unsigned != field->is_unsigned ||
		    !trace_expr_is(&field->type, type->name))
			continue;
		field->kind = SYNTH_NUMBER;
		field->size = type->size;
		field->is_signed = type->is_signed;
		return true;
	}
	return false;
}

/*
 * Parse a type. Only texts and stacks are arrays; the brackets stand behind the type or behind the
 * name. Returns the place of a mistake, or NULL.
 */
static const char *synth_parse_type(struct synth_parsed *field)
{
	struct expr_word base = field->type, array = take_array(&base);
	bool is_text = trace_expr_is(&base, "char"), is_array = array.len || field->array.len;

	if (!is_array)
		return synth_parse_number(field) ? NULL : field->type.at;
	if (!is_text && !trace_expr_is(&base, "long"))
		return field->type.at;
	if (array.len && field->array.len)
		return field->name.at;
	if (field->array.len)
		array = field->array;
	if (is_text ? parse_text(field, &array) : synth_parse_stack(field, &array))
		return NULL;
	return field->array.len ? field->name.at : field->type.at;
}

int trace_synth_parse_field(const char **text, struct dyn_event_error *error,
			    struct synth_parsed *out)
{
	struct expr_word first;
	const char *mistake;

	while (**text == ';' || trace_is_space(**text))
		++*text;
	first = trace_expr_next_word(text, ';');
	if (!first.len)
		return 0;
	out->is_unsigned = trace_expr_is(&first, "unsigned");
	out->type = out->is_unsigned ? trace_expr_next_word(text, ';') : first;
	out->name = trace_expr_next_word(text, ';');
	if (!out->name.len)
		return trace_synth_refuse(error, first.at,
					  out->is_unsigned ? "Incomplete type" : "Invalid field");
	out->array = take_array(&out->name);
	if (!trace_expr_is_name(&out->name))
		return trace_synth_refuse(error, out->name.at, "Illegal name");
	mistake = synth_parse_type(out);
	if (!mistake)
		return 1;
	return trace_synth_refuse(error, mistake, mistake == out->type.at ? BAD_TYPE : BAD_ARRAY);
}
