/*
 * Keys to actions. See line.h.
 */
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "line.h"
#include "terminal.h"

#define CTRL(letter) ((letter)-0x40)
#define KEY_RUBOUT   0x7f

/* The effect of a key: editing goes on, the line was entered, or Ctrl-D ended the input. */
enum outcome {
	EDITING,
	LINE_DONE,
	END_OF_INPUT
};

static bool line_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t line_word_left(const struct line_editor *ed)
{
	size_t pos = ed->pos;

	while (pos && line_is_blank(ed->buf[pos - 1]))
		pos--;
	while (pos && !line_is_blank(ed->buf[pos - 1]))
		pos--;
	return pos;
}

static size_t line_word_right(const struct line_editor *ed)
{
	size_t pos = ed->pos;

	while (pos < ed->len && line_is_blank(ed->buf[pos]))
		pos++;
	while (pos < ed->len && !line_is_blank(ed->buf[pos]))
		pos++;
	return pos;
}

/* The beginning of the character before the cursor. Continuation bytes of UTF-8 belong to it. */
static size_t line_char_left(const struct line_editor *ed)
{
	size_t pos = ed->pos;

	while (pos && ((unsigned char)ed->buf[--pos] & 0xc0) == 0x80)
		;
	return pos;
}

/* The end of the character at the cursor. */
static size_t line_char_right(const struct line_editor *ed)
{
	size_t pos = ed->pos;

	if (pos < ed->len)
		pos++;
	while (pos < ed->len && ((unsigned char)ed->buf[pos] & 0xc0) == 0x80)
		pos++;
	return pos;
}

/* Delete this part of the line, and keep it for Ctrl-Y. */
static void line_cut(struct line_editor *ed, size_t from, size_t to)
{
	char *text;

	if (from == to)
		return;
	text = kzalloc(to - from + 1);
	if (text) {
		memcpy(text, ed->buf + from, to - from);
		kfree(ed->cut);
		ed->cut = text;
	}
	line_delete(ed, from, to);
}

static void line_transpose(struct line_editor *ed)
{
	char pair[2];

	if (ed->pos < ed->len && ed->pos)
		line_move(ed, ed->pos + 1);
	if (ed->pos < 2)
		return;
	pair[0] = ed->buf[ed->pos - 1];
	pair[1] = ed->buf[ed->pos - 2];
	line_delete(ed, ed->pos - 2, ed->pos);
	line_insert(ed, pair, 2);
}

static void line_clear_screen(struct line_editor *ed)
{
	console_write_raw("\x1b[H\x1b[2J", 7);
	line_redraw(ed);
}

static void line_move_key(struct line_editor *ed, int key)
{
	switch (key) {
	case CTRL('A'):
	case LINE_KEY_HOME:
		line_move(ed, 0);
		break;
	case CTRL('E'):
	case LINE_KEY_END:
		line_move(ed, ed->len);
		break;
	case CTRL('B'):
	case LINE_KEY_LEFT:
		line_move(ed, line_char_left(ed));
		break;
	case CTRL('F'):
	case LINE_KEY_RIGHT:
		line_move(ed, line_char_right(ed));
		break;
	case LINE_KEY_WORD_LEFT:
		line_move(ed, line_word_left(ed));
		break;
	case LINE_KEY_WORD_RIGHT:
		line_move(ed, line_word_right(ed));
		break;
	default:
		break;
	}
}

static void line_delete_key(struct line_editor *ed, int key)
{
	switch (key) {
	case CTRL('H'):
	case KEY_RUBOUT:
		line_delete(ed, line_char_left(ed), ed->pos);
		break;
	case CTRL('D'):
	case LINE_KEY_DELETE:
		line_delete(ed, ed->pos, line_char_right(ed));
		break;
	case CTRL('K'):
		line_cut(ed, ed->pos, ed->len);
		break;
	case CTRL('U'):
		line_cut(ed, 0, ed->pos);
		break;
	case CTRL('W'):
		line_cut(ed, line_word_left(ed), ed->pos);
		break;
	case LINE_KEY_WORD_DELETE:
		line_cut(ed, ed->pos, line_word_right(ed));
		break;
	default:
		break;
	}
}

