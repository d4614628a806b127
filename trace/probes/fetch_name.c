/*
 * Names of the source: arguments of functions and tracepoints, and members of structs behind
 * pointers: `file->path.len`. Values get their types of the source. See fetch.h, types/btf.h. Error
 * messages have Linux's words.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch_private.h"
#include "text/str.h"
#include "types/btf.h"
#include "feature/feature.h"
#include "fetch.h"

#define WORD_BYTES 8u
#define WORD_BITS  64u

/* ---- The function ---- */

/* The arguments of a tracepoint stand behind a pointer. */
static uint32_t fetch_name_first_of(const struct fetch_context *context)
{
	return context->place == FETCH_AT_TRACEPOINT;
}

static bool fetch_name_find_func(const struct fetch_context *context, struct btf_func *out)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	return context->func && trace_plat_symbol(context->func, name, &start, &size) &&
	       trace_btf_func_find(name, out) && out->nr_args >= fetch_name_first_of(context);
}

static int count_args(const struct fetch_context *context)
{
	struct btf_func func;

	return fetch_name_find_func(context, &func)
		       ? (int)(func.nr_args - fetch_name_first_of(context))
		       : -ENOENT;
}

static const char *name_of_arg(const struct fetch_context *context, uint32_t n)
{
	struct btf_func func;
	struct btf_arg arg;

	if (!fetch_name_find_func(context, &func) ||
	    !trace_btf_func_arg(&func, n + fetch_name_first_of(context), &arg))
		return NULL;
	return arg.name;
}

static void offer_arguments(const struct dyn_event_completion *completion, const char *at,
			    const struct fetch_context *context)
{
	struct btf_func func;

	if (fetch_name_find_func(context, &func))
		trace_fetch_offer_arguments(completion, at, &func, fetch_name_first_of(context));
}

/* ---- As text ---- */

/* Write a tracepoint's prototype, without the pointer in front. */
static void fetch_name_put_tracepoint(const struct btf_func *func, const char *name,
				      struct trace_seq *seq)
{
	struct btf_arg arg;

	trace_seq_printf(seq, "%s(", name);
	for (uint32_t i = 1; trace_btf_func_arg(func, i, &arg); i++) {
		if (i > 1)
			trace_seq_puts(seq, ", ");
		trace_btf_print_decl(seq, arg.type, arg.name);
	}
	trace_seq_putc(seq, ')');
}

static bool put_prototype(const struct fetch_context *context, const char *name,
			  struct trace_seq *seq)
{
	struct btf_func func;

	if (!fetch_name_find_func(context, &func))
		return false;
	if (context->place == FETCH_AT_TRACEPOINT)
		fetch_name_put_tracepoint(&func, name, seq);
	else
		trace_btf_print_func(seq, &func);
	return true;
}

static void fetch_name_put_declaration(const struct fetch_origin *origin, struct trace_seq *seq)
{
	char name[TRACE_SYM_LEN];
	size_t len = origin->name.len < sizeof(name) ? origin->name.len : sizeof(name) - 1;

	memcpy(name, origin->name.at, len);
	name[len] = '\0';
	trace_btf_print_decl(seq, origin->type, name);
}

/* ---- Types ---- */

/* The type in which Linux shows a value without a written type. NULL: as a word. */
static const struct fetch_type *type_of(uint32_t id)
{
	size_t size = trace_btf_sizeof(id);

	switch (trace_btf_form(id)) {
	case BTF_FORM_SIGNED:
	case BTF_FORM_CHAR:
		return trace_fetch_type_of('s', size);
	case BTF_FORM_ENUM: /* a short one has no values below 0 */
		return trace_fetch_type_of(size < 4 ? 'u' : 's', size);
	case BTF_FORM_UNSIGNED:
	case BTF_FORM_SIZE:
	case BTF_FORM_BOOL:
		return trace_fetch_type_of('u', size);
	case BTF_FORM_POINTER:
	case BTF_FORM_STRING:
	case BTF_FORM_FUNCTION:
		return trace_fetch_type_of('x', size);
	default:
		return NULL;
	}
}

