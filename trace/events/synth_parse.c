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

int trace_synth_blame(struct dyn_event_error *error, const char *at, const char *why, int err)
{
	error->at = at;
	error->why = why;
	error->where = "synthetic_events";
	return err;
}

static bool synth_parse_is_letter(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool trace_synth_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!synth_parse_is_letter(text[i]) && !(i && text[i] >= '0' && text[i] <= '9'))
			return false;
	}
	return len;
}

static bool synth_parse_is_word(const struct synth_word *word, const char *text)
{
	return word->len == trace_strlen(text) && memcmp(word->at, text, word->len) == 0;
}

/* Take the next word before the next semicolon. Returns false when there is none. */
static bool next_word(struct synth_parse *parse, struct synth_word *out)
{
	const char *at = parse->at;

	while (trace_is_space(*at))
		at++;
	out->at = at;
	while (*at && *at != ';' && !trace_is_space(*at))
		at++;
	out->len = (uint32_t)(at - out->at);
	parse->at = at;
	return out->len;
}

/* Take the part from '[' on off the end of the word. */
static struct synth_word take_array(struct synth_word *word)
{
	struct synth_word array = *word;

	while (array.len && *array.at != '[') {
		array.at++;
		array.len--;
	}
	word->len -= array.len;
	return array;
}

/* Parse the number between the brackets, 0 for none. Returns -EINVAL for other text. */
static int array_length(const struct synth_word *array, uint64_t *out_nr)
{
	char digits[4] = "";

	*out_nr = 0;
	if (array->len < 2 || array->len > sizeof(digits) + 1 || array->at[array->len - 1] != ']')
		return -EINVAL;
	memcpy(digits, array->at + 1, array->len - 2);
	return digits[0] ? trace_parse_u64(digits, 0, out_nr) : 0;
}

static int parse_text(struct synth_parsed *field, const struct synth_word *array)
{
	uint64_t nr;

	if (array_length(array, &nr) || nr > SYNTH_TEXT_MAX)
		return -EINVAL;
	field->kind = nr ? SYNTH_TEXT : SYNTH_DYNAMIC_TEXT;
	field->size = nr ? (uint16_t)nr : sizeof(uint32_t);
	field->is_signed = !field->is_unsigned;
	return 0;
}

static int synth_parse_stack(struct synth_parsed *field, const struct synth_word *array)
{
	if (!synth_parse_is_word(array, "[]"))
		return -EINVAL;
	field->kind = SYNTH_STACK;
	field->size = sizeof(uint32_t);
	field->is_signed = !field->is_unsigned;
	return 0;
}

static int synth_parse_number(struct synth_parsed *field)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(synth_types); i++) {
		if (synth_types[i].is_unsigned != field->is_unsigned ||
		    !synth_parse_is_word(&field->type, synth_types[i].name))
			continue;
		field->kind = SYNTH_NUMBER;
		field->size = synth_types[i].size;
		field->is_signed = synth_types[i].is_signed;
		return 0;
	}
	return -EINVAL;
}

/*
 * Parse a type. Only texts and stacks are arrays; the brackets stand behind the type or behind the
 * name.
 */
static int synth_parse_type(struct synth_parse *parse, struct synth_parsed *field)
{
	struct synth_word base = field->type, array = take_array(&base);
	bool is_text = synth_parse_is_word(&base, "char"),
	     is_stack = synth_parse_is_word(&base, "long");
	int err;

	if (!array.len && !field->array.len) {
		if (!synth_parse_number(field))
			return 0;
		return trace_synth_blame(parse->error, field->type.at, BAD_TYPE, -EINVAL);
	}
	if (!is_text && !is_stack)
		return trace_synth_blame(parse->error, field->type.at, BAD_TYPE, -EINVAL);
	if (array.len && field->array.len)
		return trace_synth_blame(parse->error, field->name.at, BAD_ARRAY, -EINVAL);
	if (field->array.len)
		array = field->array;
	err = is_text ? parse_text(field, &array) : synth_parse_stack(field, &array);
	if (!err)
		return 0;
	return field->array.len ? trace_synth_blame(parse->error, field->name.at, BAD_ARRAY, err)
				: trace_synth_blame(parse->error, field->type.at, BAD_TYPE, err);
}

int trace_synth_parse_field(struct synth_parse *parse, struct synth_parsed *out)
{
	struct synth_word first;

	while (*parse->at == ';' || trace_is_space(*parse->at))
		parse->at++;
	if (!next_word(parse, &first))
		return 0;
	out->type = first;
	out->is_unsigned = synth_parse_is_word(&first, "unsigned");
	if (out->is_unsigned && !next_word(parse, &out->type))
		return trace_synth_blame(parse->error, first.at, "Incomplete type", -EINVAL);
	if (!next_word(parse, &out->name))
		return trace_synth_blame(parse->error, first.at,
					 out->is_unsigned ? "Incomplete type" : "Invalid field",
					 -EINVAL);
	out->array = take_array(&out->name);
	if (!trace_synth_is_name(out->name.at, out->name.len))
		return trace_synth_blame(parse->error, out->name.at, "Illegal name", -EINVAL);
	return synth_parse_type(parse, out) ? -EINVAL : 1;
}
