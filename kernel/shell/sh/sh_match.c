/*
 * Patterns with * ? [ ] and backslash. See sh.h. A mismatch goes back to the last star only, so the
 * time is at most in proportion to the length of the pattern times that of the name.
 */
#include <kernel/string.h>
#include "sh.h"

/*
 * Does `c` match the bracket expression whose [ is in front of `pattern`? *out_end is set to behind
 * its ]; to NULL when there is none, and then the [ is an ordinary character.
 */
static bool match_bracket(const char *pattern, char c, const char **out_end)
{
	bool is_negated = *pattern == '!' || *pattern == '^';
	const char *p = pattern + is_negated;
	bool found = false;
	bool is_first = true;

	*out_end = NULL;
	while (*p && (*p != ']' || is_first)) {
		char low, high;

		is_first = false;
		if (*p == '\\' && p[1])
			p++;
		low = high = *p++;
		if (p[0] == '-' && p[1] && p[1] != ']') {
			p += p[1] == '\\' && p[2] ? 2 : 1;
			high = *p++;
		}
		found |= (unsigned char)c >= (unsigned char)low &&
			 (unsigned char)c <= (unsigned char)high;
	}
	if (*p != ']')
		return false;
	*out_end = p + 1;
	return found != is_negated;
}

/* Does `c` match the first element of the pattern? Moves *pattern behind that element. */
static bool match_one(const char **pattern, char c)
{
	const char *p = *pattern;
	const char *end;
	bool matches;

	if (*p == '?') {
		*pattern = p + 1;
		return true;
	}
	if (*p == '[') {
		matches = match_bracket(p + 1, c, &end);
		if (end) {
			*pattern = end;
			return matches;
		}
	}
	if (*p == '\\' && p[1])
		p++;
	*pattern = p + 1;
	return *p == c;
}

bool sh_match(const char *pattern, const char *name)
{
	const char *star = NULL;  /* behind the last star; NULL: none yet */
	const char *retry = name; /* the end of the star's match so far */

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern && match_one(&pattern, *name)) {
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool sh_is_pattern(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == '\\' && pattern[1])
			pattern++;
		else if (strchr("*?[", *pattern))
			return true;
	}
	return false;
}

void sh_unquote(char *pattern)
{
	char *to = pattern;

	while (*pattern) {
		if (*pattern == '\\' && pattern[1])
			pattern++;
		*to++ = *pattern++;
	}
	*to = '\0';
}
