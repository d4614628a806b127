/*
 * Places of arguments: the calling convention of System V for x86-64, without floating point. See
 * btf.h.
 *
 * Integers and pointers take the next register, structs of up to 16 bytes one or two, if there are
 * so many left; all else is on the stack, and so are those that find no register, in their order.
 */
#include "btf_private.h"
#include "text/str.h"

#define WORD	      8u
#define IN_REGS_MAX   16u
#define ALIGNED_LARGE 16u /* __int128 on the stack */

/* Registers and stack taken by the arguments in front. */
struct taken {
	uint32_t regs;
	uint32_t stack; /* bytes */
};

static uint32_t btf_args_round_up(uint32_t value, uint32_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Is there a floating point number in it? Such a struct is in registers of another kind. */
static bool has_float(uint32_t id, uint32_t depth, uint32_t *visits)
{
	struct btf_member member;

	if (trace_btf_form(id) == BTF_FORM_FLOAT || depth > BTF_NESTED_MAX ||
	    ++*visits > BTF_VISITS_MAX)
		return true;
	if (trace_btf_kind(trace_btf_strip(id)) == BTF_ARRAY)
		return has_float(trace_btf_target(id), depth + 1, visits);
	for (uint32_t nr = 0; trace_btf_member_get(id, nr, &member); nr++) {
		if (has_float(member.type, depth + 1, visits))
			return true;
	}
	return false;
}

/* Is it a struct in registers for floating point? */
static bool is_float_struct(uint32_t type)
{
	uint32_t visits = 0;

	return trace_btf_form(type) == BTF_FORM_STRUCT && trace_btf_sizeof(type) <= IN_REGS_MAX &&
	       has_float(type, 0, &visits);
}

static void place(uint32_t type, struct taken *taken, struct btf_arg *out)
{
	size_t bytes = trace_btf_sizeof(type);
	enum btf_form form = trace_btf_form(type);
	bool is_large_int = bytes > WORD && form != BTF_FORM_STRUCT;

	out->words = (uint32_t)(bytes > UINT32_MAX / 2
					? 0
					: btf_args_round_up((uint32_t)bytes, WORD) / WORD);
	out->at = 0;
	out->place = BTF_PLACE_OTHER;
	if (!out->words || form == BTF_FORM_FLOAT || is_float_struct(type))
		return;
	if (bytes <= IN_REGS_MAX && taken->regs + out->words <= BTF_ARG_REGS) {
		out->place = BTF_PLACE_REGS;
		out->at = taken->regs;
		taken->regs += out->words;
		return;
	}
	if (is_large_int)
		taken->stack = btf_args_round_up(taken->stack, ALIGNED_LARGE);
	out->place = BTF_PLACE_STACK;
	out->at = taken->stack;
	taken->stack += out->words * WORD;
}

static void get_arg(const uint32_t *param, struct taken *taken, struct btf_arg *out)
{
	out->name = trace_btf_string(param[0]);
	out->type = param[1];
	place(out->type, taken, out);
}

/* The address where a large struct is to be returned is an argument in front of all others. */
static struct taken taken_by_return(const struct btf_func *func)
{
	struct taken taken = { 0, 0 };

	if (trace_btf_form(func->returns) == BTF_FORM_STRUCT &&
	    trace_btf_sizeof(func->returns) > IN_REGS_MAX)
		taken.regs = 1;
	return taken;
}

bool trace_btf_func_arg(const struct btf_func *func, uint32_t nr, struct btf_arg *out)
{
	struct taken taken = taken_by_return(func);
	const struct btf_type *proto = trace_btf_type(func->proto);

	if (!proto || nr >= func->nr_args)
		return false;
	for (uint32_t i = 0; i <= nr; i++)
		get_arg(btf_words(proto) + (size_t)i * 2, &taken, out);
	return true;
}

bool trace_btf_func_arg_find(const struct btf_func *func, const char *name, size_t len,
			     struct btf_arg *out)
{
	struct taken taken = taken_by_return(func);
	const struct btf_type *proto = trace_btf_type(func->proto);

	for (uint32_t i = 0; proto && i < func->nr_args; i++) {
		get_arg(btf_words(proto) + (size_t)i * 2, &taken, out);
		if (len && trace_strnlen(out->name, len + 1) == len &&
		    memcmp(out->name, name, len) == 0)
			return true;
	}
	return false;
}
