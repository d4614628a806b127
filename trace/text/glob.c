/*
 * Patterns with *, ? and [classes]: see str.h.
 */
#include "str.h"

/*
 * Does `c` match the class at *class, which points behind the `[` of [abc], [a-z] or [!abc]? True:
 * there is a class, *class points behind its `]` and *out_matches has the answer. False, with
 * *class unmoved, when no `]` ends it: the `[` then stands for itself.
 */
static bool class_match(const char **class, char c, bool *out_matches)
{
	const char *at = *class;
	bool invert = *at == '!';
	bool found = false;
	uint8_t low, high;

	at += invert;
	do {
		low = (uint8_t)*at++;
		high = low;
		if (!low)
			return false;
		if (at[0] == '-' && at[1] != ']') {
			high = (uint8_t)at[1];
			if (!high)
				return false;
			at += 2;
		}
		if (low <= (uint8_t)c && (uint8_t)c <= high)
			found = true;
	} while (*at != ']');
	*class = at + 1;
	*out_matches = found != invert;
	return true;
}

/*
 * Compare the first element of the pattern (a letter, ?, a class, a letter behind \) with `c`,
 * which is not NUL. If they match, *pattern moves to the next element.
 */
static bool element_match(const char **pattern, char c)
{
	const char *at = *pattern;
	bool matches;
	char want = *at++;

	if (want == '?') {
		matches = true;
	} else if (want != '[' || !class_match(&at, c, &matches)) {
		if (want == '\\')
			want = *at++;
		matches = want == c;
	}
	if (matches)
		*pattern = at;
	return matches;
}

/*
 * After a mismatch it is enough to let the last star take one more character. Letting an earlier
 * star take more could only bring us to the last star later, with less of the text left.
 */
bool trace_glob_match_len(const char *pattern, const char *text, size_t len)
{
	const char *retry_pattern = NULL, *retry_text = NULL;
	const char *end = text + len;

	while (text < end || *pattern) {
		if (*pattern == '*') {
			retry_pattern = ++pattern;
			retry_text = text;
			if (!*pattern)
				return true;
			continue;
		}
		if (text < end && *pattern && element_match(&pattern, *text)) {
			text++;
			continue;
		}
		if (!retry_pattern || text == end)
			return false;
		pattern = retry_pattern;
		text = ++retry_text;
	}
	return true;
}

bool trace_glob_match(const char *pattern, const char *name)
{
	return trace_glob_match_len(pattern, name, trace_strlen(name));
}
