/*
 * The pager: what it shows, and where it stands. The text is in less_text.h.
 *
 * Context: thread, in the foreground of the console. Locking: none. Ownership: the command's.
 */
#ifndef KERNEL_LESS_H
#define KERNEL_LESS_H

#include "cmd_reader.h"
#include "less_text.h"

#define LESS_PATTERN_BYTES 64

struct regex;

struct less {
	struct command_env *env;
	struct reader reader;
	struct less_text text;
	struct less_place top; /* first row of the screen */
	size_t columns;
	size_t rows;   /* of text, without the last row of the screen */
	bool is_ended; /* everything was read */
	bool is_leaving;
	bool goes_back;	     /* the last search did */
	uint32_t number;     /* typed in front of a command; 0: none */
	const char *message; /* for the last row; NULL: none */
	struct regex *regex; /* searched last; NULL: none */
	char pattern[LESS_PATTERN_BYTES];
};

/*
 * Read until there are so many lines, the end, or no room. When nothing comes it waits for a key
 * and gives up then.
 */
void less_fill(struct less *less, uint32_t nr_lines);
/* Does the screen show the last row of all that there is? */
bool less_is_at_end(const struct less *less);
void less_draw(struct less *less);
/* Ask for a pattern behind `sign` and search it; an empty one is the last one again. */
void less_ask_pattern(struct less *less, char sign);
/* The next line that matches becomes the first row. */
void less_search(struct less *less, bool back);

#endif
