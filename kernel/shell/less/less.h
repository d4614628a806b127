/*
 * The pager: its state, and its work on the screen. The text that it shows is in less_text.h.
 *
 * Context: thread, in the foreground of the console. Locking: none. Ownership: the command less
 * owns all of it.
 */
#ifndef KERNEL_LESS_H
#define KERNEL_LESS_H

#include "shell/cmd/cmd_reader.h"
#include "less_text.h"

#define LESS_PATTERN_BYTES 64

struct regex;

struct less {
	struct command_env *env;
	struct reader reader;
	struct less_text text;
	struct less_place top; /* first row of the screen */
	size_t columns;	       /* of the screen */
	size_t rows;	       /* of text: the screen has one more, the last */
	bool is_ended;	       /* everything was read */
	bool is_leaving;
	bool goes_back;	     /* the last search was for earlier lines */
	uint32_t number;     /* typed in front of a command; 0: none */
	const char *message; /* for the last row of the screen, once; NULL: none */
	struct regex *regex; /* the pattern that was searched last; NULL: none */
};

/*
 * Read until the text has `nr_lines`, is complete or full. While nothing comes in, a key that is
 * typed (which is kept), or Ctrl-C, ends this.
 */
void less_fill(struct less *less, uint32_t nr_lines);
/* Does the screen show the last row of the whole text? */
bool less_is_at_end(const struct less *less);
/* Write the whole screen anew. */
void less_draw(struct less *less);
/*
 * Let the user type a pattern behind `sign` on the last row, and search it: `/` for later lines,
 * `?` for earlier ones. An empty pattern is the last one again.
 */
void less_ask_pattern(struct less *less, char sign);
/*
 * Show the next line (or the one before, with `back`) that matches the last pattern at the top. The
 * message says so when there is none.
 */
void less_search(struct less *less, bool back);

#endif
