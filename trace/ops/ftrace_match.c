/*
 * Patterns of function names, with Linux's rules for what a text means: see ftrace_private.h.
 *
 * A filter like *sched* is compared with every name of the kernel, so that search has to be fast:
 * it looks for the rarest letter of the pattern, in eight bytes of the name at a time.
 */
#include "ftrace_private.h"
#include "text/str.h"

#define BYTES_LOW  0x0101010101010101ull
#define BYTES_HIGH 0x8080808080808080ull

static bool is_glob_char(char c)
{
	return c == '[' || c == '?' || c == '\\';
}

/*
 * The places of the stars decide the type. A star in the middle, or one of the other characters
 * with a meaning, makes it a glob. A star at the end is cut off, unless it is a glob.
 */
static enum ftrace_match_type ftrace_match_parse_type(char *text, size_t len)
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

/*
 * The rarity of a letter in names of functions. The table goes from the most common one to rarer
 * ones; characters that are not in it are the rarest.
 */
static size_t rarity(char c)
{
	static const char common[] = "_etrisnaocpldumfbghkvwxyqzj";
	size_t i = 0;

	while (common[i] && common[i] != c)
		i++;
	return i;
}

static void find_rarest(struct ftrace_pattern *pattern)
{
	pattern->rare = 0;
	for (size_t i = 1; i < pattern->len; i++) {
		if (rarity(pattern->search[i]) > rarity(pattern->search[pattern->rare]))
			pattern->rare = i;
	}
	pattern->rare_bytes = (uint8_t)pattern->search[pattern->rare] * BYTES_LOW;
}

void ftrace_pattern_parse(struct ftrace_pattern *pattern, char *text)
{
	pattern->invert = text[0] == '!';
	if (pattern->invert)
		text++;
	if (text[0] >= '0' && text[0] <= '9')
		pattern->type = FTRACE_MATCH_INDEX;
	else
		pattern->type = ftrace_match_parse_type(text, trace_strlen(text));
	if (pattern->type == FTRACE_MATCH_END || pattern->type == FTRACE_MATCH_MIDDLE)
		text++;
	pattern->search = text;
	pattern->len = trace_strlen(text);
	find_rarest(pattern);
}

static bool ftrace_match_same(const char *a, const char *b, size_t len)
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

/*
 * The high bit is set in each byte of `word` that is zero. The borrow of the subtraction may set it
 * in bytes above the lowest such byte, too: callers check every hit.
 */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - BYTES_LOW) & ~word & BYTES_HIGH;
}

static TRACE_ALWAYS_INLINE uint64_t rare_hits(const struct ftrace_pattern *pattern, const char *at)
{
	return zero_bytes(load8(at + pattern->rare) ^ pattern->rare_bytes);
}

/* The slow half of contains(), from the first hit on: does the pattern start in [at, last]? */
static TRACE_NOINLINE bool starts_between(const struct ftrace_pattern *pattern, const char *at,
					  const char *last)
{
	for (; at <= last; at += sizeof(uint64_t)) {
		for (uint64_t hits = rare_hits(pattern, at); hits; hits &= hits - 1) {
			const char *start = at + (size_t)__builtin_ctzll(hits) / 8;

			if (start > last)
				return false;
			if (ftrace_match_same(start, pattern->search, pattern->len))
				return true;
		}
	}
	return false;
}

/* The usual case, no hit, is kept free of calls so that the compiler saves no registers for it. */
static TRACE_ALWAYS_INLINE bool contains(const struct ftrace_pattern *pattern, const char *name,
					 size_t len)
{
	const char *last = name + len - pattern->len; /* the last place where it can start */

	if (TRACE_UNLIKELY(pattern->len > len))
		return false;
	if (TRACE_UNLIKELY(!pattern->len))
		return true;
	for (; name <= last; name += sizeof(uint64_t)) {
		if (TRACE_UNLIKELY(rare_hits(pattern, name)))
			return starts_between(pattern, name, last);
	}
	return false;
}

static TRACE_NOINLINE bool match_other(const struct ftrace_pattern *pattern, const char *name,
				       size_t len)
{
	size_t want = pattern->len;

	switch (pattern->type) {
	case FTRACE_MATCH_FULL:
		return len == want && ftrace_match_same(name, pattern->search, want);
	case FTRACE_MATCH_FRONT:
		return len >= want && ftrace_match_same(name, pattern->search, want);
	case FTRACE_MATCH_END:
		return len >= want && ftrace_match_same(name + len - want, pattern->search, want);
	case FTRACE_MATCH_GLOB:
		return trace_glob_match_len(pattern->search, name, len);
	case FTRACE_MATCH_MIDDLE:
	case FTRACE_MATCH_INDEX:
		break;
	}
	return false;
}

bool ftrace_pattern_match(const struct ftrace_pattern *pattern, const char *name, size_t len)
{
	if (TRACE_LIKELY(pattern->type == FTRACE_MATCH_MIDDLE))
		return contains(pattern, name, len);
	return match_other(pattern, name, len);
}
