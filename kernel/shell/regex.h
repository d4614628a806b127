/*
 * Regular expressions: . [ ] * \+ \? \| \( \) ^ $ and, extended, + ? | ( ) without backslash;
 * {n,m} is not known.
 *
 * The pattern becomes a small program; matching runs all its threads side by side over the text, so
 * the time is bounded by the product of both lengths whatever the pattern.
 *
 * Context: thread. Locking: none: a regex may be used by one thread at a time (it holds the sets).
 * Ownership: regex_create/regex_destroy.
 */
#ifndef KERNEL_REGEX_H
#define KERNEL_REGEX_H

#include <kernel/base.h>

#define REGEX_EXTENDED	  0x1u
#define REGEX_IGNORE_CASE 0x2u
#define REGEX_LITERAL	  0x4u

struct regex;

/* -EINVAL for a wrong pattern, -E2BIG for one that is too long, -ENOMEM. */
int regex_create(const char *pattern, uint32_t flags, struct regex **out_regex);
void regex_destroy(struct regex *regex);
struct regex_match {
	size_t start;
	size_t end; /* behind the last character */
};

/* The first, and there the longest, match in text[0..len) at or behind `from`. False for none. */
bool regex_search(struct regex *regex, const char *text, size_t len, size_t from,
		  struct regex_match *out_match);

#endif
