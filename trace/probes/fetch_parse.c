/*
 * An argument becomes steps of a program: NAME=VALUE:TYPE[NUMBER]. See fetch.h. Error messages have
 * Linux's words.
 */
#include <trace/platform.h>
#include "fetch_private.h"
#include "events/dyn_event.h"
#include "text/str.h"

const struct fetch_names *trace_fetch_names;

/* The typing of an argument: the text behind its colon. */
struct fetch_typing {
	struct expr_word name; /* of length 0: no type is written */
	const struct fetch_type *type;
	uint32_t count;		  /* 0: no array */
	uint32_t bits, first_bit; /* of a bit field; `bits` 0: it is none */
};

int trace_fetch_blame(const struct fetch_parse *parse, const char *at, const char *why, int err)
{
	return trace_dyn_event_blame(parse->build->error, at, why, err);
}

int trace_fetch_refuse(const struct fetch_parse *parse, const char *at, const char *why)
{
	return trace_fetch_blame(parse, at, why, -EINVAL);
}

/* ---- Steps ---- */

static void fetch_parse_add_op(struct fetch_build *build, const struct fetch_op *op)
{
	if (build->ops)
		build->ops[build->nr_ops] = *op;
	build->nr_ops++;
}

void trace_fetch_step(struct fetch_parse *parse, const struct fetch_op *op)
{
	if (parse->is_begun)
		fetch_parse_add_op(parse->build, &parse->last);
	else
		parse->first = *op;
	parse->last = *op;
	parse->is_begun = true;
	parse->nr_steps++;
}

static bool ends_with_read(const struct fetch_parse *parse)
{
	return parse->last.code == FETCH_READ;
}

/*
 * Is the value in memory, as arrays and texts have to be? A word of the stack stands for a value.
 */
static bool is_memory(const struct fetch_parse *parse)
{
	return ends_with_read(parse) && parse->word_step != parse->nr_steps;
}

static bool is_text_of_its_own(const struct fetch_parse *parse)
{
	return parse->last.code == FETCH_STORE_COMM || parse->last.code == FETCH_STORE_LITERAL;
}

/* ---- Types ---- */

static const char fetch_parse_unknown[] = "Unknown type is specified";

/* b<width>@<first>/<size> */
static int parse_bits(const struct fetch_parse *parse, struct fetch_typing *typing)
{
	const char *start = typing->name.at;
	struct expr_word rest = expr_behind(&typing->name, 1),
			 width = trace_expr_take_until(&rest, "@/"), first = { start, 0 };
	uint64_t bits, first_bit, size;

	if (expr_take(&rest, '@'))
		first = trace_expr_take_until(&rest, "/");
	(void)expr_take(&rest, '/');
	if (trace_expr_number(&rest, 0, false, &size) || size % 8)
		return trace_fetch_refuse(parse, start, fetch_parse_unknown);
	typing->type = trace_fetch_type_of('u', size / 8);
	if (!typing->type)
		return trace_fetch_refuse(parse, start, fetch_parse_unknown);
	if (trace_expr_number(&width, 0, false, &bits) ||
	    trace_expr_number(&first, 0, false, &first_bit) || !bits || bits > size ||
	    first_bit > size - bits)
		return trace_fetch_refuse(parse, start, "Invalid bitfield");
	typing->bits = (uint32_t)bits;
	typing->first_bit = (uint32_t)first_bit;
	return 0;
}

/* Parse NUMBER] of an array. */
static int fetch_parse_count(const struct fetch_parse *parse, const struct expr_word *word,
			     struct fetch_typing *typing)
{
	struct expr_word rest = *word, number = trace_expr_take_until(&rest, "]");
	uint64_t count;

	if (!rest.len)
		return trace_fetch_refuse(parse, rest.at, "Array is not closed");
	if (rest.len > 1)
		return trace_fetch_refuse(parse, rest.at + 1, "Array has wrong suffix");
	if (trace_expr_number(&number, 0, false, &count) || !count || count > UINT32_MAX)
		return trace_fetch_refuse(parse, number.at, "Invalid array size");
	if (count > FETCH_ARRAY_MAX)
		return trace_fetch_refuse(parse, number.at, "Array number is too big");
	typing->count = (uint32_t)count;
	return 0;
}

/* Parse a type; `word` is the text behind the colon. */
static int fetch_parse_type(const struct fetch_parse *parse, const struct expr_word *word,
			    struct fetch_typing *typing)
{
	struct expr_word rest = *word;
	int err = 0;

	typing->name = trace_expr_take_until(&rest, "[");
	if (expr_take(&rest, '['))
		err = fetch_parse_count(parse, &rest, typing);
	if (err)
		return err;
	typing->type = trace_fetch_type_find(typing->name.at, typing->name.len);
	if (typing->type)
		return 0;
	if (expr_first(&typing->name) == 'b')
		return parse_bits(parse, typing);
	return trace_fetch_refuse(parse, word->at, fetch_parse_unknown);
}