static void line_other_key(struct line_editor *ed, int key)
{
	if (key == LINE_KEY_NONE)
		return;
	line_ask_columns(ed);
	switch (key) {
	case CTRL('P'):
	case LINE_KEY_UP:
		line_recall(ed, true);
		break;
	case CTRL('N'):
	case LINE_KEY_DOWN:
		line_recall(ed, false);
		break;
	case CTRL('L'):
		line_clear_screen(ed);
		break;
	case CTRL('T'):
		line_transpose(ed);
		break;
	case CTRL('Y'):
		if (ed->cut)
			line_insert(ed, ed->cut, strlen(ed->cut));
		break;
	default:
		line_move_key(ed, key);
		line_delete_key(ed, key);
		break;
	}
}

static enum outcome line_handle_key(struct line_editor *ed, int key)
{
	char byte = (char)key;
	bool was_tab = ed->was_tab;

	ed->was_tab = false;
	if (key == '\r' || key == '\n')
		return LINE_DONE;
	if (key == CTRL('D') && !ed->len)
		return END_OF_INPUT;
	if (key == CTRL('D') && ed->options->keeps_newline && ed->pos == ed->len)
		return END_OF_INPUT;
	if (key == '\t' && ed->options->complete) {
		ed->was_tab = was_tab;
		line_tab(ed);
		ed->was_tab = true;
	} else if (key == '\t' || (key >= ' ' && key < 0x100 && key != KEY_RUBOUT)) {
		line_insert(ed, &byte, 1);
	} else {
		line_other_key(ed, key);
	}
	return EDITING;
}

/* Obey keys until the line ends. 0, -EINTR, -ENODATA, or -EIO: bytes were lost. */
static int line_edit(struct line_editor *ed)
{
	enum outcome outcome = EDITING;

	while (outcome == EDITING) {
		int key = line_get_key();

		if (key == CTRL('R') && ed->options->has_history)
			key = line_search(ed);
		if (key == CTRL('C') || key == -EINTR) {
			terminal_drop_keys();
			line_move(ed, ed->len);
			if (ed->options->has_history)
				console_write_raw("^C\r\n", 4);
			return -EINTR;
		}
		if (key == -EIO)
			line_leave(ed);
		if (key < 0)
			return key;
		if (key)
			outcome = line_handle_key(ed, key);
	}
	if (outcome == END_OF_INPUT)
		return ed->len ? 0 : -ENODATA;
	line_leave(ed);
	if (ed->options->keeps_newline)
		ed->buf[ed->len++] = '\n';
	return 0;
}

/* Is all of the line there? 0; -EIO: bytes were lost; -EMSGSIZE: there was no room for some. */
static int line_judge(const struct line_editor *ed)
{
	if (console_take_lost())
		return -EIO;
	return ed->is_cut ? -EMSGSIZE : 0;
}

int line_read(const struct line_options *options, char **out_line)
{
	struct line_editor ed = { .options = options };
	int err;

	ed.buf = kmalloc(LINE_BYTES_MAX);
	if (!ed.buf)
		return -ENOMEM;
	console_take_lost(); /* bytes lost before this line do not count */
	ed.columns = terminal_columns();
	ed.columns_before = strlen(options->prompt);
	console_write_raw(options->prompt, ed.columns_before);
	err = line_edit(&ed);
	kfree(ed.cut);
	kfree(ed.saved);
	if (err && err != -EIO) {
		kfree(ed.buf);
		return err;
	}
	ed.buf[ed.len] = '\0';
	*out_line = ed.buf;
	err = line_judge(&ed);
	return err ? err : (int)ed.len;
}
