/*
 * Histograms: expressions. See hist.h, hist_parse.h.
 *
 *	sum     = product { ("+" | "-") product }
 *	product = factor { ("*" | "/") factor }
 *	factor  = "-" factor | "(" sum ")" | NUMBER | $VARIABLE | SYSTEM.EVENT.$VARIABLE | FIELD
 *
 * The instructions hand on the value; an operand on the left is saved meanwhile.
 */
#include "hist_parse.h"
#include "hist_vars.h"
#include "text/str.h"

#define DEPTH_MAX 3u /* depth of nested expressions, as on Linux */
#define OFFSET	  ".sym-offset"

struct expr {
	struct hist_parse *parse;
	struct expr_word rest;
	const char *start;
	uint32_t nr_temps;
	uint32_t nr_operators;
	uint32_t depth;
};

/* An operand: its value, and the properties that decide on allowed combinations. */
struct operand {
	struct hist_value value;
	const char *at; /* first character */
	uint32_t first; /* number of its first instruction */
	bool is_constant;
	uint64_t constant;
};

static int parse_sum(struct expr *expr, struct operand *out);

static bool is_operator(char c)
{
	return c == '+' || c == '-' || c == '*' || c == '/' || c == '(' || c == ')';
}

/* The next word. A minus belongs to it in sym-offset only; blanks belong to it, as on Linux. */
static struct expr_word next_word(const struct expr *expr)
{
	struct expr_word rest = expr->rest;

	while (rest.len && !is_operator(*rest.at))
		rest = expr_behind(&rest,
				   trace_expr_starts(&rest, OFFSET) ? sizeof(OFFSET) - 1 : 1);
	return expr_between(expr->rest.at, rest.at);
}

/* Make one instruction of an operand that is a number, as Linux does. */
static void hist_expr_fold(struct expr *expr, const struct operand *operand)
{
	trace_expr_cut(&expr->parse->build, operand->first);
	hist_add(expr->parse, EXPR_CONST)->number.operand = operand->constant;
}

/* Take the next word as a number; false: it is none. */
static bool hist_expr_take_number(struct expr *expr, uint64_t *out_number)
{
	const struct expr_word word = next_word(expr);

	if (trace_expr_number(&word, 0, false, out_number))
		return false;
	expr->rest = expr_behind(&expr->rest, word.len);
	return true;
}

static int hist_expr_parse_number(struct expr *expr, struct operand *out)
{
	if (!hist_expr_take_number(expr, &out->constant))
		return hist_blame(expr->parse, out->at, "Expecting numeric literal");
	hist_expr_fold(expr, out);
	out->is_constant = true;
	out->value.type = "u64";
	out->value.bytes = 8;
	out->value.words = 1;
	return 0;
}

static int parse_word(struct expr *expr, struct operand *out)
{
	const struct expr_word word = next_word(expr);

	out->at = word.at;
	if (!word.len)
		return hist_blame(expr->parse, word.at, "Couldn't find field");
	if (expr_is_digit(*word.at))
		return hist_expr_parse_number(expr, out);
	expr->rest = expr_behind(&expr->rest, word.len);
	return trace_hist_is_variable(&word)
		       ? trace_hist_compile_ref(expr->parse, &word, &out->value)
		       : trace_hist_compile_field(expr->parse, &word, &out->value);
}

static int parse_negative(struct expr *expr, struct operand *out);

static int parse_factor(struct expr *expr, struct operand *out)
{
	int err;

	*out = (struct operand){ .first = hist_next_insn(expr->parse) };
	if (expr_take(&expr->rest, '-'))
		return parse_negative(expr, out);
	if (!expr_take(&expr->rest, '('))
		return parse_word(expr, out);
	if (++expr->depth > DEPTH_MAX)
		return hist_blame(expr->parse, expr->start, "Too many subexpressions (3 max)");
	err = parse_sum(expr, out);
	if (!err && !expr_take(&expr->rest, ')'))
		err = hist_blame(expr->parse, expr->rest.at, "No closing paren found");
	expr->depth--;
	return err;
}

static int check_operand(struct expr *expr, const struct operand *operand)
{
	if (operand->value.kind == HIST_NUMBER)
		return 0;
	return hist_blame(expr->parse, operand->at,
			  "String type can not be an operand in expression");
}

/*
 * Mark a variable of another histogram as used up by the expression: it can be used once, as on
 * Linux.
 */
static void consume(struct expr *expr, const struct operand *operand)
{
	if (operand->value.is_ref && operand->value.ref < HIST_REFS_MAX)
		expr->parse->hist->refs[operand->value.ref].is_consumed = true;
}