/* Choose the type of an argument without one: the value's own, or a word in hex. */
static void choose_type(const struct fetch_parse *parse, struct fetch_typing *typing)
{
	if (typing->type)
		return;
	if (is_text_of_its_own(parse))
		typing->type = trace_fetch_type_find("string", 6);
	else if (parse->own_type)
		typing->type = parse->own_type;
	else
		typing->type = trace_fetch_type_of('x', 8);
}

/* Check that the type fits the fetched value. */
static int check_type(const struct fetch_parse *parse, const struct fetch_typing *typing,
		      const char *at)
{
	const struct fetch_build *build = parse->build;
	uint8_t code = parse->last.code;

	if (is_text_of_its_own(parse)) {
		if (typing->type->kind == FETCH_TEXT && !typing->count)
			return 0;
		return trace_fetch_refuse(parse, at,
					  "$comm and immediate-string only accepts string type");
	}
	if (typing->count && !is_memory(parse))
		return trace_fetch_refuse(parse, at, "String accepts only memory argument");
	if (typing->type->kind != FETCH_TEXT || is_memory(parse) || code == FETCH_VALUE ||
	    build->context->place == FETCH_AT_EVENT)
		return 0;
	return trace_fetch_refuse(parse, at, "String accepts only memory argument");
}

/* ---- The last step ---- */

/*
 * Numbers and texts at an address that a register or the line says are the commonest of all reads:
 * one step. False: they are something else.
 */
static bool make_peek(struct fetch_parse *parse, struct fetch_op *op, enum fetch_code code)
{
	const struct fetch_op *first = &parse->first;
	bool is_load =
		first->code == FETCH_LOAD && first->size == 8 && first->value < FETCH_NOWHERE;

	if (parse->nr_steps != 2 || op->count || (!is_load && first->code != FETCH_VALUE))
		return false;
	op->code = (uint8_t)code;
	op->from = is_load ? (uint16_t)first->value : FETCH_NOWHERE;
	if (!is_load)
		op->value += first->value;
	parse->build->nr_ops--; /* `first`, which this takes the place of */
	parse->last = *op;
	return true;
}

/* Finish the step that stores a text, or texts; `op` has its place, and the last read. */
static void finish_text(struct fetch_parse *parse, const struct fetch_typing *typing,
			struct fetch_op *op)
{
	if (typing->type->kind == FETCH_SYMBOL_TEXT) {
		op->code = FETCH_STORE_SYMBOL;
		op->value = 0;
		trace_fetch_step(parse, op);
		return;
	}
	op->count = (uint8_t)typing->count;
	if (ends_with_read(parse) && make_peek(parse, op, FETCH_PEEK_TEXT))
		return;
	op->code = typing->count ? FETCH_STORE_TEXTS : FETCH_STORE_TEXT;
	if (ends_with_read(parse))
		parse->last = *op; /* instead of it */
	else
		trace_fetch_step(parse, op);
}

static void finish_bits(struct fetch_parse *parse, const struct fetch_typing *typing,
			struct fetch_op *op)
{
	uint32_t size = typing->type->size;

	op->size = (uint16_t)size;
	op->left = (uint8_t)(64 - typing->bits - typing->first_bit);
	op->right = (uint8_t)(64 - typing->bits);
	op->count = (uint8_t)(typing->count ? typing->count : 1);
	if (ends_with_read(parse)) {
		op->code = FETCH_STORE_BITS_OF;
		parse->last = *op;
		return;
	}
	op->code = FETCH_STORE_BITS;
	trace_fetch_step(parse, op);
}

/* Finish a bit field named by the user: its unit has been read. */
static void finish_member(struct fetch_parse *parse, const struct fetch_typing *typing,
			  struct fetch_op *op)
{
	op->code = FETCH_STORE_BITS;
	op->size = typing->type->size;
	op->is_signed = parse->own_type && parse->own_type->is_signed;
	op->left = (uint8_t)(64 - parse->bits - parse->first_bit);
	op->right = (uint8_t)(64 - parse->bits);
	trace_fetch_step(parse, op);
}

static void finish_number(struct fetch_parse *parse, const struct fetch_typing *typing,
			  struct fetch_op *op)
{
	uint32_t count = typing->count ? typing->count : 1;

	op->size = (uint16_t)(typing->type->size * count);
	if (ends_with_read(parse)) {
		op->count = (uint8_t)typing->count;
		if (make_peek(parse, op, FETCH_PEEK))
			return;
		op->code = FETCH_STORE_MEMORY;
		parse->last = *op;
		return;
	}
	op->code = FETCH_STORE;
	trace_fetch_step(parse, op);
}

/* 8 or 4 bytes that go into the event as they are, or the lower 4 of 8, need no steps. */
static bool is_copy(const struct fetch_parse *parse, const struct fetch_typing *typing)
{
	const struct fetch_op *op = &parse->last;
	uint32_t size = typing->type->size;

	return parse->nr_steps == 1 && (op->code == FETCH_LOAD || op->code == FETCH_LOAD_SIGNED) &&
	       op->value <= UINT16_MAX && (size == 8 || size == 4) && op->size >= size &&
	       !typing->bits && !fetch_is_text(typing->type);
}

