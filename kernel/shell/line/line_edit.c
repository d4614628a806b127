/*
 * The line and its picture on the screen. See line.h.
 *
 * A cell is a place on the screen, counted from the start of the prompt: row * columns + column.
 */
#include <kernel/console.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "line.h"
#include "terminal.h"

static void line_put_raw(const char *text, size_t len)
{
	console_write_raw(text, len);
}

void line_beep(void)
{
	line_put_raw("\a", 1);
}

/* Cells that `len` bytes take: the continuation bytes of UTF-8 take none. */
static size_t line_cells_of(const char *text, size_t len)
{
	size_t cells = 0;

	for (size_t i = 0; i < len; i++)
		cells += ((unsigned char)text[i] & 0xc0) != 0x80;
	return cells;
}

static size_t line_cell_at(const struct line_editor *ed, size_t pos)
{
	return ed->columns_before + line_cells_of(ed->buf, pos);
}

static void line_put_sequence(size_t count, char final)
{
	char text[16];

	if (count)
		line_put_raw(text, trace_scnprintf(text, sizeof(text), "\x1b[%lu%c", count, final));
}

/*
 * When a terminal has written its last column, the cursor stays there until the next character.
 * Move it to the next row by writing a blank: it is at the end of the text, so nothing is
 * overwritten.
 */
static void line_leave_margin(struct line_editor *ed)
{
	if (ed->is_at_margin)
		line_put_raw(" \r", 2);
	ed->is_at_margin = false;
}

/*
 * Until now text was only added at the end of the line, which looks the same at any width. When it
 * ends in the last column, begin a new row: the question may have made the terminal forget that the
 * next character was to begin one.
 */
void line_ask_columns(struct line_editor *ed)
{
	size_t cell;

	if (ed->has_asked)
		return;
	ed->has_asked = true;
	if (!terminal_ask())
		return;
	ed->columns = terminal_columns();
	cell = line_cell_at(ed, ed->pos);
	ed->is_at_margin = false;
	if (cell && cell % ed->columns == 0)
		line_put_raw("\r\n", 2);
}

/* Move the cursor from one cell to another. */
static void line_move_cursor(const struct line_editor *ed, size_t from, size_t to)
{
	size_t from_row = from / ed->columns, to_row = to / ed->columns;

	if (from == to)
		return;
	if (from_row == to_row && to < from && from - to <= 4) {
		line_put_raw("\b\b\b\b", from - to);
		return;
	}
	line_put_sequence(from_row > to_row ? from_row - to_row : 0, 'A');
	line_put_sequence(to_row > from_row ? to_row - from_row : 0, 'B');
	line_put_raw("\r", 1);
	line_put_sequence(to % ed->columns, 'C');
}

void line_move(struct line_editor *ed, size_t pos)
{
	line_leave_margin(ed);
	line_move_cursor(ed, line_cell_at(ed, ed->pos), line_cell_at(ed, pos));
	ed->pos = pos;
}

/* The text from the cursor on has changed: write it, and leave the cursor at index `pos`. */
static void line_redraw_tail(struct line_editor *ed, size_t pos)
{
	line_put_raw(ed->buf + ed->pos, ed->len - ed->pos);
	ed->pos = ed->len;
	ed->is_at_margin = line_cell_at(ed, ed->len) % ed->columns == 0;
	line_leave_margin(ed);
	line_put_raw("\x1b[J", 3);
	line_move(ed, pos);
}

void line_insert(struct line_editor *ed, const char *text, size_t len)
{
	if (ed->len + len + 2 > LINE_BYTES_MAX) {
		ed->is_cut = true;
		line_beep();
		return;
	}
	memmove(ed->buf + ed->pos + len, ed->buf + ed->pos, ed->len - ed->pos);
	memcpy(ed->buf + ed->pos, text, len);
	ed->len += len;
	if (ed->pos + len == ed->len) {
		line_put_raw(text, len);
		ed->pos = ed->len;
		ed->is_at_margin = line_cell_at(ed, ed->len) % ed->columns == 0;
	} else {
		line_redraw_tail(ed, ed->pos + len);
	}
}

void line_delete(struct line_editor *ed, size_t from, size_t to)
{
	if (from == to)
		return;
	line_move(ed, from);
	memmove(ed->buf + from, ed->buf + to, ed->len - to);
	ed->len -= to - from;
	ed->is_cut = ed->is_cut && ed->len; /* nothing is missing in an empty line */
	line_redraw_tail(ed, from);
}

void line_replace(struct line_editor *ed, const char *text)
{
	size_t len = strnlen(text, LINE_BYTES_MAX - 2);

	line_move(ed, 0);
	memcpy(ed->buf, text, len);
	ed->len = len;
	ed->is_cut = false;
	line_redraw_tail(ed, len);
}

void line_redraw(struct line_editor *ed)
{
	size_t pos = ed->pos;

	line_put_raw("\r", 1);
	line_put_raw(ed->options->prompt, strlen(ed->options->prompt));
	ed->pos = 0;
	line_redraw_tail(ed, pos);
}

void line_leave(struct line_editor *ed)
{
	line_move(ed, ed->len);
	line_put_raw("\r\n", 2);
}