static int parse_negative(struct expr *expr, struct operand *out)
{
	int err;

	if (++expr->depth > DEPTH_MAX)
		return hist_blame(expr->parse, expr->start, "Too many subexpressions (3 max)");
	expr->nr_operators++;
	err = parse_factor(expr, out);
	if (!err)
		err = check_operand(expr, out);
	if (!err) {
		consume(expr, out);
		(void)hist_add(expr->parse, EXPR_NEG);
	}
	out->is_constant = false;
	out->value.is_ref = false;
	out->value.is_signed = true;
	expr->depth--;
	return err;
}

static enum expr_op operator_of(char operator)
{
	switch (operator) {
	case '+':
		return EXPR_ADD;
	case '-':
		return EXPR_SUB;
	case '*':
		return EXPR_MUL;
	default:
		return EXPR_DIV;
	}
}

static int refuse_zero(struct expr *expr, const char *at)
{
	return trace_expr_refuse(&expr->parse->cursor, -EDOM, "Division by zero", at);
}

/* Is the operand known to be 0: as a number, or as a variable that is set to a number? */
static bool is_zero(const struct expr *expr, const struct operand *operand)
{
	const struct hist *hist = expr->parse->hist;
	const struct hist_value *value = &operand->value;

	if (!value->is_ref)
		return operand->is_constant && !operand->constant;
	if (value->ref < HIST_REFS_MAX)
		value = &hist->refs[value->ref].hist->vars[hist->refs[value->ref].var];
	else
		value = &hist->vars[value->ref - HIST_REFS_MAX];
	return value->is_constant && !value->constant;
}

static int combine(struct expr *expr, char operator, struct operand * left,
		   const struct operand *right, uint32_t temp)
{
	enum expr_op op = operator_of(operator);
	bool left_us = left->value.modifier == HIST_USECS;
	bool right_us = right->value.modifier == HIST_USECS;

	if (check_operand(expr, left) || check_operand(expr, right))
		return -EINVAL;
	if (left_us != right_us && !left->is_constant && !right->is_constant)
		return hist_blame(expr->parse, expr->start,
				  "Timestamp units in expression don't match");
	consume(expr, left);
	consume(expr, right);
	left->value.is_ref = false;
	left->value.has_refs |= right->value.has_refs;
	if (left->is_constant)
		left->value.modifier = right->value.modifier;
	left->is_constant = left->is_constant && right->is_constant;
	if (left->is_constant) {
		left->constant = trace_expr_combine(op, left->constant, right->constant);
		hist_expr_fold(expr, left);
	} else {
		hist_add(expr->parse, op)->to = (uint8_t)temp;
	}
	return 0;
}

/* Divide by a known number, by multiplying. */
static int divide_by_constant(struct expr *expr, struct operand *left, uint64_t divisor,
			      const char *at)
{
	int err = check_operand(expr, left);

	if (err)
		return err;
	if (!divisor)
		return refuse_zero(expr, at);
	consume(expr, left);
	left->value.is_ref = false;
	left->constant /= divisor;
	if (left->is_constant)
		hist_expr_fold(expr, left);
	else
		trace_expr_add_division(&expr->parse->build, EXPR_DIVIDE, divisor);
	return 0;
}

/* Parse what is behind `operator`: the right operand by `next`, while the left one waits in temps. */
static int parse_right(struct expr *expr, char operator, struct operand * left,
		       int (*next)(struct expr *expr, struct operand *out))
{
	const char *at = expr->rest.at;
	struct operand right;
	uint64_t divisor;
	uint32_t temp = expr->nr_temps;
	int err;

	expr->nr_operators++;
	if (operator== '/' && expr_is_digit(expr_first(&expr->rest)) &&
	    hist_expr_take_number(expr, &divisor))
		return divide_by_constant(expr, left, divisor, at);
	if (temp == HIST_TEMPS_MAX)
		return hist_blame(expr->parse, expr->start, "Too many subexpressions (3 max)");
	expr->nr_temps++;
	hist_add(expr->parse, EXPR_SAVE)->to = (uint8_t)temp;
	err = next(expr, &right);
	if (!err)
		err = combine(expr, operator, left, &right, temp);
	if (!err && operator== '/' && is_zero(expr, &right))
		err = refuse_zero(expr, at);
	expr->nr_temps--;
	return err;
}

