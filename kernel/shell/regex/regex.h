/*
 * Regular expressions: . [ ] * \+ \? \| \( \) ^ $ and, extended, + ? | ( ) without backslash.
 * There is no {n,m}.
 *
 * The pattern becomes a small program. A match is tried by following all ways through the program
 * side by side over the text, so a try takes at most time in proportion to the length of the text
 * times that of the program, whatever the pattern. A search tries at each start in turn.
 *
 * Context: thread. Locking: none: a regex is for one thread at a time (a search changes it).
 * Ownership: regex_create/regex_destroy.
 */
#ifndef KERNEL_REGEX_H
#define KERNEL_REGEX_H

#include <kernel/base.h>

#define REGEX_EXTENDED	  0x1u
#define REGEX_IGNORE_CASE 0x2u
#define REGEX_LITERAL	  0x4u /* every character means itself */

struct regex;

/* 0; -EINVAL for a wrong pattern, -E2BIG for one that is too long, -ENOMEM. */
int regex_create(const char *pattern, uint32_t flags, struct regex **out_regex);
/* NULL is allowed. */
void regex_destroy(struct regex *regex);

/* The place of a match: indexes in the text. */
struct regex_match {
	size_t start;
	size_t end; /* behind the last character */
};

/* Find the first match at or behind `from` in the `len` bytes of text, there the longest. */
bool regex_search(struct regex *regex, const char *text, size_t len, size_t from,
		  struct regex_match *out_match);

#endif
