/*
 * Integer arithmetic of $(( )), with the operators of C except assignments, by precedence climbing.
 * See sh.h. A name is a variable; one that is not set, or is no number, counts as 0.
 */
#include <kernel/string.h>
#include "sh.h"

struct arith {
	const struct shell *sh;
	const char *pos;
	const char *end;
	uint32_t depth;
	const char *error; /* the first one; NULL: none */
};

struct arith_op {
	const char *text;
	uint32_t precedence; /* higher binds tighter */
};

/* `<<` stands before `<` and so on, because the first one that fits is taken. */
static const struct arith_op operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "<<", 8 }, { ">>", 8 }, { "<=", 7 }, { ">=", 7 },
	{ "==", 6 }, { "!=", 6 }, { "|", 3 },  { "^", 4 },  { "&", 5 },	 { "<", 7 },
	{ ">", 7 },  { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static int64_t arith_parse_binary(struct arith *a, uint32_t min_precedence);

static int64_t arith_fail(struct arith *a, const char *error)
{
	if (!a->error)
		a->error = error;
	return 0;
}

static void arith_skip_blanks(struct arith *a)
{
	while (a->pos < a->end && strchr(" \t\n", *a->pos))
		a->pos++;
}

static bool arith_take(struct arith *a, char c)
{
	arith_skip_blanks(a);
	if (a->pos == a->end || *a->pos != c)
		return false;
	a->pos++;
	return true;
}

static uint32_t arith_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10 : 99;
}

static int64_t arith_parse_digits(const char **pos, const char *end)
{
	const char *p = *pos;
	uint64_t value = 0;
	uint32_t base = 10;

	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x') {
		base = 16;
		p += 2;
	} else if (*p == '0') {
		base = 8;
	}
	for (; p < end && arith_digit_value(*p) < base; p++)
		value = value * base + arith_digit_value(*p);
	*pos = p;
	return (int64_t)value;
}

static int64_t arith_variable_value(struct arith *a, const char *name, size_t len)
{
	const char *value = sh_var_get(a->sh, name, len);
	bool is_negative = value && *value == '-';
	int64_t number;

	if (!value || !*value)
		return 0;
	value += is_negative;
	if (arith_digit_value(*value) > 9)
		return 0;
	number = arith_parse_digits(&value, value + strlen(value));
	return is_negative ? (int64_t)(0 - (uint64_t)number) : number;
}

static int64_t arith_parse_primary(struct arith *a)
{
	size_t len = sh_name_len(a->pos, a->end);
	int64_t value;

	if (len) {
		a->pos += len;
		return arith_variable_value(a, a->pos - len, len);
	}
	if (a->pos < a->end && arith_digit_value(*a->pos) < 10)
		return arith_parse_digits(&a->pos, a->end);
	if (!arith_take(a, '('))
		return arith_fail(a, "arithmetic syntax error");
	value = arith_parse_binary(a, 1);
	if (!arith_take(a, ')'))
		return arith_fail(a, "arithmetic syntax error");
	return value;
}

static int64_t arith_parse_unary(struct arith *a)
{
	int64_t value;

	if (++a->depth > 2 * SH_DEPTH_MAX)
		return arith_fail(a, "arithmetic expression nested too deeply");
	arith_skip_blanks(a);
	if (arith_take(a, '-'))
		value = (int64_t)(0 - (uint64_t)arith_parse_unary(a));
	else if (arith_take(a, '+'))
		value = arith_parse_unary(a);
	else if (arith_take(a, '!'))
		value = !arith_parse_unary(a);
	else if (arith_take(a, '~'))
		value = ~arith_parse_unary(a);
	else
		value = arith_parse_primary(a);
	a->depth--;
	return value;
}

static const struct arith_op *arith_peek_operator(struct arith *a)
{
	arith_skip_blanks(a);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t len = strlen(operators[i].text);

		if ((size_t)(a->end - a->pos) >= len && memcmp(a->pos, operators[i].text, len) == 0)
			return &operators[i];
	}
	return NULL;
}

static int64_t arith_divide(struct arith *a, char op, int64_t left, int64_t right)
{
	if (!right)
		return arith_fail(a, "divide by zero");
	if (right == -1) /* INT64_MIN / -1 traps */
		return op == '/' ? (int64_t)(0 - (uint64_t)left) : 0;
	return op == '/' ? left / right : left % right;
}

static int64_t arith_apply_compare(const char *op, int64_t left, int64_t right)
{
	bool or_equal = op[1] == '=';

	if (op[0] == '<')
		return left < right || (or_equal && left == right);
	if (op[0] == '>')
		return left > right || (or_equal && left == right);
	return (left == right) == (op[0] == '=');
}

static int64_t arith_apply(struct arith *a, const char *op, int64_t left, int64_t right)
{
	uint64_t l = (uint64_t)left, r = (uint64_t)right;

	if (op[1] == '=')
		return arith_apply_compare(op, left, right);
	switch (op[0]) {
	case '|':
		return op[1] ? left || right : (int64_t)(l | r);
	case '&':
		return op[1] ? left && right : (int64_t)(l & r);
	case '^':
		return (int64_t)(l ^ r);
	case '<':
		return op[1] ? (int64_t)(l << (r & 63)) : left < right;
	case '>':
		return op[1] ? left >> (r & 63) : left > right;
	case '+':
		return (int64_t)(l + r);
	case '-':
		return (int64_t)(l - r);
	case '*':
		return (int64_t)(l * r);
	default:
		return arith_divide(a, op[0], left, right);
	}
}

/*
 * Parse and compute operators of at least this precedence. Both sides of && and || are computed,
 * because nothing here has side effects; a division by zero is an error on either side.
 */
static int64_t arith_parse_binary(struct arith *a, uint32_t min_precedence)
{
	int64_t left = arith_parse_unary(a);
	const struct arith_op *op = arith_peek_operator(a);

	while (op && op->precedence >= min_precedence && !a->error) {
		int64_t right;

		a->pos += strlen(op->text);
		right = arith_parse_binary(a, op->precedence + 1);
		left = arith_apply(a, op->text, left, right);
		op = arith_peek_operator(a);
	}
	return left;
}

int sh_arith(struct shell *sh, const char *text, size_t len, int64_t *out_value, char *error)
{
	struct arith a = { .sh = sh, .pos = text, .end = text + len };

	arith_skip_blanks(&a);
	*out_value = a.pos == a.end ? 0 : arith_parse_binary(&a, 1);
	arith_skip_blanks(&a);
	if (!a.error && a.pos != a.end)
		arith_fail(&a, "arithmetic syntax error");
	if (!a.error)
		return 0;
	strlcpy(error, a.error, SH_ERROR_LEN);
	return -EINVAL;
}