/* Take one of two operators, if it is there. */
static bool hist_expr_take_operator(struct expr *expr, const char *operators, char *out_operator)
{
	*out_operator = expr_first(&expr->rest);
	return expr_take(&expr->rest, operators[0]) || expr_take(&expr->rest, operators[1]);
}

static int parse_product(struct expr *expr, struct operand *out)
{
	int err = parse_factor(expr, out);
	char operator;

	while (!err && hist_expr_take_operator(expr, "*/", &operator))
		err = parse_right(expr, operator, out, parse_factor);
	return err;
}

static int parse_sum(struct expr *expr, struct operand *out)
{
	int err = parse_product(expr, out);
	char operator;

	while (!err && hist_expr_take_operator(expr, "+-", &operator))
		err = parse_right(expr, operator, out, parse_product);
	return err;
}

/* Is a modifier without meaning at this place? */
static bool is_modifier_wrong(const struct hist_value *value, enum hist_place place)
{
	switch (value->modifier) {
	case HIST_PERCENT:
	case HIST_GRAPH:
		return place != HIST_AS_VALUE;
	case HIST_LOG2:
	case HIST_BUCKETS:
		return place != HIST_AS_KEY;
	case HIST_SYM:
	case HIST_SYM_OFFSET:
	case HIST_SYSCALL:
	case HIST_STACKTRACE:
		return place == HIST_AS_VALUE;
	default:
		return false;
	}
}

/* Make an expression of `operand`, listed as `name`; a constant is listed as its number. */
static void make_expression(const struct operand *operand, const char *name,
			    struct hist_value *value)
{
	value->is_expression = true;
	value->is_ref = false;
	value->field = NULL;
	value->name = name;
	value->is_constant = operand->is_constant;
	value->constant = operand->constant;
	if (value->modifier != HIST_USECS)
		value->modifier = HIST_PLAIN;
}

/* The name SYSTEM.EVENT.$NAME without its `$`, as listed by Linux in front. */
static const char *qualified_name(const struct hist *hist, const struct expr_word *text)
{
	struct expr_word rest = *text, event = expr_take_until(&rest, "$");
	char *name = trace_hist_name_of(hist, text);

	(void)expr_take(&rest, '$');
	(void)trace_expr_copy(name + event.len, rest.len + 1, &rest);
	return name;
}

/* The place of Linux's error for a modifier without meaning here. */
static const char *blamed(const struct hist_value *value, const struct expr_word *text)
{
	bool is_share = value->modifier == HIST_PERCENT || value->modifier == HIST_GRAPH;
	struct expr_word rest = *text;

	(void)expr_take_until(&rest, ".");
	return is_share ? rest.at + 1 : text->at;
}

int trace_hist_compile_value(struct hist_parse *parse, const struct expr_word *text,
			     enum hist_place place, struct hist_value *value)
{
	struct expr expr = { .parse = parse, .rest = *text, .start = text->at };
	struct expr_word points = *text;
	struct operand operand;
	uint16_t insn = hist_next_insn(parse);
	int err = parse_sum(&expr, &operand);

	if (err)
		return err;
	if (expr.rest.len)
		return hist_blame(parse, expr.rest.at, "Couldn't find field");
	*value = operand.value;
	value->insn = insn;
	(void)expr_take_until(&points, ".");
	if (expr.nr_operators || operand.is_constant)
		make_expression(&operand, trace_hist_name_of(parse->hist, text), value);
	else if (value->is_ref && points.len)
		value->name = qualified_name(parse->hist, text);
	if (operand.is_constant && place == HIST_AS_VALUE)
		value->name = ""; /* as on Linux */
	if (is_modifier_wrong(value, place))
		return hist_blame(parse, blamed(value, text), "Invalid field modifier");
	if (place == HIST_AS_VALUE && value->kind != HIST_NUMBER)
		return hist_blame(parse, text->at, "A value has to be a number");
	if (place == HIST_AS_KEY && value->has_refs)
		return hist_blame(parse, text->at,
				  "Using variable references in keys not supported");
	return trace_hist_end_value(parse);
}

int trace_hist_compile_plain(struct hist_parse *parse, const struct expr_word *text,
			     struct hist_value *value)
{
	uint16_t insn = hist_next_insn(parse);
	int err;

	*value = (struct hist_value){ .insn = insn };
	err = trace_hist_compile_field(parse, text, value);
	if (err)
		return err;
	if (is_modifier_wrong(value, HIST_AS_VARIABLE))
		return hist_blame(parse, text->at, "Invalid field modifier");
	return trace_hist_end_value(parse);
}
