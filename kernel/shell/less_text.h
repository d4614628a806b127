/*
 * The text that less shows: lines as they look on a screen, and how they wrap there.
 *
 *   bytes --add--> line being made --newline--> block, and its place in `lines`
 *
 * Tabs become blanks and control characters ^X when a line is stored, so that a byte is a cell, but
 * for the tail bytes of UTF-8, which take none.
 *
 * Context:   thread. Locking: none. Ownership: less_text_free() gives all of it back.
 */
#ifndef KERNEL_LESS_TEXT_H
#define KERNEL_LESS_TEXT_H

#include <kernel/base.h>

#define LESS_LINE_MAX 4096u /* bytes on the screen; a longer line goes on as the next one */

struct less_block;

struct less_text {
	struct less_block *blocks; /* newest first */
	char **lines;
	uint32_t nr_lines;
	uint32_t room;	  /* in lines */
	size_t bytes;	  /* taken for all of it */
	size_t max_bytes; /* more is never taken */
	bool is_full;	  /* there was no room: nothing is taken any more */
	size_t len;	  /* of the line being made */
	size_t cells;
	char line[LESS_LINE_MAX + 8];
};

/* A place where the screen can begin: `row` of a line that wraps. */
struct less_place {
	uint32_t line;
	uint32_t row;
};

/* More of the text. False when it is full. */
bool less_text_add(struct less_text *text, const char *bytes, size_t len);
/* The last line may lack its newline. */
void less_text_end(struct less_text *text);
void less_text_free(struct less_text *text);

/* Row `place->row` of its line on a screen so many columns wide: the start, and its bytes. */
const char *less_row(const struct less_text *text, struct less_place place, size_t columns,
		     size_t *out_len);
/* One row on or back. False, with the place as it was, at the end. */
bool less_forward(const struct less_text *text, size_t columns, struct less_place *place);
bool less_back(const struct less_text *text, size_t columns, struct less_place *place);

#endif
