/*
 * From the text of a filter to its instructions: see filter_private.h.
 *
 *   scan()   quotes and parentheses, over the whole text; the room that the rest needs
 *   filter_parse_split()  tokens from left to right; each comparison is compiled into instructions
 *   link()   tokens from right to left: the next instruction after each comparison
 *
 * There is no recursion, and no limit of depth but memory. Error messages, their places and error
 * numbers are Linux's.
 */
#include "filter_private.h"
#include "text/str.h"

#define MAX_TEXT_BYTES 65536u
#define NO_TOKEN       UINT32_MAX
#define TOO_MANY_TERMS "Too many terms in predicate expression"

enum token_kind {
	TOKEN_PRED, /* a comparison */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_END,
};

struct token {
	uint8_t kind;
	bool is_negated; /* PRED: there is a ! before it; OPEN and CLOSE: before the parenthesis */
	uint32_t link;	 /* filter_parse_split(): the OPEN around an OPEN; link(): see there */
	uint32_t insns;	 /* PRED: number of its instructions */
	/*
	 * PRED: its first instruction; OPEN: that of the first comparison inside. Others: the next
	 * instructions if the operand to the left is false, and if it is true.
	 */
	struct filter_insn *first;
	const struct filter_insn *next[2];
};

struct parser {
	struct filter_compiler compiler;
	struct token *tokens;
	uint32_t nr_tokens;
	size_t nr_preds;
	/* Counts of the text, by scan(). */
	size_t len;
	size_t max_preds;
	size_t max_tokens;
};

const char trace_filter_syntax[] = "Error";

int trace_filter_refuse(struct filter_compiler *compiler, int err, const char *why, size_t pos)
{
	*compiler->error = (struct trace_filter_error){ .why = why, .pos = pos };
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
			return trace_filter_refuse(&parser->compiler, -EPERM, "Too few '('", i);
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
		return trace_filter_refuse(&parser->compiler, -ESRCH, FILTER_NO_QUOTE, quote_at);
	if (depth)
		return trace_filter_refuse(&parser->compiler, -ENOENT, "Too many '('",
					   filter_parse_find_open(text, i));
	return 0;
}

/* ---- Tokens ---- */

static struct token *add_token(struct parser *parser, enum token_kind kind)
{
	struct token *token = &parser->tokens[parser->nr_tokens++];

	token->kind = (uint8_t)kind;
	return token;
}

/* Is this `!` a negation? It is none if it belongs to an operator, and a mistake before a blank. */
static bool is_not(const char *text)
{
	return text[0] == '!' && text[1] != '=' && text[1] != '~' && text[1] != ' ';
}

static int split_pred(struct parser *parser, bool is_negated, size_t *at)
{
	size_t insns = parser->compiler.nr_insns;
	struct token *token;
	int err;

	err = trace_filter_pred_compile(&parser->compiler, *at, at);
	if (err)
		return err;
	token = add_token(parser, TOKEN_PRED);
	token->is_negated = is_negated;
	token->first = &parser->compiler.filter->insns[insns];
	token->insns = (uint32_t)(parser->compiler.nr_insns - insns);
	parser->nr_preds++;
	return 0;
}

/* Split an operand into tokens: parentheses, `!` and the comparison, or the end. */
static int split_operand(struct parser *parser, uint32_t *open, size_t *at)
{
	const char *text = parser->compiler.text;
	bool is_negated = false;
	struct token *token;

	for (; text[*at]; (*at)++) {
		if (text[*at] == '(') {
			token = add_token(parser, TOKEN_OPEN);
			token->is_negated = is_negated;
			token->link = *open;
			*open = parser->nr_tokens - 1;
			is_negated = false;
		} else if (is_not(text + *at)) {
			is_negated = !is_negated;
		} else if (!trace_is_space(text[*at])) {
			return split_pred(parser, is_negated, at);
		}
	}
	return 0;
}

static void close(struct parser *parser, uint32_t *open)
{
	add_token(parser, TOKEN_CLOSE)->is_negated = parser->tokens[*open].is_negated;
	*open = parser->tokens[*open].link;
}

/*
 * Split the text behind a comparison: parentheses, and the operator before the next one, or the
 * end.
 */
static int split_operator(struct parser *parser, uint32_t *open, size_t *at)
{
	const char *text = parser->compiler.text;

	for (; text[*at]; (*at)++) {
		if (trace_is_space(text[*at]))
			continue;
		if (!is_structure(text[*at], text[*at + 1]) || text[*at] == '(')
			return trace_filter_refuse(&parser->compiler, -EPERM, TOO_MANY_TERMS, *at);
		if (text[*at] == ')') {
			close(parser, open);
			continue;
		}
		add_token(parser, text[*at] == '&' ? TOKEN_AND : TOKEN_OR);
		*at += 2;
		return 0;
	}
	return 0;
}

