/*
 * The text that less shows: lines as they look on a screen, and how they wrap there.
 *
 *   bytes --add--> line being made --newline--> block, and its place in `lines`
 *
 * Tabs become blanks and control characters ^X when a line is stored, so that each byte takes one
 * cell of the screen; only the continuation bytes of UTF-8 take none.
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
	uint32_t room;		      /* in lines */
	size_t bytes;		      /* of memory that was allocated */
	size_t max_bytes;	      /* no more memory than this is allocated */
	bool is_full;		      /* there was no room: no more text is taken */
	size_t len;		      /* bytes of the line being made */
	size_t cells;		      /* cells that it takes on the screen */
	char line[LESS_LINE_MAX + 8]; /* the line being made; a tab can add 8 bytes */
};

/* A row of the text: line `line` wraps into several rows, and this is number `row` of them. */
struct less_place {
	uint32_t line;
	uint32_t row;
};

/* Add more text. False when it is full. */
bool less_text_add(struct less_text *text, const char *bytes, size_t len);
/* Everything was added: end the last line if it has no newline. */
void less_text_end(struct less_text *text);
void less_text_free(struct less_text *text);

/* The start of the row at `place` on a screen that is `columns` wide; *out_len: its bytes. */
const char *less_row(const struct less_text *text, struct less_place place, size_t columns,
		     size_t *out_len);
/* Move one row on, or back. False, with the place as it was, when there is no such row. */
bool less_forward(const struct less_text *text, size_t columns, struct less_place *place);
bool less_back(const struct less_text *text, size_t columns, struct less_place *place);

#endif
