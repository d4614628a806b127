/*
 * From the text of a filter to its conditions: see filter_private.h.
 *
 *   scan()   quotes and parentheses, over the whole text; the room that the rest needs
 *   filter_parse_split()  from left to right; each comparison is compiled into instructions
 *
 * Error messages, their places and error numbers are Linux's.
 */
#include "filter_private.h"
#include <trace/errno.h>
#include <trace/platform.h>
#include "text/str.h"

#define MAX_TEXT_BYTES 65536u

struct parser {
	struct filter_compiler compiler;
	struct expr_cond cond;
	/* Counts of the text, by scan(). */
	size_t len;
	size_t max_preds;
	size_t max_tokens;
};

const char trace_filter_syntax[] = "Error";

/* Record a mistake at index `pos` of the text. Returns `err`. */
static int filter_parse_refuse(struct parser *parser, int err, const char *why, size_t pos)
{
	*parser->compiler.error = (struct expr_error){ .why = why, .pos = pos };
	return err;
}

/* ---- Looking over the text ---- */

/* Find the last parenthesis that is not closed. Quotes are in pairs. */
static size_t filter_parse_find_open(const char *text, size_t len)
{
	size_t nr_closed = 0;
	char quote = '\0';

	for (size_t i = len; i-- > 0;) {
		if (quote) {
			if (text[i] == quote)
				quote = '\0';
		} else if (text[i] == '\'' || text[i] == '"') {
			quote = text[i];
		} else if (text[i] == ')') {
			nr_closed++;
		} else if (text[i] == '(' && nr_closed-- == 0) {
			return i;
		}
	}
	return 0;
}

/* Is this a character outside of any comparison? `next` is the character behind it. */
static bool is_structure(char c, char next)
{
	return c == '(' || c == ')' || ((c == '&' || c == '|') && c == next);
}

/*
 * Check that quotes and parentheses are in pairs, and count comparisons and tokens.
 * filter_parse_split() finds no more of them, because a comparison has quotes around a text only.
 */
static int scan(struct parser *parser)
{
	const char *text = parser->compiler.text;
	size_t depth = 0, quote_at = 0, i;
	bool is_in_pred = false;
	char quote = '\0';

	for (i = 0; text[i]; i++) {
		if (quote) {
			if (text[i] == quote)
				quote = '\0';
			continue;
		}
		if (trace_is_space(text[i]))
			continue;
		if (text[i] == ')' && depth-- == 0)
			return filter_parse_refuse(parser, -EPERM, "Too few '('", i);
		if (is_structure(text[i], text[i + 1])) {
			depth += text[i] == '(';
			i += text[i] == '&' || text[i] == '|';
			parser->max_tokens++;
			is_in_pred = false;
			continue;
		}
		parser->max_preds += !is_in_pred;
		is_in_pred = true;
		quote = text[i] == '\'' || text[i] == '"' ? text[i] : '\0';
		quote_at = i;
	}
	parser->len = i;
	parser->max_tokens += parser->max_preds + 1;
	if (quote)
		return filter_parse_refuse(parser, -ESRCH, "Missing matching quote", quote_at);
	if (depth)
		return filter_parse_refuse(parser, -ENOENT, "Too many '('",
					   filter_parse_find_open(text, i));
	return 0;
}

/* ---- Tokens ---- */

/* Is this `!` a negation? It is none if it belongs to an operator, and a mistake before a blank. */
static bool is_not(const char *text)
{
	return text[0] == '!' && text[1] != '=' && text[1] != '~' && text[1] != ' ';
}

static int split_pred(struct parser *parser, bool is_negated, size_t *at)
{
	uint32_t first = parser->compiler.build.program->nr;
	int err = trace_filter_pred_compile(&parser->compiler, *at, at);

	if (!err)
		trace_expr_cond_test(&parser->cond, first, is_negated);
	return err;
}

/* Split an operand into tokens: parentheses, `!` and the comparison, or the end. */
static int split_operand(struct parser *parser, size_t *at)
{
	const char *text = parser->compiler.text;
	bool is_negated = false;

	for (; text[*at]; (*at)++) {
		if (text[*at] == '(') {
			trace_expr_cond_open(&parser->cond, is_negated);
			is_negated = false;
		} else if (is_not(text + *at)) {
			is_negated = !is_negated;
		} else if (!trace_is_space(text[*at])) {
			return split_pred(parser, is_negated, at);
		}
	}
	return 0;
}

/*
 * Split the text behind a comparison: parentheses, and the operator before the next one, or the
 * end.
 */
static int split_operator(struct parser *parser, size_t *at)
{
	const char *text = parser->compiler.text;

	for (; text[*at]; (*at)++) {
		if (trace_is_space(text[*at]))
			continue;
		if (!is_structure(text[*at], text[*at + 1]) || text[*at] == '(')
			return filter_parse_refuse(parser, -EPERM,
						   "Too many terms in predicate expression", *at);
		if (text[*at] == ')') {
			trace_expr_cond_close(&parser->cond);
			continue;
		}
		trace_expr_cond_operator(&parser->cond, text[*at] == '|');
		*at += 2;
		return 0;
	}
	return 0;
}

static int filter_parse_split(struct parser *parser)
{
	const char *text = parser->compiler.text;
	size_t at = 0;
	int err = 0;

	while (!err && text[at]) {
		err = split_operand(parser, &at);
		if (!err)
			err = split_operator(parser, &at);
	}
	if (err)
		return err;
	if (!parser->cond.nr_tests)
		return filter_parse_refuse(parser, -EINVAL, "No filter found", parser->len);
	if (trace_expr_cond_wants_operand(&parser->cond))
		return filter_parse_refuse(parser, -EINVAL, "Meaningless filter expression",
					   parser->len);
	return 0;
}

/* ---- All of it ---- */

/*
 * Make the program. A comparison takes as many instructions as one of numbers, or one for each 8
 * characters of its text and NUL; and it has either a text or a mask.
 */
static int filter_parse_create(struct parser *parser)
{
	size_t insns = parser->max_preds * EXPR_CMP_INSNS + parser->len / 8;
	size_t data =
		parser->len + parser->max_preds * (sizeof(uint64_t) + trace_expr_cpus_bytes());

	return trace_expr_create(&parser->compiler.build, (uint32_t)insns, data);
}

static int filter_parse_compile(struct parser *parser)
{
	int err = trace_expr_cond_create(&parser->cond, &parser->compiler.build,
					 (uint32_t)parser->max_tokens);

	if (err)
		return err;
	err = filter_parse_split(parser);
	if (!err) {
		trace_expr_cond_link(&parser->cond);
		err = trace_expr_finish(&parser->compiler.build);
	}
	trace_expr_cond_free(&parser->cond);
	return err;
}

int trace_filter_compile(const struct trace_event *event, const char *text,
			 struct expr_program **out_filter, struct expr_error *error)
{
	struct parser parser = { .compiler = { .event = event, .text = text, .error = error } };
	int err;

	*error = (struct expr_error){ .why = trace_filter_syntax };
	if (trace_strnlen(text, MAX_TEXT_BYTES) == MAX_TEXT_BYTES)
		return -EINVAL;
	err = scan(&parser);
	if (err)
		return err;
	if (!parser.max_preds)
		return -EINVAL;
	err = filter_parse_create(&parser);
	if (err)
		return err;
	err = filter_parse_compile(&parser);
	if (err)
		trace_expr_free(parser.compiler.build.program);
	else
		*out_filter = parser.compiler.build.program;
	return err;
}
