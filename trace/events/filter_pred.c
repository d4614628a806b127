/*
 * One comparison of a filter, `field op value`: see filter_private.h. The order of checks, and the
 * places of errors, are Linux's.
 */
#include "filter_private.h"
#include <trace/errno.h>
#include <trace/platform.h>
#include "func_name.h"
#include "text/str.h"

/* Linux's messages. */
#define ILLEGAL_OP    "Illegal operation for field type"
#define INVALID_OP    "Invalid operator"
#define INVALID_VALUE "Invalid value (did you forget quotes)?"
#define NO_QUOTE      "Missing matching quote"
#define TOO_LONG      "Operand too long"

#define MAX_NUMBER_CHARS 23u /* digits of a number, with 0x and the sign */
#define MAX_TEXT_CHARS	 255u

struct pred {
	struct expr_cursor text;
	struct expr_build *build;
	struct expr_value value;
	bool is_user;	  /* the name of the field ends in .ustring */
	bool is_function; /* or in .function */
	enum expr_cmp cmp;
};

static int filter_pred_refuse(const struct pred *pred, const char *why)
{
	return trace_expr_refuse(&pred->text, -EINVAL, why, pred->text.at);
}

/* ---- Field and operator ---- */

/* The CPU and the name of the thread that write the event. */
#define CURRENT_CPU                                                                                \
	{                                                                                          \
		.class = EXPR_CLASS_CPU, .is_signed = true                                         \
	}
#define CURRENT_COMM                                                                               \
	{                                                                                          \
		.class = EXPR_CLASS_TEXT, .place = EXPR_PLACE_COMM, .size = TRACE_COMM_LEN         \
	}
static const struct expr_named filter_words[] = {
	{ "cpu", CURRENT_CPU },	  { "CPU", CURRENT_CPU },   { "common_cpu", CURRENT_CPU },
	{ "comm", CURRENT_COMM }, { "COMM", CURRENT_COMM },
};

static int filter_pred_take_field(struct pred *pred, const struct trace_event *event)
{
	const struct expr_names names = { .event = event,
					  .words = filter_words,
					  .nr_words = TRACE_ARRAY_SIZE(filter_words) };
	const struct expr_word name = trace_expr_take_name(&pred->text);

	if (!name.len)
		return -EPERM;
	if (!trace_expr_find_in_event(&names, &name, &pred->value))
		return filter_pred_refuse(pred, "Field not found");
	pred->is_user = trace_expr_take(&pred->text, ".ustring");
	pred->is_function = trace_expr_take(&pred->text, ".function");
	return 0;
}

static int take_operator(struct pred *pred)
{
	/* <= comes before <, which it begins with. */
	static const char *const words[EXPR_NR_CMPS] = {
		[EXPR_CMP_GLOB] = "~", [EXPR_CMP_NE] = "!=", [EXPR_CMP_EQ] = "==",
		[EXPR_CMP_LE] = "<=",  [EXPR_CMP_LT] = "<",  [EXPR_CMP_GE] = ">=",
		[EXPR_CMP_GT] = ">",   [EXPR_CMP_AND] = "&",
	};

	trace_expr_skip_spaces(&pred->text);
	for (pred->cmp = 0; pred->cmp < EXPR_NR_CMPS; pred->cmp++) {
		if (trace_expr_take(&pred->text, words[pred->cmp])) {
			trace_expr_skip_spaces(&pred->text);
			return 0;
		}
	}
	return filter_pred_refuse(pred, INVALID_OP);
}

static bool is_equality(const struct pred *pred)
{
	return pred->cmp == EXPR_CMP_EQ || pred->cmp == EXPR_CMP_NE;
}

/* ---- Numbers ---- */

/* Find the characters of a number. Returns -EINVAL for too many. */
static int take_digits(struct pred *pred, struct expr_word *out_digits)
{
	*out_digits = trace_expr_take_digits(&pred->text);
	return out_digits->len > MAX_NUMBER_CHARS ? filter_pred_refuse(pred, TOO_LONG) : 0;
}

static int compile_number(struct pred *pred)
{
	enum expr_class class = pred->value.class;
	struct expr_word digits;
	uint64_t number;
	int err;

	if (class == EXPR_CLASS_TEXT)
		return filter_pred_refuse(pred, "Expecting string field");
	if (pred->cmp == EXPR_CMP_GLOB || class == EXPR_CLASS_SET || class == EXPR_CLASS_STACK)
		return filter_pred_refuse(pred, ILLEGAL_OP);
	err = take_digits(pred, &digits);
	if (err)
		return err;
	if (trace_expr_number(&digits, 0, pred->value.is_signed, &number))
		return trace_expr_refuse(&pred->text, -EINVAL, "Illegal integer value", digits.at);
	if (class == EXPR_CLASS_OTHER)
		trace_expr_add_constant(pred->build, false);
	else
		trace_expr_add_number(pred->build, &pred->value, pred->cmp, number);
	return 0;
}

/* ---- Functions ---- */

/* Find the end of NAME or NAME@FILE. */
static void filter_pred_take_name(struct pred *pred)
{
	bool has_file = false;

	while (expr_is_alnum(*pred->text.at) || *pred->text.at == '_' || *pred->text.at == '.' ||
	       *pred->text.at == '@' ||
	       (has_file && (*pred->text.at == '/' || *pred->text.at == '-')))
		has_file |= *pred->text.at++ == '@';
}

