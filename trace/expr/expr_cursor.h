/*
 * A text that is read from left to right: words, numbers, and mistakes with their places.
 *
 * Context: thread.
 */
#ifndef TRACE_EXPR_CURSOR_H
#define TRACE_EXPR_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some characters of a text, which none need end. */
struct expr_word {
	const char *at;
	size_t len;
};

/* A mistake. Words and positions are Linux's where it has some. */
struct expr_error {
	const char *why; /* a constant */
	/* Index in the text, for a caret; it may be one more than the text has characters. */
	size_t pos;
};

struct expr_cursor {
	const char *text; /* all of it, NUL at its end */
	const char *at;	  /* the next character */
	struct expr_error *error;
	/* Added to the index of a mistake: Linux's filters count from 1 within a comparison. */
	size_t base;
};

/* Record a mistake at the character `at` of the text. Returns `err`. */
int trace_expr_refuse(const struct expr_cursor *cursor, int err, const char *why, const char *at);
void trace_expr_skip_spaces(struct expr_cursor *cursor);
/* Take `word`, if it is there. */
bool trace_expr_take(struct expr_cursor *cursor, const char *word);
/* Take letters, digits and underscores, perhaps none. */
struct expr_word trace_expr_take_name(struct expr_cursor *cursor);
/* Take a number's characters: a minus, then letters and digits; perhaps none. */
struct expr_word trace_expr_take_digits(struct expr_cursor *cursor);

/* ---- Words ---- */

/* The most characters of a number, with sign and prefix. */
#define EXPR_NUMBER_CHARS 24u
/*
 * All of `word` as a number, by the rules of trace_parse_u64(); with a minus in front if
 * `is_signed`. 0; -EINVAL; -ERANGE: it does not fit 64 bits, or has more characters.
 */
int trace_expr_number(const struct expr_word *word, unsigned int base, bool is_signed,
		      uint64_t *out_number);

/* All of a text as a word. */
struct expr_word trace_expr_whole(const char *text);
/* The word without the blanks at both ends. */
struct expr_word trace_expr_strip(struct expr_word word);
/* Is it that text; does it begin, or end with it; are both the same? */
bool trace_expr_is(const struct expr_word *word, const char *text);
bool trace_expr_starts(const struct expr_word *word, const char *text);
bool trace_expr_ends(const struct expr_word *word, const char *text);
bool trace_expr_same(const struct expr_word *a, const struct expr_word *b);
/* Is it a name in C? */
bool trace_expr_is_name(const struct expr_word *word);
/*
 * The next word of *text, which goes on behind it: the characters between blanks, or before an
 * `end`; of length 0 there.
 */
struct expr_word trace_expr_next_word(const char **text, char end);
/* Copy it, with a NUL behind. False: `size` bytes are too few, and nothing was copied. */
bool trace_expr_copy(char *to, size_t size, const struct expr_word *word);
/* Copy it to where there is room. Returns the place behind it. */
char *trace_expr_put(char *to, const struct expr_word *word);

/* The word without its first `nr` characters, which it has. */
static inline struct expr_word expr_behind(const struct expr_word *word, size_t nr)
{
	return (struct expr_word){ word->at + nr, word->len - nr };
}

/* Take the character `c` off the front of `rest`, if it is there. */
static inline bool expr_take(struct expr_word *rest, char c)
{
	bool is_there = rest->len && *rest->at == c;

	*rest = expr_behind(rest, is_there);
	return is_there;
}

/*
 * Take the characters before the first of `ends`, one to three, off `rest`; without one, all of
 * them.
 */
static inline struct expr_word expr_take_until(struct expr_word *rest, const char *ends)
{
	const char first = ends[0], second = ends[1] ? ends[1] : first;
	const char third = ends[1] && ends[2] ? ends[2] : first;
	struct expr_word word = { .at = rest->at };

	while (word.len < rest->len && word.at[word.len] != first && word.at[word.len] != second &&
	       word.at[word.len] != third)
		word.len++;
	*rest = expr_behind(rest, word.len);
	return word;
}

static inline struct expr_word expr_between(const char *at, const char *end)
{
	return (struct expr_word){ at, (size_t)(end - at) };
}

/* The first character; NUL: there is none. */
static inline char expr_first(const struct expr_word *word)
{
	return word->len ? *word->at : '\0';
}

static inline bool expr_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool expr_is_alnum(char c)
{
	return expr_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static inline bool expr_is_of_name(char c)
{
	return expr_is_alnum(c) || c == '_';
}

#endif
