/*
 * Patterns of function names, with Linux's rules for what a text means: see ftrace_private.h.
 *
 * The search in the middle looks at eight bytes at a time for the first letter of the pattern: a
 * filter like *sched* runs over every name of the kernel.
 */
#include "ftrace_private.h"
#include "str.h"

#define BYTES_LOW  0x0101010101010101ull
#define BYTES_HIGH 0x8080808080808080ull

static bool is_glob_char(char c)
{
	return c == '[' || c == '?' || c == '\\';
}

/* Where the stars are decides the type; any other magic, or a star inside, makes it a glob. */
static enum ftrace_match_type parse_type(char *text, size_t len)
{
	enum ftrace_match_type type = FTRACE_MATCH_FULL;

	for (size_t i = 0; i < len; i++) {
		if (is_glob_char(text[i]))
			return FTRACE_MATCH_GLOB;
		if (text[i] != '*')
			continue;
		if (i == 0) {
			type = FTRACE_MATCH_END;
		} else if (i == len - 1) {
			text[i] = '\0';
			return type == FTRACE_MATCH_END ? FTRACE_MATCH_MIDDLE : FTRACE_MATCH_FRONT;
		} else {
			return FTRACE_MATCH_GLOB;
		}
	}
	return type;
}

void ftrace_pattern_parse(struct ftrace_pattern *pattern, char *text)
{
	pattern->invert = text[0] == '!';
	if (pattern->invert)
		text++;
	if (text[0] >= '0' && text[0] <= '9')
		pattern->type = FTRACE_MATCH_INDEX;
	else
		pattern->type = parse_type(text, trace_strlen(text));
	if (pattern->type == FTRACE_MATCH_END || pattern->type == FTRACE_MATCH_MIDDLE)
		text++;
	pattern->search = text;
	pattern->len = trace_strlen(text);
}

static bool same(const char *a, const char *b, size_t len)
{
	while (len && *a == *b) {
		a++;
		b++;
		len--;
	}
	return !len;
}

static uint64_t load8(const char *text)
{
	uint64_t word;

	__builtin_memcpy(&word, text, sizeof(word));
	return word;
}

/* High bit set in each byte of `word` that is zero; bytes above the first such may be wrong. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - BYTES_LOW) & ~word & BYTES_HIGH;
}

static bool contains(const char *name, size_t len, const char *search, size_t search_len)
{
	uint64_t first, hits;

	if (!search_len)
		return true;
	if (search_len > len)
		return false;
	first = (uint8_t)search[0] * BYTES_LOW;
	for (size_t i = 0; i <= len - search_len; i += sizeof(hits)) {
		for (hits = zero_bytes(load8(name + i) ^ first); hits; hits &= hits - 1) {
			size_t at = i + (size_t)__builtin_ctzll(hits) / 8;

			if (at > len - search_len)
				return false;
			if (same(name + at, search, search_len))
				return true;
		}
	}
	return false;
}

/*
 * [abc], [a-z], [!abc] at *class, which is behind the bracket and is moved behind its end. False
 * and unmoved when no bracket closes it: then it stands for itself.
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

/* One element of the pattern against one character; `c` is not NUL. Moves *pattern on a match. */
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

/* After a mismatch only the last star needs another try: earlier ones have what they need. */
static bool glob_match(const char *pattern, const char *name)
{
	const char *retry_pattern = NULL, *retry_name = NULL;

	while (*name || *pattern) {
		if (*pattern == '*') {
			retry_pattern = ++pattern;
			retry_name = name;
			if (!*pattern)
				return true;
			continue;
		}
		if (*name && *pattern && element_match(&pattern, *name)) {
			name++;
			continue;
		}
		if (!retry_pattern || !*name)
			return false;
		pattern = retry_pattern;
		name = ++retry_name;
	}
	return true;
}

bool ftrace_pattern_match(const struct ftrace_pattern *pattern, const char *name, size_t len)
{
	size_t want = pattern->len;

	switch (pattern->type) {
	case FTRACE_MATCH_FULL:
		return len == want && same(name, pattern->search, want);
	case FTRACE_MATCH_FRONT:
		return len >= want && same(name, pattern->search, want);
	case FTRACE_MATCH_END:
		return len >= want && same(name + len - want, pattern->search, want);
	case FTRACE_MATCH_MIDDLE:
		return contains(name, len, pattern->search, want);
	case FTRACE_MATCH_GLOB:
		return glob_match(pattern->search, name);
	case FTRACE_MATCH_INDEX:
		break;
	}
	return false;
}