static void add_copy(struct fetch_build *build, uint64_t from, uint32_t size)
{
	const struct fetch_copy copy = { (uint16_t)from, (uint16_t)build->bytes };

	if (size == 8) {
		if (build->copies)
			build->copies[build->nr_copies] = copy;
		build->nr_copies++;
	} else {
		if (build->words)
			build->words[build->nr_words] = copy;
		build->nr_words++;
	}
}

static void fetch_parse_finish(struct fetch_parse *parse, const struct fetch_typing *typing)
{
	struct fetch_build *build = parse->build;
	struct fetch_op op = { .at = (uint16_t)build->bytes };

	if (ends_with_read(parse))
		op.value = parse->last.value;
	if (is_copy(parse, typing)) {
		add_copy(build, parse->last.value, typing->type->size);
		return;
	}
	if (is_text_of_its_own(parse))
		parse->last.at = op.at;
	else if (fetch_is_text(typing->type))
		finish_text(parse, typing, &op);
	else if (typing->bits)
		finish_bits(parse, typing, &op);
	else if (parse->bits && !typing->count)
		finish_member(parse, typing, &op);
	else
		finish_number(parse, typing, &op);
	fetch_parse_add_op(build, &parse->last);
}

/* ---- An argument ---- */

/* Cut the type off a value, at the first colon; one in a text is none. False: there is none. */
static bool take_type(struct expr_word *value, struct expr_word *out_type)
{
	struct expr_word rest = *value;

	if (trace_expr_starts(value, "\\\"")) {
		rest = expr_behind(&rest, 2);
		(void)trace_expr_take_until(&rest, "\"");
	}
	(void)trace_expr_take_until(&rest, ":");
	value->len = (size_t)(rest.at - value->at);
	*out_type = rest;
	return expr_take(out_type, ':');
}

/* Parse the type behind the colon; an unknown one may be the symbol of a module. */
static int parse_behind_colon(const struct fetch_parse *parse, const struct expr_word *value,
			      const struct expr_word *type, struct fetch_typing *typing)
{
	int err = fetch_parse_type(parse, type, typing);
	bool is_unknown = err && parse->build->error->why == fetch_parse_unknown;
	const char *module = is_unknown ? trace_fetch_module(value) : NULL;

	if (module)
		err = trace_fetch_refuse(parse, module, "There are no modules: SYMBOL alone");
	return err;
}

static int fetch_parse_split_name(const struct fetch_parse *parse, const struct expr_word *word,
				  struct fetch_parsed *out)
{
	struct expr_word body = *word, name = trace_expr_take_until(&body, "=");
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
static int follow_to_text(struct fetch_parse *parse, const struct fetch_typing *typing)
{
	if (typing->type->named && typing->count)
		return trace_fetch_refuse(parse, typing->name.at, fetch_parse_unknown);
	if (typing->type->named)
		return trace_fetch_named(parse, typing->type, typing->name.at);
	return parse->btf ? trace_fetch_names->text(parse) : 0;
}

/* Note all that is known of the argument, which takes its place in the event. */
static void fetch_parse_place(struct fetch_parse *parse, const struct fetch_typing *typing,
			      struct fetch_parsed *out)
{
	struct fetch_build *build = parse->build;
	uint32_t nr = typing->count ? typing->count : 1;

	out->type = typing->type;
	out->count = typing->count;
	out->at = build->bytes;
	out->origin.bits = parse->bits;
	out->origin.first_bit = parse->first_bit;
	if (fetch_is_text(typing->type))
		build->nr_texts += nr;
	build->bytes += typing->type->size * nr;
}

int trace_fetch_parse(struct fetch_build *build, const struct expr_word *word,
		      struct fetch_parsed *out)
{
	struct fetch_parse parse = { .build = build, .origin = &out->origin };
	struct fetch_typing typing = { .type = NULL };
	struct expr_word value;
	const char *at;
	int err = fetch_parse_split_name(&parse, word, out);

	if (err)
		return err;
	out->origin = (struct fetch_origin){ .nr_reads = 0 };
	value = out->body;
	if (take_type(&value, &out->written_type))
		err = parse_behind_colon(&parse, &value, &out->written_type, &typing);
	if (!err)
		err = trace_fetch_value(&parse, &value);
	if (!err && typing.type && typing.type->kind == FETCH_TEXT)
		err = follow_to_text(&parse, &typing);
	if (err)
		return err;
	at = typing.type ? out->written_type.at : value.at;
	choose_type(&parse, &typing);
	err = check_type(&parse, &typing, at);
	if (err)
		return err;
	fetch_parse_finish(&parse, &typing);
	fetch_parse_place(&parse, &typing, out);
	return 0;
}