/* Note the type of the fetched value. */
static void set_type(struct fetch_parse *parse, uint32_t id, const struct expr_word *name)
{
	parse->btf = trace_btf_strip(id);
	parse->btf_at = name->at;
	parse->origin->type = id;
	parse->origin->name = *name;
	parse->own_type = type_of(parse->btf);
}

static bool fetch_name_is_chars(uint32_t id)
{
	enum btf_form form = trace_btf_form(id);

	return trace_btf_sizeof(id) == 1 &&
	       (form == BTF_FORM_CHAR || form == BTF_FORM_SIGNED || form == BTF_FORM_UNSIGNED);
}

/* The text is in an array, whose address is there, or where a pointer leads to. */
static int fetch_name_make_text(struct fetch_parse *parse)
{
	enum btf_kind kind = trace_btf_kind(parse->btf);

	if (fetch_name_is_chars(trace_btf_target(parse->btf))) {
		if (kind == BTF_PTR)
			return trace_fetch_read(parse, 0, WORD_BYTES, parse->btf_at);
		return 0;
	}
	return trace_fetch_refuse(parse, parse->btf_at, "This type does not fit for string.");
}

/* ---- Members ---- */

enum separator {
	NOTHING, /* the end */
	DOT,
	ARROW,
};

/* Take the next name off `rest`, with its separator. */
static int fetch_name_take(const struct fetch_parse *parse, struct expr_word *rest,
			   struct expr_word *out_name, enum separator *out_separator)
{
	*out_name = expr_take_until(rest, "-.");
	*out_separator = !rest->len ? NOTHING : *rest->at == '.' ? DOT : ARROW;
	if (*out_separator == ARROW && !trace_expr_starts(rest, "->"))
		return trace_fetch_refuse(parse, rest->at,
					  "Failed to parse single hyphen. Forgot '>'?");
	*rest = expr_behind(rest, *out_separator);
	return 0;
}

/*
 * Read a member at `bit` of the struct behind the pointer, which is `base` bytes behind the start;
 * for a bit field, the number around it.
 */
static int read_member(struct fetch_parse *parse, const struct btf_member *member, uint32_t bit,
		       int64_t base)
{
	uint32_t bytes = (uint32_t)trace_btf_sizeof(member->type), unit = bytes * 8;

	if (!member->bits)
		return trace_fetch_read(parse, bit / 8 - base, WORD_BYTES, parse->btf_at);
	if (!unit || unit > WORD_BITS || bit % unit + member->bits > unit) { /* a packed struct */
		bytes = WORD_BYTES;
		unit = 8;
	}
	parse->origin->bits = member->bits;
	parse->origin->first_bit = bit % unit;
	parse->origin->has_sign = parse->own_type && parse->own_type->is_signed;
	return trace_fetch_read(parse, (bit - bit % unit) / 8 - base, bytes, parse->btf_at);
}

/* A path of members: the last one, its place, and the separator behind it. */
struct path {
	struct btf_member member;
	uint32_t bit;		  /* from the start of the first struct */
	struct expr_word name;	  /* of the last */
	enum separator separator; /* NOTHING or ARROW */
};

/* Find MEMBER[.MEMBER]... of the struct `type`. */
static int find_members(const struct fetch_parse *parse, uint32_t type, struct expr_word *rest,
			struct path *out)
{
	struct expr_word name;
	int err;

	*out = (struct path){ .bit = 0 };
	do {
		err = fetch_name_take(parse, rest, &name, &out->separator);
		if (err)
			return err;
		if (trace_btf_form(type) != BTF_FORM_STRUCT)
			return trace_fetch_refuse(parse, name.at, "Failed to get BTF type info.");
		if (!name.len || !trace_btf_member_find(type, name.at, name.len, &out->member))
			return trace_fetch_blame(parse, name.at, "This field is not found.",
						 -ENOENT);
		out->bit += out->member.bit_offset;
		type = trace_btf_strip(out->member.type);
	} while (out->separator == DOT);
	out->name = name;
	return 0;
}