static bool ends_in_operator(const struct parser *parser)
{
	uint8_t last = parser->tokens[parser->nr_tokens - 1].kind;

	return last == TOKEN_AND || last == TOKEN_OR;
}

static int filter_parse_split(struct parser *parser)
{
	const char *text = parser->compiler.text;
	uint32_t open = NO_TOKEN;
	size_t at = 0;
	int err = 0;

	while (!err && text[at]) {
		err = split_operand(parser, &open, &at);
		if (!err)
			err = split_operator(parser, &open, &at);
	}
	if (err)
		return err;
	if (!parser->nr_preds)
		return trace_filter_refuse(&parser->compiler, -EINVAL, "No filter found",
					   parser->len);
	if (ends_in_operator(parser))
		return trace_filter_refuse(&parser->compiler, -EINVAL,
					   "Meaningless filter expression", parser->len);
	add_token(parser, TOKEN_END);
	return 0;
}

/* ---- Next instructions ---- */

/* Link the comparison `token` to the instructions of `after`, the token behind it. */
static void link_pred(struct token *token, const struct token *after)
{
	for (uint32_t i = 0; i < token->insns; i++) {
		struct filter_insn *insn = &token->first[i];

		for (int k = 0; k < 2; k++) {
			if (filter_has_ended(insn->next[k]))
				insn->next[k] = after->next[(insn->next[k] == FILTER_PASS) ^
							    token->is_negated];
		}
	}
}

/* The token behind the operand that begins with token `index`. */
static const struct token *behind_operand(const struct token *tokens, uint32_t index)
{
	if (tokens[index].kind == TOKEN_OPEN)
		index = tokens[index].link;
	return &tokens[index + 1];
}

/*
 * Link all comparisons. `close` is the token that ends the innermost parentheses around this one,
 * or the whole: an || that is true goes on there. While parentheses are passed through from right
 * to left, the link of their CLOSE is that of the parentheses around them; afterwards the link of
 * their OPEN is their CLOSE.
 */
static void link(struct parser *parser)
{
	struct token *tokens = parser->tokens;
	uint32_t close = parser->nr_tokens - 1;

	tokens[close].next[false] = FILTER_FAIL;
	tokens[close].next[true] = FILTER_PASS;
	for (uint32_t i = close; i-- > 0;) {
		struct token *token = &tokens[i];
		const struct token *after = token + 1;

		switch ((enum token_kind)token->kind) {
		case TOKEN_PRED:
			link_pred(token, after);
			break;
		case TOKEN_CLOSE:
			token->next[false] = after->next[token->is_negated];
			token->next[true] = after->next[!token->is_negated];
			token->link = close;
			close = i;
			break;
		case TOKEN_OPEN:
			token->first = after->first;
			token->link = close;
			close = tokens[close].link;
			break;
		case TOKEN_AND:
			token->next[false] = behind_operand(tokens, i + 1)->next[false];
			token->next[true] = after->first;
			break;
		case TOKEN_OR:
			token->next[false] = after->first;
			token->next[true] = tokens[close].next[true];
			break;
		case TOKEN_END:
			break;
		}
	}
}

/* ---- All of it ---- */

static int filter_parse_compile(struct parser *parser)
{
	size_t bytes = parser->max_tokens * sizeof(struct token);
	int err;

	parser->tokens = trace_plat_alloc(bytes);
	if (!parser->tokens)
		return -ENOMEM;
	err = filter_parse_split(parser);
	if (!err) {
		link(parser);
		trace_filter_finish(&parser->compiler);
	}
	trace_plat_free(parser->tokens, bytes);
	return err;
}

int trace_filter_compile(const struct trace_event *event, const char *text,
			 struct trace_filter **out_filter, struct trace_filter_error *error)
{
	struct parser parser = { .compiler = { .event = event, .text = text, .error = error } };
	int err;

	*error = (struct trace_filter_error){ .why = trace_filter_syntax };
	if (trace_strnlen(text, MAX_TEXT_BYTES) == MAX_TEXT_BYTES)
		return -EINVAL;
	err = scan(&parser);
	if (err)
		return err;
	if (!parser.max_preds)
		return -EINVAL;
	err = trace_filter_create(&parser.compiler, parser.max_preds, parser.len);
	if (err)
		return err;
	err = filter_parse_compile(&parser);
	if (err)
		trace_filter_free(parser.compiler.filter);
	else
		*out_filter = parser.compiler.filter;
	return err;
}
