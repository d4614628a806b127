/* See less_text.h. */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "less_text.h"

#define BLOCK_BYTES 65536u
#define FIRST_LINES 1024u
#define TAB_CELLS   8

struct less_block {
	struct less_block *next;
	size_t used;
	char data[BLOCK_BYTES - 16];
};

static bool less_take(struct less_text *text, size_t bytes)
{
	if (bytes > text->max_bytes - text->bytes)
		return false;
	text->bytes += bytes;
	return true;
}

/* Take `len` bytes from a block. NULL when there is no memory, or max_bytes are allocated. */
static char *less_room(struct less_text *text, size_t len)
{
	struct less_block *block = text->blocks;

	if (!block || sizeof(block->data) - block->used < len) {
		block = less_take(text, sizeof(*block)) ? vmalloc(sizeof(*block)) : NULL;
		if (!block)
			return NULL;
		block->next = text->blocks;
		block->used = 0;
		text->blocks = block;
	}
	block->used += len;
	return block->data + block->used - len;
}

static bool less_grow_lines(struct less_text *text)
{
	uint32_t room = text->room ? 2 * text->room : FIRST_LINES;
	char **bigger = NULL;

	if (text->nr_lines < text->room)
		return true;
	if (less_take(text, (room - text->room) * sizeof(*bigger)))
		bigger = vmalloc(room * sizeof(*bigger));
	if (!bigger)
		return false;
	if (text->lines)
		memcpy(bigger, text->lines, text->nr_lines * sizeof(*bigger));
	vfree(text->lines);
	text->lines = bigger;
	text->room = room;
	return true;
}

static bool less_end_line(struct less_text *text)
{
	char *line = less_grow_lines(text) ? less_room(text, text->len + 1) : NULL;

	if (!line) {
		text->is_full = true;
		return false;
	}
	memcpy(line, text->line, text->len);
	line[text->len] = '\0';
	text->lines[text->nr_lines++] = line;
	text->len = text->cells = 0;
	return true;
}

static void less_put(struct less_text *text, char c)
{
	text->line[text->len++] = c;
	text->cells += ((unsigned char)c & 0xc0) != 0x80;
}

/* Add a byte to the line as it looks on the screen. The line has room for it: see text->line. */
static void less_put_byte(struct less_text *text, char c)
{
	if (c == '\t') {
		do {
			less_put(text, ' ');
		} while (text->cells % TAB_CELLS);
	} else if ((unsigned char)c < ' ' || c == 0x7f) {
		less_put(text, '^');
		less_put(text, c ^ 0x40);
	} else {
		less_put(text, c);
	}
}

bool less_text_add(struct less_text *text, const char *bytes, size_t len)
{
	for (; len && !text->is_full; bytes++, len--) {
		if (*bytes != '\n')
			less_put_byte(text, *bytes);
		if (*bytes == '\n' || text->len >= LESS_LINE_MAX)
			less_end_line(text);
	}
	return !text->is_full;
}

void less_text_end(struct less_text *text)
{
	if (text->len && !text->is_full)
		less_end_line(text);
}

void less_text_free(struct less_text *text)
{
	while (text->blocks) {
		struct less_block *next = text->blocks->next;

		vfree(text->blocks);
		text->blocks = next;
	}
	vfree(text->lines);
}

/* The position behind that many cells of the line, or the line's end. */
static const char *less_skip(const char *line, size_t cells)
{
	while (*line && (cells || ((unsigned char)*line & 0xc0) == 0x80))
		cells -= ((unsigned char)*line++ & 0xc0) != 0x80;
	return line;
}

const char *less_row(const struct less_text *text, struct less_place place, size_t columns,
		     size_t *out_len)
{
	const char *start = less_skip(text->lines[place.line], place.row * columns);

	*out_len = (size_t)(less_skip(start, columns) - start);
	return start;
}

bool less_forward(const struct less_text *text, size_t columns, struct less_place *place)
{
	if (place->line >= text->nr_lines)
		return false;
	if (*less_skip(text->lines[place->line], (place->row + 1) * columns)) {
		place->row++;
		return true;
	}
	if (place->line + 1 == text->nr_lines)
		return false;
	place->line++;
	place->row = 0;
	return true;
}

bool less_back(const struct less_text *text, size_t columns, struct less_place *place)
{
	if (place->row) {
		place->row--;
		return true;
	}
	if (!place->line)
		return false;
	place->line--;
	while (*less_skip(text->lines[place->line], (place->row + 1) * columns))
		place->row++;
	return true;
}