/*
 * Read MEMBER[.MEMBER]... of the struct `type`; the fetched value is the address of its byte
 * `base`.
 */
static int read_members(struct fetch_parse *parse, uint32_t type, int64_t base,
			struct expr_word *rest, enum separator *out_separator)
{
	struct path path;
	int err = find_members(parse, type, rest, &path);

	if (err)
		return err;
	*out_separator = path.separator;
	set_type(parse, path.member.type, &path.name);
	return read_member(parse, &path.member, path.bit, base);
}

/* Go on with a value of known type; `rest` is the text behind the separator. */
static int fetch_name_follow(struct fetch_parse *parse, struct expr_word *rest,
			     enum separator separator)
{
	int err = 0;

	while (!err && separator != NOTHING) {
		if (trace_btf_kind(parse->btf) != BTF_PTR)
			return trace_fetch_refuse(parse, rest->at,
						  "This is not a pointer to union/structure.");
		err = read_members(parse, trace_btf_target(parse->btf), 0, rest, &separator);
	}
	return err;
}

/* ---- The beginning of a word ---- */

/* Take a word apart: its beginning, and the text behind the arrow. */
static int take_start(const struct fetch_parse *parse, struct expr_word *rest,
		      struct expr_word *out_name, enum separator *out_separator)
{
	int err = fetch_name_take(parse, rest, out_name, out_separator);

	if (!err && *out_separator == DOT)
		return trace_fetch_blame(parse, rest->at,
					 "Non pointer structure/union argument is not supported.",
					 -EOPNOTSUPP);
	return err;
}

/* Fetch the first word of an argument that was found. */
static int step_arg(struct fetch_parse *parse, const struct expr_word *name,
		    const struct btf_arg *arg)
{
	uint32_t n = 1 - fetch_name_first_of(parse->build->context);

	switch (arg->place) {
	case BTF_PLACE_REGS:
		return trace_fetch_argument(parse, name, n + arg->at);
	case BTF_PLACE_STACK:
		return trace_fetch_argument(parse, name, n + BTF_ARG_REGS + arg->at / WORD_BYTES);
	default:
		return trace_fetch_blame(parse, name->at,
					 "This variable is not found at this probe point", -ENOENT);
	}
}

static bool find_arg(const struct fetch_context *context, const struct btf_func *func,
		     const struct expr_word *name, struct btf_arg *out)
{
	for (uint32_t i = fetch_name_first_of(context); trace_btf_func_arg(func, i, out); i++) {
		if (out->name[0] && trace_expr_is(name, out->name))
			return true;
	}
	return false;
}

static int fetch_name_parse_argument(struct fetch_parse *parse, const struct expr_word *word)
{
	const struct fetch_build *build = parse->build;
	struct expr_word rest = *word, name;
	enum separator separator;
	struct btf_func func;
	struct btf_arg arg;
	int err;

	if (!trace_btf_is_loaded())
		return trace_fetch_refuse(parse, word->at, "BTF is not available or not supported");
	err = take_start(parse, &rest, &name, &separator);
	if (err)
		return err;
	if (!fetch_name_find_func(build->context, &func))
		return trace_fetch_blame(parse, word->at, "No BTF entry for this probe point",
					 -ENOENT);
	if (!find_arg(build->context, &func, &name, &arg))
		return trace_fetch_blame(parse, word->at,
					 "This variable is not found at this probe point", -ENOENT);
	err = step_arg(parse, &name, &arg);
	if (err)
		return err;
	set_type(parse, arg.type, &name);
	return fetch_name_follow(parse, &rest, separator);
}

/* Without types the value itself is a word, and its members cannot be read. */
static int no_type(const struct fetch_parse *parse, const struct expr_word *rest,
		   enum separator separator)
{
	if (separator == NOTHING)
		return 0;
	if (!trace_btf_is_loaded())
		return trace_fetch_refuse(parse, rest->at, "BTF is not available or not supported");
	return trace_fetch_blame(parse, rest->at, "No BTF entry for this probe point", -ENOENT);
}

