/*
 * An argument becomes steps of a program: NAME=VALUE:TYPE[NUMBER]. See fetch.h. Error messages have
 * Linux's words.
 */
#include <trace/platform.h>
#include "fetch_private.h"
#include "events/dyn_event.h"
#include "text/str.h"

const struct fetch_names *trace_fetch_names;

int trace_fetch_blame(const struct fetch_parse *parse, const char *at, const char *why, int err)
{
	return trace_dyn_event_blame(parse->build->error, at, why, err);
}

int trace_fetch_refuse(const struct fetch_parse *parse, const char *at, const char *why)
{
	return trace_fetch_blame(parse, at, why, -EINVAL);
}

/*
 * Is the value in memory, as arrays and texts have to be? A word of the stack stands for a value.
 */
static bool is_memory(const struct fetch_origin *origin)
{
	return fetch_is_read(origin) && !origin->is_word;
}

/* ---- Types ---- */

static const char fetch_parse_unknown[] = "Unknown type is specified";

/* b<width>@<first>/<size> */
static int parse_bits(const struct fetch_parse *parse, const struct expr_word *name,
		      struct fetch_parsed *out)
{
	struct expr_word rest = expr_behind(name, 1), width = expr_take_until(&rest, "@/"),
			 first = { name->at, 0 };
	uint64_t bits, first_bit, size;

	if (expr_take(&rest, '@'))
		first = expr_take_until(&rest, "/");
	(void)expr_take(&rest, '/');
	if (!trace_expr_number(&rest, 0, false, &size) && size % 8 == 0)
		out->type = trace_fetch_type_of('u', size / 8);
	if (!out->type)
		return trace_fetch_refuse(parse, name->at, fetch_parse_unknown);
	if (trace_expr_number(&width, 0, false, &bits) ||
	    trace_expr_number(&first, 0, false, &first_bit) || !bits || bits > size ||
	    first_bit > size - bits)
		return trace_fetch_refuse(parse, name->at, "Invalid bitfield");
	out->bits = (uint32_t)bits;
	out->first_bit = (uint32_t)first_bit;
	return 0;
}

/* Parse NUMBER] of an array. */
static int fetch_parse_count(const struct fetch_parse *parse, const struct expr_word *word,
			     struct fetch_parsed *out)
{
	struct expr_word rest = *word, number = expr_take_until(&rest, "]");
	uint64_t count;

	if (!rest.len)
		return trace_fetch_refuse(parse, rest.at, "Array is not closed");
	if (rest.len > 1)
		return trace_fetch_refuse(parse, rest.at + 1, "Array has wrong suffix");
	if (trace_expr_number(&number, 0, false, &count) || !count || count > UINT32_MAX)
		return trace_fetch_refuse(parse, number.at, "Invalid array size");
	if (count > FETCH_ARRAY_MAX)
		return trace_fetch_refuse(parse, number.at, "Array number is too big");
	out->count = (uint32_t)count;
	return 0;
}

/* Parse the type that is written. */
static int fetch_parse_type(const struct fetch_parse *parse, struct fetch_parsed *out)
{
	struct expr_word rest = out->written_type, name = expr_take_until(&rest, "[");
	int err = 0;

	if (expr_take(&rest, '['))
		err = fetch_parse_count(parse, &rest, out);
	if (err)
		return err;
	out->type = trace_fetch_type_find(name.at, name.len);
	if (out->type && !(parse->build->context->is_user && fetch_is_of_kernel(out->type)))
		return 0;
	if (expr_first(&name) == 'b')
		return parse_bits(parse, &name, out);
	return trace_fetch_refuse(parse, name.at, fetch_parse_unknown);
}

/* The type of an argument without one: the value's own, or a word in hex. */
static const struct fetch_type *fetch_parse_own_type(const struct fetch_parse *parse)
{
	if (fetch_is_own_text(parse->origin))
		return trace_fetch_type_find("string", 6);
	return parse->own_type ? parse->own_type : trace_fetch_type_of('x', 8);
}

