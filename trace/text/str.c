/*
 * See str.h.
 */
#include <trace/errno.h>
#include "str.h"
#include "word.h"

/* The word in which the text begins, with bytes before the text made other than NUL. */
static TRACE_ALWAYS_INLINE uint64_t str_first_word(const char *text, uintptr_t at)
{
	return trace_word_load((const void *)at) | ~(~0ull << ((uintptr_t)text - at) * 8);
}

TRACE_WORD_READER size_t trace_strnlen(const char *text, size_t max)
{
	uintptr_t at = (uintptr_t)text & ~(uintptr_t)(TRACE_WORD_BYTES - 1);
	size_t len, seen = TRACE_WORD_BYTES - ((uintptr_t)text - at);
	uint64_t zeros;

	if (!max)
		return 0;
	zeros = trace_word_zeros(str_first_word(text, at));
	while (!zeros && seen < max) {
		at += TRACE_WORD_BYTES;
		seen += TRACE_WORD_BYTES;
		zeros = trace_word_zeros(trace_word_load((const void *)at));
	}
	len = zeros ? at + trace_word_before(zeros) - (uintptr_t)text : max;
	return len < max ? len : max;
}

TRACE_WORD_READER size_t trace_strlen(const char *text)
{
	uintptr_t at = (uintptr_t)text & ~(uintptr_t)(TRACE_WORD_BYTES - 1);
	uint64_t zeros = trace_word_zeros(str_first_word(text, at));

	while (!zeros) {
		at += TRACE_WORD_BYTES;
		zeros = trace_word_zeros(trace_word_load((const void *)at));
	}
	return at + trace_word_before(zeros) - (uintptr_t)text;
}

int trace_strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

bool trace_streq(const char *a, const char *b)
{
	return trace_strcmp(a, b) == 0;
}

bool trace_str_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

void trace_strcpy(char *to, const char *from, size_t size)
{
	size_t len = trace_strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

bool trace_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

char *trace_strip(char *text)
{
	size_t len;

	while (trace_is_space(*text))
		text++;
	len = trace_strlen(text);
	while (len && trace_is_space(text[len - 1]))
		text[--len] = '\0';
	return text;
}

static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c = (char)(c | 0x20);
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return 255;
}

/* Replace base 0 by the one that the prefix says, and step over "0x". */
static unsigned int resolve_base(const char **text, unsigned int base)
{
	const char *t = *text;
	bool hex = t[0] == '0' && (t[1] | 0x20) == 'x' && digit_value(t[2]) < 16;

	if (base == 0)
		base = hex ? 16 : t[0] == '0' ? 8 : 10;
	if (base == 16 && hex)
		*text += 2;
	return base;
}

int trace_parse_u64(const char *text, unsigned int base, uint64_t *out_value)
{
	uint64_t value = 0;
	const char *start;
	unsigned int digit;

	if (*text == '+')
		text++;
	base = resolve_base(&text, base);
	for (start = text; (digit = digit_value(*text)) < base; text++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return -ERANGE;
	}
	if (text == start)
		return -EINVAL;
	if (*text == '\n')
		text++;
	if (*text)
		return -EINVAL;
	*out_value = value;
	return 0;
}

/* ---- Numbers ---- */

const char trace_digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

char *trace_digits(char *end, uint64_t value)
{
	uint32_t rest;

	for (; TRACE_UNLIKELY(value > UINT32_MAX); value /= 100)
		trace_digits_pair(end -= 2, (uint32_t)(value % 100));
	rest = (uint32_t)value; /* shorter divisions */
	for (; rest >= 100; rest /= 100)
		trace_digits_pair(end -= 2, rest % 100);
	if (rest >= 10)
		trace_digits_pair(end -= 2, rest);
	else
		*--end = (char)('0' + rest);
	return end;
}