/*
 * Parse an address, written as a number or as the name of a function. *out_addr is left alone when
 * there is no such function.
 */
static int take_address(struct pred *pred, uintptr_t *out_addr)
{
	const char *start = pred->text.at, *why;
	struct expr_word digits;
	uint64_t number;
	int err;

	if (expr_is_digit(*start)) {
		err = take_digits(pred, &digits);
		if (err)
			return err;
		if (trace_expr_number(&digits, 0, false, &number))
			return filter_pred_refuse(pred, INVALID_VALUE);
		*out_addr = (uintptr_t)number;
		return 0;
	}
	filter_pred_take_name(pred);
	err = trace_func_name_find(start, (size_t)(pred->text.at - start), out_addr, &why);
	return err && why ? filter_pred_refuse(pred, why) : 0;
}

static int compile_function(struct pred *pred)
{
	char name[TRACE_SYM_LEN];
	uintptr_t addr = 0, start;
	size_t size;
	int err;

	if (pred->value.class != EXPR_CLASS_ADDRESS &&
	    (pred->value.class != EXPR_CLASS_NUMBER || pred->value.size != sizeof(uintptr_t)))
		return filter_pred_refuse(pred, ILLEGAL_OP);
	if (!is_equality(pred))
		return filter_pred_refuse(pred, INVALID_OP);
	err = take_address(pred, &addr);
	if (err)
		return err;
	if (!addr || !trace_plat_symbol(addr, name, &start, &size) || !size)
		return filter_pred_refuse(pred, "Function not found");
	trace_expr_add_range(pred->build, &pred->value, start, start + size - 1,
			     pred->cmp == EXPR_CMP_EQ);
	return 0;
}

/* ---- Texts ---- */

static int compile_text(struct pred *pred)
{
	const char *start = pred->text.at + 1;
	char quote = *pred->text.at;
	size_t len;

	if (!is_equality(pred) && pred->cmp != EXPR_CMP_GLOB)
		return filter_pred_refuse(pred, ILLEGAL_OP);
	if (pred->value.class != EXPR_CLASS_TEXT)
		return filter_pred_refuse(pred, "Expecting numeric field");
	for (pred->text.at++; *pred->text.at && *pred->text.at != quote; pred->text.at++)
		;
	if (!*pred->text.at)
		return filter_pred_refuse(pred, NO_QUOTE);
	len = (size_t)(pred->text.at - start);
	if (len > MAX_TEXT_CHARS)
		return filter_pred_refuse(pred, TOO_LONG);
	if (pred->is_user && pred->value.place == EXPR_PLACE_POINTER)
		pred->value.place = EXPR_PLACE_USER;
	trace_expr_add_text(pred->build, &pred->value, pred->cmp, start, len);
	pred->text.at++;
	return 0;
}

/* ---- CPUS{0-3,5} ---- */

static int take_cpus(struct pred *pred, struct expr_cpus *out_cpus)
{
	struct expr_word list;

	trace_expr_take(&pred->text, "CPUS");
	if (*pred->text.at++ != '{')
		return filter_pred_refuse(pred, "Missing '{'");
	list.at = pred->text.at;
	while (*pred->text.at && *pred->text.at != '}')
		pred->text.at++;
	if (!*pred->text.at)
		return filter_pred_refuse(pred, "Missing '}'");
	list.len = (size_t)(pred->text.at - list.at);
	if (!trace_expr_parse_cpus(pred->build, &list, out_cpus))
		return filter_pred_refuse(pred, "Invalid cpulist");
	pred->text.at++;
	return 0;
}

static int compile_cpus(struct pred *pred)
{
	enum expr_class class = pred->value.class;
	struct expr_cpus cpus = { 0 };
	int err;

	if (class != EXPR_CLASS_SET && class != EXPR_CLASS_CPU && class != EXPR_CLASS_NUMBER)
		return filter_pred_refuse(pred, ILLEGAL_OP);
	if (!is_equality(pred) && pred->cmp != EXPR_CMP_AND)
		return filter_pred_refuse(pred, ILLEGAL_OP);
	err = take_cpus(pred, &cpus);
	if (err)
		return err;
	trace_expr_add_cpus(pred->build, &pred->value, pred->cmp, &cpus);
	return 0;
}

/* ---- All of it ---- */

static int compile_value(struct pred *pred)
{
	if (pred->is_function)
		return compile_function(pred);
	if (trace_str_starts(pred->text.at, "CPUS"))
		return compile_cpus(pred);
	if (*pred->text.at == '\'' || *pred->text.at == '"')
		return compile_text(pred);
	if (expr_is_digit(*pred->text.at) || *pred->text.at == '-')
		return compile_number(pred);
	return filter_pred_refuse(pred, INVALID_VALUE);
}

int trace_filter_pred_compile(struct filter_compiler *compiler, size_t start, size_t *out_end)
{
	struct pred pred = {
		.text = { .text = compiler->text,
			  .at = compiler->text + start,
			  .error = compiler->error,
			  .base = 1 },
		.build = &compiler->build,
	};
	int err = filter_pred_take_field(&pred, compiler->event);

	if (!err)
		err = take_operator(&pred);
	if (!err)
		err = compile_value(&pred);
	if (!err)
		*out_end = (size_t)(pred.text.at - compiler->text);
	return err;
}
