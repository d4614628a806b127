/* Words, numbers and mistakes of a text: see expr_cursor.h. */
#include "expr_cursor.h"
#include <trace/errno.h>
#include "text/str.h"

int trace_expr_refuse(const struct expr_cursor *cursor, int err, const char *why, const char *at)
{
	*cursor->error = (struct expr_error){
		.why = why,
		.pos = (size_t)(at - cursor->text) + cursor->base,
	};
	return err;
}

void trace_expr_skip_spaces(struct expr_cursor *cursor)
{
	while (trace_is_space(*cursor->at))
		cursor->at++;
}

bool trace_expr_take(struct expr_cursor *cursor, const char *word)
{
	if (!trace_str_starts(cursor->at, word))
		return false;
	cursor->at += trace_strlen(word);
	return true;
}

struct expr_word trace_expr_take_name(struct expr_cursor *cursor)
{
	struct expr_word word = { .at = cursor->at };

	while (expr_is_alnum(*cursor->at) || *cursor->at == '_')
		cursor->at++;
	word.len = (size_t)(cursor->at - word.at);
	return word;
}

struct expr_word trace_expr_take_digits(struct expr_cursor *cursor)
{
	struct expr_word word = { .at = cursor->at };

	if (*cursor->at == '-')
		cursor->at++;
	while (expr_is_alnum(*cursor->at))
		cursor->at++;
	word.len = (size_t)(cursor->at - word.at);
	return word;
}

int trace_expr_number(const struct expr_word *word, unsigned int base, bool is_signed,
		      uint64_t *out_number)
{
	bool is_negative = is_signed && word->len && *word->at == '-';
	size_t len = word->len - is_negative;
	char digits[EXPR_NUMBER_CHARS + 1];
	int err;

	if (!len || len > EXPR_NUMBER_CHARS)
		return -EINVAL;
	memcpy(digits, word->at + is_negative, len);
	digits[len] = '\0';
	err = trace_parse_u64(digits, base, out_number);
	if (err)
		return err;
	if (is_signed && *out_number > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	if (is_negative)
		*out_number = 0 - *out_number;
	return 0;
}

bool trace_expr_is(const struct expr_word *word, const char *text)
{
	return trace_strlen(text) == word->len && memcmp(word->at, text, word->len) == 0;
}
