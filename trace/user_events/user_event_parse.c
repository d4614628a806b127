/* Fields of user events: their definition, as Linux takes it, and their texts. See user_event.h. */
#include <trace/errno.h>
#include <trace/trace_seq.h>
#include "print/output_fields.h"
#include "user_event.h"

#define USER_ARRAY_MAX 1024u /* bytes of an array of characters */

static const struct user_type {
	const char *name;
	uint8_t size;
	bool may_unsigned;     /* `unsigned` may stand in front */
	const char *format[2]; /* of a number with a sign, without */
} user_types[] = {
	{ "s64", 8, false, { "%lld" } },     { "u64", 8, false, { "%llu" } },
	{ "s32", 4, false, { "%d" } },	     { "u32", 4, false, { "%u" } },
	{ "int", 4, true, { "%d", "%u" } },  { "s16", 2, false, { "%d" } },
	{ "u16", 2, false, { "%u" } },	     { "short", 2, true, { "%d", "%u" } },
	{ "s8", 1, false, { "%d" } },	     { "u8", 1, false, { "%u" } },
	{ "char", 1, true, { "%d", "%u" } },
};

static const struct user_type *user_type_find(const struct expr_word *name)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(user_types); i++) {
		if (trace_expr_is(name, user_types[i].name))
			return &user_types[i];
	}
	return NULL;
}

/* ---- A definition ---- */

/* `[20]`, or `[]` behind __data_loc and __rel_loc. */
static bool user_field_set_array(struct user_field *field, struct expr_word brackets)
{
	bool is_open = expr_take(&brackets, '[');
	struct expr_word number = expr_take_until(&brackets, "]");
	uint64_t nr = 0;

	if (!is_open || !trace_expr_is(&brackets, "]"))
		return false;
	if (field->kind != TRACE_FIELD_PLAIN) {
		field->size = sizeof(uint32_t);
		return !number.len;
	}
	if (!trace_expr_is(&field->type, "char") || trace_expr_number(&number, 10, false, &nr) ||
	    !nr || nr > USER_ARRAY_MAX)
		return false;
	field->size = (uint32_t)nr;
	return true;
}

/* Find the size of all but structs. */
static bool user_field_set_type(struct user_field *field, struct expr_word word)
{
	const struct user_type *type;

	field->type = expr_take_until(&word, "[");
	type = user_type_find(&field->type);
	if (!type || (field->is_unsigned && !type->may_unsigned))
		return false;
	field->element_size = field->size = type->size;
	if (word.len)
		return user_field_set_array(field, word);
	return field->kind == TRACE_FIELD_PLAIN;
}

static bool user_field_set_struct(struct user_field *field, struct expr_word name,
				  struct expr_word number)
{
	uint64_t size;

	field->type = name;
	if (field->kind != TRACE_FIELD_PLAIN || field->is_unsigned ||
	    trace_expr_number(&number, 10, false, &size) || !size || size > UINT16_MAX)
		return false;
	field->element_size = field->size = (uint32_t)size;
	return true;
}

/* Take the words in front of the type. Returns the one behind them. */
static struct expr_word user_field_take_front(const char **text, struct user_field *out)
{
	struct expr_word word = trace_expr_next_word(text, ';');

	if (trace_expr_is(&word, "__data_loc") || trace_expr_is(&word, "__rel_loc")) {
		out->kind = word.at[2] == 'd' ? TRACE_FIELD_DATA_LOC : TRACE_FIELD_REL_LOC;
		word = trace_expr_next_word(text, ';');
	}
	out->is_unsigned = trace_expr_is(&word, "unsigned");
	out->is_struct = trace_expr_is(&word, "struct");
	return out->is_unsigned || out->is_struct ? trace_expr_next_word(text, ';') : word;
}

int trace_user_field_next(const char **text, struct user_field *out, struct dyn_event_error *error)
{
	struct expr_word type, number = { "", 0 };
	const char *start;
	bool is_good;

	while (**text == ';' || trace_is_space(**text))
		++*text;
	start = *text;
	if (!*start)
		return 0;
	*out = (struct user_field){ .kind = TRACE_FIELD_PLAIN };
	type = user_field_take_front(text, out);
	out->name = trace_expr_next_word(text, ';');
	if (out->is_struct)
		number = trace_expr_next_word(text, ';');
	while (trace_is_space(**text))
		++*text;
	is_good = out->is_struct ? user_field_set_struct(out, type, number)
				 : user_field_set_type(out, type);
	if (is_good && trace_expr_is_name(&out->name) && trace_expr_is_name(&out->type) &&
	    (!**text || **text == ';'))
		return 1;
	return trace_dyn_event_blame(error, start, "Invalid field", -EINVAL);
}