static int fetch_name_parse_result(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = *word, name;
	enum separator separator;
	struct btf_func func;
	int err = take_start(parse, &rest, &name, &separator);

	if (err)
		return err;
	if (!fetch_name_find_func(parse->build->context, &func))
		return no_type(parse, &rest, separator);
	if (!trace_btf_strip(func.returns))
		return trace_fetch_blame(parse, word->at, "This function returns 'void' type",
					 -ENOENT);
	name.len = 0;
	set_type(parse, func.returns, &name);
	return fetch_name_follow(parse, &rest, separator);
}

static int fetch_name_parse_thread(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = *word, name;
	enum separator separator;
	size_t offset;
	uint32_t type;
	int err = take_start(parse, &rest, &name, &separator);

	if (err || separator == NOTHING)
		return err;
	type = trace_btf_find_type(trace_plat_thread_type(&offset));
	if (!type)
		return no_type(parse, &rest, separator);
	err = read_members(parse, type, 0, &rest, &separator);
	return err ? err : fetch_name_follow(parse, &rest, separator);
}

/* ---- Casts ---- */

/* The struct, or union, that `word` names; 0: there is none. */
static uint32_t find_struct(const struct expr_word *word)
{
	char name[FETCH_BODY_MAX + 1];
	uint32_t type;

	if (!word->len || !trace_expr_copy(name, sizeof(name), word))
		return 0; /* one without a name is not meant */
	type = trace_btf_strip(trace_btf_find_type(name));
	return trace_btf_form(type) == BTF_FORM_STRUCT ? type : 0;
}

/* The offset of the member in the struct `type`, in bytes. */
static int find_base(const struct fetch_parse *parse, uint32_t type, struct expr_word *rest,
		     int64_t *out_base)
{
	struct path path;
	int err = find_members(parse, type, rest, &path);

	if (err)
		return err;
	if (path.separator == ARROW)
		return trace_fetch_refuse(parse, rest->at - 2,
					  "Typecast field option does not support -> operator");
	if (path.bit % 8)
		return trace_fetch_refuse(parse, path.name.at,
					  "Typecast field option is not byte-aligned");
	*out_base = path.bit / 8;
	return 0;
}

static int parse_cast(struct fetch_parse *parse, const struct expr_word *type,
		      const struct expr_word *members)
{
	struct expr_word base_members = *type, rest = *members, name;
	enum separator separator;
	int64_t base = 0;
	uint32_t id;
	int err = 0;

	if (!trace_btf_is_loaded())
		return trace_fetch_refuse(parse, type->at, "BTF is not available or not supported");
	name = expr_take_until(&base_members, ",");
	id = find_struct(&name);
	if (!id)
		return trace_fetch_refuse(parse, type->at,
					  "This is not a pointer to union/structure.");
	if (expr_take(&base_members, ','))
		err = find_base(parse, id, &base_members, &base);
	if (!err)
		err = read_members(parse, id, base, &rest, &separator);
	return err ? err : fetch_name_follow(parse, &rest, separator);
}

static const struct fetch_names fetch_btf_names = {
	.argument = fetch_name_parse_argument,
	.result = fetch_name_parse_result,
	.thread = fetch_name_parse_thread,
	.cast = parse_cast,
	.text = fetch_name_make_text,
	.name_of = name_of_arg,
	.count = count_args,
	.prototype = put_prototype,
	.declare = fetch_name_put_declaration,
	.offer_arguments = offer_arguments,
	.offer_structs = trace_fetch_offer_structs,
	.offer_members = trace_fetch_offer_members,
	.find_struct = find_struct,
	.points_to = trace_fetch_points_to,
};

/* ---- The feature ---- */

static int names_init(void)
{
	trace_fetch_names = &fetch_btf_names;
	return 0;
}

const struct trace_feature trace_feature_probe_names = {
	.name = "probe_names",
	.is_there = trace_btf_is_loaded,
	.init = names_init,
};
