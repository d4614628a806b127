/*
 * From text to tokens. See sh_tree.h. Only the ends of words are found here; sh_expand.c looks into
 * the words.
 */
#include <kernel/string.h>
#include "sh_tree.h"

static const char *lex_skip_brackets(const char *pos, const char *end, char close, uint32_t depth);

static bool lex_is_name_start(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t sh_name_len(const char *pos, const char *end)
{
	const char *start = pos;

	if (pos == end || !lex_is_name_start(*pos))
		return 0;
	while (pos < end && (lex_is_name_start(*pos) || lex_is_digit(*pos)))
		pos++;
	return (size_t)(pos - start);
}

static const char *lex_skip_until(const char *pos, const char *end, char close)
{
	while (pos < end && *pos != close)
		pos++;
	return pos < end ? pos + 1 : NULL;
}

static const char *lex_skip_back_quotes(const char *pos, const char *end)
{
	while (pos < end && *pos != '`')
		pos += *pos == '\\' ? 2 : 1;
	return pos < end ? pos + 1 : NULL;
}

static const char *lex_skip_double_quotes(const char *pos, const char *end, uint32_t depth)
{
	while (pos && pos < end && *pos != '"') {
		if (*pos == '\\')
			pos += 2;
		else if (*pos == '$' || *pos == '`')
			pos = sh_lex_dollar(pos, end, depth);
		else
			pos++;
	}
	return pos && pos < end ? pos + 1 : NULL;
}

/* The position behind the quotes that open at `pos`; NULL when they are not closed before `end`. */
static const char *lex_skip_quotes(const char *pos, const char *end, uint32_t depth)
{
	if (*pos == '\'')
		return lex_skip_until(pos + 1, end, '\'');
	return lex_skip_double_quotes(pos + 1, end, depth);
}

const char *sh_lex_dollar(const char *pos, const char *end, uint32_t depth)
{
	if (depth >= SH_DEPTH_MAX)
		return NULL;
	if (*pos == '`')
		return lex_skip_back_quotes(pos + 1, end);
	if (pos + 1 < end && pos[1] == '(')
		return lex_skip_brackets(pos + 2, end, ')', depth + 1);
	if (pos + 1 < end && pos[1] == '{')
		return lex_skip_brackets(pos + 2, end, '}', depth + 1);
	return pos + 1;
}

/* Does a comment start here, inside $( )? Quotes and brackets in it mean nothing. */
static bool lex_starts_comment(const char *pos, char close)
{
	char before = pos[-1];

	return *pos == '#' && close == ')' &&
	       (before == ' ' || before == '\t' || before == '\n' || before == ';');
}

static const char *lex_skip_brackets(const char *pos, const char *end, char close, uint32_t depth)
{
	uint32_t open = 1;

	while (pos && pos < end) {
		if (*pos == '\\') {
			pos += 2;
		} else if (*pos == '\'' || *pos == '"') {
			pos = lex_skip_quotes(pos, end, depth);
		} else if (*pos == '$' || *pos == '`') {
			pos = sh_lex_dollar(pos, end, depth);
		} else if (lex_starts_comment(pos, close)) {
			while (pos < end && *pos != '\n')
				pos++;
		} else if (*pos == close) {
			pos++;
			if (--open == 0)
				return pos;
		} else {
			open += close == ')' && *pos == '(';
			pos++;
		}
	}
	return NULL;
}

static bool lex_ends_word(char c)
{
	return c && strchr(" \t\n;&|<>()", c) != NULL;
}

static int lex_word(struct sh_lexer *lexer, struct sh_token *token)
{
	const char *pos = lexer->pos;

	while (pos && pos < lexer->end && !lex_ends_word(*pos)) {
		if (*pos == '\\')
			pos += 2;
		else if (*pos == '\'' || *pos == '"')
			pos = lex_skip_quotes(pos, lexer->end, 0);
		else if (*pos == '$' || *pos == '`')
			pos = sh_lex_dollar(pos, lexer->end, 0);
		else
			pos++;
	}
	if (!pos || pos > lexer->end)
		return -EAGAIN;
	token->type = SH_TOKEN_WORD;
	token->len = (size_t)(pos - lexer->pos);
	lexer->pos = pos;
	return 0;
}

static void lex_skip_blanks(struct sh_lexer *lexer)
{
	const char *pos = lexer->pos;

	while (pos < lexer->end) {
		if (*pos == ' ' || *pos == '\t' || *pos == '\r') {
			pos++;
		} else if (*pos == '\\' && pos + 1 < lexer->end && pos[1] == '\n') {
			pos += 2;
		} else if (*pos == '#') {
			while (pos < lexer->end && *pos != '\n')
				pos++;
		} else {
			break;
		}
	}
	lexer->pos = pos;
}

/* Read the operator at `pos`: < > >> >| >& or <&. Returns its length. */
static size_t lex_redir(const char *pos, const char *end, struct sh_token *token)
{
	char next = pos + 1 < end ? pos[1] : '\0';

	token->type = SH_TOKEN_REDIR;
	token->redir = *pos == '<' ? SH_REDIR_READ : SH_REDIR_WRITE;
	if (next == '&') {
		token->redir = SH_REDIR_DUP;
		return 2;
	}
	if (*pos == '>' && next == '>') {
		token->redir = SH_REDIR_APPEND;
		return 2;
	}
	return *pos == '>' && next == '|' ? 2 : 1;
}

/* Read the operator at `pos`. Returns its length, 0 when there is none. */
static size_t lex_operator(const char *pos, const char *end, struct sh_token *token)
{
	bool is_double = pos + 1 < end && pos[1] == pos[0];

	switch (*pos) {
	case '\n':
		token->type = SH_TOKEN_NEWLINE;
		return 1;
	case ';':
		token->type = SH_TOKEN_SEMI;
		return 1;
	case '&':
		token->type = is_double ? SH_TOKEN_AND : SH_TOKEN_AMP;
		return is_double ? 2 : 1;
	case '|':
		token->type = is_double ? SH_TOKEN_OR : SH_TOKEN_PIPE;
		return is_double ? 2 : 1;
	case '(':
		token->type = SH_TOKEN_LPAREN;
		return 1;
	case ')':
		token->type = SH_TOKEN_RPAREN;
		return 1;
	case '<':
	case '>':
		token->fd = *pos == '>';
		return lex_redir(pos, end, token);
	default:
		return 0;
	}
}

int sh_lex(struct sh_lexer *lexer, struct sh_token *out_token)
{
	const char *pos;

	lex_skip_blanks(lexer);
	pos = lexer->pos;
	*out_token = (struct sh_token){ .text = pos };
	if (pos == lexer->end)
		return 0;
	if (lex_is_digit(*pos) && pos + 1 < lexer->end && (pos[1] == '<' || pos[1] == '>')) {
		out_token->len = 1 + lex_redir(pos + 1, lexer->end, out_token);
		out_token->fd = (uint32_t)(*pos - '0');
	} else {
		out_token->len = lex_operator(pos, lexer->end, out_token);
	}
	if (!out_token->len)
		return lex_word(lexer, out_token);
	lexer->pos += out_token->len;
	return 0;
}
