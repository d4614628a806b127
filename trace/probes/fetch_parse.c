/*
 * An argument becomes steps of a program: NAME=VALUE:TYPE[NUMBER]. See fetch.h. Error messages have
 * Linux's words.
 */
#include <trace/platform.h>
#include "fetch_private.h"
#include "events/dyn_event.h"
#include "text/str.h"

#define DIGITS_MAX 24u

const struct fetch_names *trace_fetch_names;

/* The typing of an argument: the text behind its colon. */
struct fetch_typing {
	struct fetch_word name; /* of length 0: no type is written */
	const struct fetch_type *type;
	uint32_t count;		  /* 0: no array */
	uint32_t bits, first_bit; /* of a bit field; `bits` 0: it is none */
};

int trace_fetch_blame(const struct fetch_build *build, const char *at, const char *why, int err)
{
	build->error->at = at;
	build->error->why = why;
	return err;
}

bool trace_fetch_is(const struct fetch_word *word, const char *text)
{
	return trace_strlen(text) == word->len && memcmp(word->at, text, word->len) == 0;
}

bool trace_fetch_starts(const struct fetch_word *word, const char *text)
{
	size_t len = trace_strlen(text);

	return len <= word->len && memcmp(word->at, text, len) == 0;
}

bool trace_fetch_same(const struct fetch_word *a, const struct fetch_word *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

int trace_fetch_number(const struct fetch_word *word, unsigned int base, uint64_t *out_value)
{
	char digits[DIGITS_MAX + 1];

	if (!word->len || word->len > DIGITS_MAX)
		return -EINVAL;
	memcpy(digits, word->at, word->len);
	digits[word->len] = '\0';
	return trace_parse_u64(digits, base, out_value);
}

int trace_fetch_signed(const struct fetch_word *word, int64_t *out_value)
{
	bool is_negative = word->len && *word->at == '-';
	struct fetch_word digits = { word->at + is_negative, word->len - is_negative };
	uint64_t value;
	int err = trace_fetch_number(&digits, 0, &value);

	if (err)
		return err;
	if (value > (uint64_t)INT64_MAX + is_negative || (is_negative && *digits.at == '+'))
		return -ERANGE;
	*out_value = (int64_t)(is_negative ? 0 - value : value);
	return 0;
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
static int parse_bits(struct fetch_build *build, struct fetch_typing *typing)
{
	const struct fetch_word *word = &typing->name;
	const char *end = word->at + word->len, *at = word->at + 1, *slash = at;
	uint64_t bits, first, size;
	struct fetch_word number;

	while (at < end && *at != '@')
		at++;
	while (slash < end && *slash != '/')
		slash++;
	number = (struct fetch_word){ slash + 1, slash < end ? (size_t)(end - slash - 1) : 0 };
	if (trace_fetch_number(&number, 0, &size) ||
	    (size != 8 && size != 16 && size != 32 && size != 64))
		return trace_fetch_blame(build, word->at, fetch_parse_unknown, -EINVAL);
	number = (struct fetch_word){ word->at + 1, (size_t)(at - word->at - 1) };
	if (at > slash || trace_fetch_number(&number, 0, &bits))
		return trace_fetch_blame(build, word->at, "Invalid bitfield", -EINVAL);
	number = (struct fetch_word){ at + 1, (size_t)(slash - at - 1) };
	if (at == slash || trace_fetch_number(&number, 0, &first) || !bits || bits > size ||
	    first > size - bits)
		return trace_fetch_blame(build, word->at, "Invalid bitfield", -EINVAL);
	typing->bits = (uint32_t)bits;
	typing->first_bit = (uint32_t)first;
	typing->type = size == 8    ? trace_fetch_type_find("u8", 2)
		       : size == 16 ? trace_fetch_type_find("u16", 3)
		       : size == 32 ? trace_fetch_type_find("u32", 3)
				    : trace_fetch_type_find("u64", 3);
	return 0;
}

static int fetch_parse_count(struct fetch_build *build, const struct fetch_word *word,
			     struct fetch_typing *typing)
{
	const char *end = word->at + word->len, *close = word->at;
	struct fetch_word number = { word->at, 0 };
	uint64_t count;

	while (close < end && *close != ']')
		close++;
	if (close == end)
		return trace_fetch_blame(build, end, "Array is not closed", -EINVAL);
	if (close + 1 < end)
		return trace_fetch_blame(build, close + 1, "Array has wrong suffix", -EINVAL);
	number.len = (size_t)(close - word->at);
	if (trace_fetch_number(&number, 0, &count) || !count || count > UINT32_MAX)
		return trace_fetch_blame(build, word->at, "Invalid array size", -EINVAL);
	if (count > FETCH_ARRAY_MAX)
		return trace_fetch_blame(build, word->at, "Array number is too big", -EINVAL);
	typing->count = (uint32_t)count;
	return 0;
}

/* Parse a type; `word` is the text behind the colon. */
static int fetch_parse_type(struct fetch_build *build, const struct fetch_word *word,
			    struct fetch_typing *typing)
{
	const char *end = word->at + word->len, *open = word->at;
	struct fetch_word count;
	int err = 0;

	while (open < end && *open != '[')
		open++;
	typing->name = (struct fetch_word){ word->at, (size_t)(open - word->at) };
	if (open < end) {
		count = (struct fetch_word){ open + 1, (size_t)(end - open - 1) };
		err = fetch_parse_count(build, &count, typing);
	}
	if (err)
		return err;
	typing->type = trace_fetch_type_find(typing->name.at, typing->name.len);
	if (typing->type)
		return 0;
	if (typing->name.len && *typing->name.at == 'b')
		return parse_bits(build, typing);
	return trace_fetch_blame(build, word->at, fetch_parse_unknown, -EINVAL);
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
		typing->type = trace_fetch_type_find("x64", 3);
}

static bool fetch_parse_is_text(const struct fetch_type *type)
{
	return type->kind == FETCH_TEXT;
}

/* Check that the type fits the fetched value. */
static int check_type(const struct fetch_parse *parse, const struct fetch_typing *typing,
		      const char *at)
{
	const struct fetch_build *build = parse->build;
	uint8_t code = parse->last.code;

	if (is_text_of_its_own(parse)) {
		if (fetch_parse_is_text(typing->type) && !typing->count)
			return 0;
		return trace_fetch_blame(
			build, at, "$comm and immediate-string only accepts string type", -EINVAL);
	}
	if (typing->count && !is_memory(parse))
		return trace_fetch_blame(build, at, "String accepts only memory argument", -EINVAL);
	if (!fetch_parse_is_text(typing->type) || is_memory(parse) || code == FETCH_VALUE ||
	    build->context->place == FETCH_AT_EVENT)
		return 0;
	return trace_fetch_blame(build, at, "String accepts only memory argument", -EINVAL);
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
	       !typing->bits && typing->type->kind != FETCH_TEXT &&
	       typing->type->kind != FETCH_SYMBOL_TEXT;
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
	else if (typing->type->kind == FETCH_TEXT || typing->type->kind == FETCH_SYMBOL_TEXT)
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

static const char *fetch_parse_find(const struct fetch_word *word, char what)
{
	const char *at = word->at, *end = at + word->len;

	while (at < end && *at != what)
		at++;
	return at < end ? at : NULL;
}

/* The colon in front of the type; one in a text is none. */
static const char *find_colon(const struct fetch_word *body)
{
	struct fetch_word rest = *body;
	const char *quote;

	if (trace_fetch_starts(body, "\\\"")) {
		rest = (struct fetch_word){ body->at + 2, body->len - 2 };
		quote = fetch_parse_find(&rest, '"');
		if (!quote)
			return NULL;
		rest.len -= (size_t)(quote - rest.at);
		rest.at = quote;
	}
	return fetch_parse_find(&rest, ':');
}

/* Parse the type behind the colon; an unknown one may be the symbol of a module. */
static int parse_behind_colon(struct fetch_build *build, const struct fetch_word *value,
			      const struct fetch_word *type, struct fetch_typing *typing)
{
	int err = fetch_parse_type(build, type, typing);
	const char *module =
		err && build->error->why == fetch_parse_unknown ? trace_fetch_module(value) : NULL;

	return module ? trace_fetch_blame(build, module, "There are no modules: SYMBOL alone",
					  -EINVAL)
		      : err;
}

static int fetch_parse_split_name(const struct fetch_build *build, const struct fetch_word *word,
				  struct fetch_parsed *out)
{
	const char *equals = fetch_parse_find(word, '=');

	out->name = (struct fetch_word){ word->at, 0 };
	out->body = *word;
	if (equals) {
		out->name.len = (size_t)(equals - word->at);
		out->body.at = equals + 1;
		out->body.len = word->len - out->name.len - 1;
		if (out->name.len > FETCH_NAME_MAX)
			return trace_fetch_blame(build, word->at, "Argument name is too long",
						 -EINVAL);
		if (!out->name.len)
			return trace_fetch_blame(build, word->at, "Argument name is not specified",
						 -EINVAL);
	}
	if (out->body.len > FETCH_BODY_MAX)
		return trace_fetch_blame(build, out->body.at, "Argument expression is too long",
					 -EINVAL);
	if (!out->body.len)
		return trace_fetch_blame(build, out->body.at, "No argument expression", -EINVAL);
	return 0;
}

/* The value is to be shown as a text: go on from its address to the text, if it has a type. */
static int follow_to_text(struct fetch_parse *parse, const struct fetch_typing *typing)
{
	if (typing->type->named && typing->count)
		return trace_fetch_blame(parse->build, typing->name.at, fetch_parse_unknown,
					 -EINVAL);
	if (typing->type->named)
		return trace_fetch_named(parse, typing->type, typing->name.at);
	return parse->btf ? trace_fetch_names->text(parse) : 0;
}

int trace_fetch_parse(struct fetch_build *build, const struct fetch_word *word,
		      struct fetch_parsed *out)
{
	struct fetch_parse parse = { .build = build, .origin = &out->origin };
	struct fetch_typing typing = { .type = NULL };
	struct fetch_word value, type = { NULL, 0 };
	int err = fetch_parse_split_name(build, word, out);
	const char *colon = err ? NULL : find_colon(&out->body);

	out->origin = (struct fetch_origin){ .nr_reads = 0 };
	value = out->body;
	if (colon) {
		value.len = (size_t)(colon - value.at);
		type = (struct fetch_word){ colon + 1, out->body.len - value.len - 1 };
		err = parse_behind_colon(build, &value, &type, &typing);
	}
	if (!err)
		err = trace_fetch_value(&parse, &value);
	if (!err && typing.type && fetch_parse_is_text(typing.type))
		err = follow_to_text(&parse, &typing);
	if (err)
		return err;
	choose_type(&parse, &typing);
	err = check_type(&parse, &typing, colon ? type.at : value.at);
	if (err)
		return err;
	fetch_parse_finish(&parse, &typing);
	out->type = typing.type;
	out->count = typing.count;
	out->at = build->bytes;
	out->written_type = type;
	out->origin.bits = parse.bits;
	out->origin.first_bit = parse.first_bit;
	if (typing.type->kind == FETCH_TEXT || typing.type->kind == FETCH_SYMBOL_TEXT)
		build->nr_texts += typing.count ? typing.count : 1;
	build->bytes += typing.type->size * (typing.count ? typing.count : 1);
	return 0;
}