/* ---- Its description ---- */

static const char *user_field_front(const struct user_field *field)
{
	return field->is_unsigned ? "unsigned " : field->is_struct ? "struct " : "";
}

size_t trace_user_field_bytes(const struct user_field *field)
{
	return sizeof("unsigned ") + field->type.len + field->name.len + 1;
}

char *trace_user_field_fill(const struct user_field *field, uint32_t offset,
			    struct trace_event_field *out, char *text)
{
	const struct expr_word front = trace_expr_whole(user_field_front(field));

	*out = (struct trace_event_field){ .type = text,
					   .offset = offset,
					   .size = field->size,
					   .element_size = field->element_size,
					   .kind = field->kind };
	text = trace_expr_put(trace_expr_put(text, &front), &field->type) + 1;
	out->is_signed = *out->type != 'u' || field->kind != TRACE_FIELD_PLAIN;
	out->name = text;
	return trace_expr_put(text, &field->name) + 1;
}

bool trace_user_field_is(const struct user_field *field, const struct trace_event_field *own)
{
	const char *front = user_field_front(field);

	return field->kind == own->kind && field->size == own->size &&
	       trace_expr_is(&field->name, own->name) && trace_str_starts(own->type, front) &&
	       trace_expr_is(&field->type, own->type + trace_strlen(front));
}

void trace_user_field_show(const struct trace_event_field *field, struct trace_seq *seq)
{
	static const char *const fronts[] = { [TRACE_FIELD_PLAIN] = "",
					      [TRACE_FIELD_DATA_LOC] = "__data_loc ",
					      [TRACE_FIELD_REL_LOC] = "__rel_loc " };

	trace_seq_printf(seq, "%s%s", fronts[field->kind], field->type);
	if (field->kind != TRACE_FIELD_PLAIN)
		trace_seq_puts(seq, "[]");
	else if (trace_field_is_array(field))
		trace_seq_printf(seq, "[%u]", field->size);
	trace_seq_printf(seq, " %s", field->name);
	if (trace_str_starts(field->type, "struct "))
		trace_seq_printf(seq, " %u", field->size);
}

/* ---- print fmt, with Linux's conversions ---- */

static bool user_field_is_text(const struct trace_event_field *field)
{
	return trace_field_is_array(field) || field->kind != TRACE_FIELD_PLAIN;
}

static const char *user_field_conversion(const struct trace_event_field *field)
{
	bool is_unsigned = trace_str_starts(field->type, "unsigned ");
	struct expr_word name =
		trace_expr_whole(field->type + (is_unsigned ? sizeof("unsigned ") - 1 : 0));
	const struct user_type *type = user_type_find(&name);

	if (user_field_is_text(field))
		return "%s";
	return type ? type->format[is_unsigned] : "%llu";
}

static void user_field_argument(const struct trace_event_field *field, struct trace_seq *seq)
{
	bool is_char = field->element_size == 1;

	if (field->kind == TRACE_FIELD_PLAIN)
		trace_seq_printf(seq, ", REC->%s", field->name);
	else
		trace_seq_printf(seq, ", __get_%s(%s)",
				 field->kind == TRACE_FIELD_REL_LOC
					 ? is_char ? "rel_str" : "rel_dynamic_array"
				 : is_char ? "str"
					   : "dynamic_array",
				 field->name);
}

void trace_user_fields_fmt(const struct trace_event *event, struct trace_seq *seq)
{
	trace_seq_putc(seq, '"');
	for (uint32_t i = 0; i < event->nr_fields; i++)
		trace_seq_printf(seq, "%s%s=%s", i ? " " : "", event->fields[i].name,
				 user_field_conversion(&event->fields[i]));
	trace_seq_putc(seq, '"');
	for (uint32_t i = 0; i < event->nr_fields; i++)
		user_field_argument(&event->fields[i], seq);
}