/* Check that the type fits the fetched value. */
static int check_type(const struct fetch_parse *parse, const struct fetch_parsed *arg,
		      const char *at)
{
	const struct fetch_origin *origin = &arg->origin;
	bool is_text = arg->type->kind == FETCH_TEXT,
	     is_constant = origin->how == FETCH_VALUE && !origin->nr_reads && !origin->is_here;

	if (fetch_is_own_text(origin)) {
		if (is_text && !arg->count)
			return 0;
		return trace_fetch_refuse(parse, at,
					  "$comm and immediate-string only accepts string type");
	}
	if (is_memory(origin) || (!is_text && !arg->count) ||
	    (!arg->count && (is_constant || parse->build->context->place == FETCH_AT_EVENT)))
		return 0;
	return trace_fetch_refuse(parse, at, "String accepts only memory argument");
}

/* ---- An argument ---- */

/* Cut the type off a value, at the first colon; one in a text is none. False: there is none. */
static bool take_type(struct expr_word *value, struct expr_word *out_type)
{
	struct expr_word rest = *value;

	if (trace_expr_starts(value, "\\\"")) {
		rest = expr_behind(&rest, 2);
		(void)expr_take_until(&rest, "\"");
	}
	(void)expr_take_until(&rest, ":");
	value->len = (size_t)(rest.at - value->at);
	*out_type = rest;
	return expr_take(out_type, ':');
}

/* Parse the type behind the colon; an unknown one may be the symbol of a module. */
static int parse_behind_colon(const struct fetch_parse *parse, const struct expr_word *value,
			      struct fetch_parsed *out)
{
	int err = fetch_parse_type(parse, out);
	bool is_unknown = err && parse->build->error->why == fetch_parse_unknown;
	const char *module = is_unknown ? trace_fetch_module(value) : NULL;

	if (module)
		err = trace_fetch_refuse(parse, module, "There are no modules: SYMBOL alone");
	return err;
}

static int fetch_parse_split_name(const struct fetch_parse *parse, const struct expr_word *word,
				  struct fetch_parsed *out)
{
	struct expr_word body = *word, name = expr_take_until(&body, "=");
	bool has_name = expr_take(&body, '=');

	if (has_name && name.len > FETCH_NAME_MAX)
		return trace_fetch_refuse(parse, name.at, "Argument name is too long");
	if (has_name && !name.len)
		return trace_fetch_refuse(parse, name.at, "Argument name is not specified");
	out->name = has_name ? name : (struct expr_word){ word->at, 0 };
	out->body = has_name ? body : *word;
	if (out->body.len > FETCH_BODY_MAX)
		return trace_fetch_refuse(parse, out->body.at, "Argument expression is too long");
	if (!out->body.len)
		return trace_fetch_refuse(parse, out->body.at, "No argument expression");
	return 0;
}

/* The value is to be shown as a text: go on from its address to the text, if it has a type. */
static int follow_to_text(struct fetch_parse *parse, const struct fetch_parsed *arg)
{
	const char *at = arg->written_type.at;

	if (arg->type->named && arg->count)
		return trace_fetch_refuse(parse, at, fetch_parse_unknown);
	if (arg->type->named)
		return trace_fetch_named(parse, arg->type, at);
	return parse->btf ? trace_fetch_names->text(parse) : 0;
}

int trace_fetch_parse(struct fetch_build *build, const struct expr_word *word,
		      struct fetch_parsed *out)
{
	struct fetch_parse parse = { .build = build, .origin = &out->origin };
	struct expr_word value;
	uint32_t nr;
	int err;

	*out = (struct fetch_parsed){ .at = build->bytes };
	err = fetch_parse_split_name(&parse, word, out);
	value = out->body;
	if (!err && take_type(&value, &out->written_type))
		err = parse_behind_colon(&parse, &value, out);
	if (!err)
		err = trace_fetch_value(&parse, &value);
	if (!err && out->type && out->type->kind == FETCH_TEXT)
		err = follow_to_text(&parse, out);
	if (err)
		return err;
	if (!out->type)
		out->type = fetch_parse_own_type(&parse);
	err = check_type(&parse, out, out->written_type.len ? out->written_type.at : value.at);
	if (err)
		return err;
	trace_fetch_add(build, out);
	nr = out->count ? out->count : 1;
	if (fetch_is_text(out->type))
		build->nr_texts += nr;
	build->bytes += out->type->size * nr;
	return 0;
}
