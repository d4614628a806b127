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

	while (expr_is_of_name(*cursor->at))
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
	bool is_long = len > EXPR_NUMBER_CHARS;
	char digits[EXPR_NUMBER_CHARS + 1];
	int err;

	if (!len || (is_negative && word->at[1] == '+'))
		return -EINVAL;
	len = is_long ? EXPR_NUMBER_CHARS : len;
	memcpy(digits, word->at + is_negative, len);
	digits[len] = '\0';
	err = trace_parse_u64(digits, base, out_number);
	if (err)
		return err;
	if (is_long)
		return -ERANGE;
	if (is_signed && *out_number > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	if (is_negative)
		*out_number = 0 - *out_number;
	return 0;
}

struct expr_word trace_expr_whole(const char *text)
{
	return (struct expr_word){ text, trace_strlen(text) };
}

struct expr_word trace_expr_strip(struct expr_word word)
{
	while (word.len && trace_is_space(*word.at))
		word = expr_behind(&word, 1);
	while (word.len && trace_is_space(word.at[word.len - 1]))
		word.len--;
	return word;
}

bool trace_expr_starts(const struct expr_word *word, const char *text)
{
	size_t i = 0;

	while (i < word->len && text[i] == word->at[i])
		i++;
	return !text[i];
}

bool trace_expr_ends(const struct expr_word *word, const char *text)
{
	size_t len = trace_strlen(text);

	return len <= word->len && memcmp(word->at + word->len - len, text, len) == 0;
}

bool trace_expr_is(const struct expr_word *word, const char *text)
{
	size_t i = 0;

	while (i < word->len && text[i] && text[i] == word->at[i])
		i++;
	return i == word->len && !text[i];
}

bool trace_expr_same(const struct expr_word *a, const struct expr_word *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

bool trace_expr_is_name(const struct expr_word *word)
{
	for (size_t i = 0; i < word->len; i++) {
		if (!expr_is_of_name(word->at[i]))
			return false;
	}
	return word->len && !expr_is_digit(*word->at);
}

struct expr_word trace_expr_next_word(const char **text, char end)
{
	const char *at = *text, *start;

	while (trace_is_space(*at))
		at++;
	for (start = at; *at && *at != end && !trace_is_space(*at);)
		at++;
	*text = at;
	return expr_between(start, at);
}

bool trace_expr_copy(char *to, size_t size, const struct expr_word *word)
{
	if (word->len >= size)
		return false;
	*trace_expr_put(to, word) = '\0';
	return true;
}

char *trace_expr_put(char *to, const struct expr_word *word)
{
	memcpy(to, word->at, word->len);
	return to + word->len;
}
