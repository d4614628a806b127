/*
 * The line discipline: from typed bytes to what programs read, of each terminal. See <kernel/tty.h>.
 */
#include <kernel/string.h>
#include "process.h"
#include "tty.h"

#define DELETE 0x7f

static bool tty_local(struct tty *tty, uint32_t flag)
{
	return tty->termios.lflag & flag;
}

static uint16_t *tty_cell(struct tty *tty, uint32_t pos)
{
	return &tty->cells[pos % TTY_BYTES];
}

/* ---- Echo ---- */

static bool tty_shows_as_caret(struct tty *tty, uint8_t byte)
{
	return tty_local(tty, ECHOCTL) && (byte < ' ' || byte == DELETE) && byte != '\t' &&
	       byte != '\n';
}

static void tty_echo(struct tty *tty, uint8_t byte)
{
	const char caret[] = { '^', (char)(byte ^ 0x40) };

	if (!tty_local(tty, ECHO) &&
	    !(byte == '\n' && tty_local(tty, ECHONL) && tty_local(tty, ICANON)))
		return;
	if (tty_shows_as_caret(tty, byte))
		tty->ops->echo(tty, caret, sizeof(caret));
	else
		tty->ops->echo(tty, (const char *)&byte, 1);
}

/* ---- Editing ---- */

/* Columns back to where the last byte begins; a tab counts from the begin of the line. */
static size_t tty_width_of_last(struct tty *tty)
{
	size_t column = 0, width = 0;

	for (uint32_t pos = tty->ready; pos < tty->head; pos++) {
		uint8_t byte = (uint8_t)*tty_cell(tty, pos);

		if (byte == '\t')
			width = 8 - column % 8;
		else if (tty_shows_as_caret(tty, byte))
			width = 2;
		else
			width = (byte & 0xc0) != 0x80; /* of UTF-8: the first byte */
		column += width;
	}
	return width;
}

static void tty_erase_last(struct tty *tty)
{
	size_t width = tty_width_of_last(tty);

	tty->head--;
	while (tty_local(tty, ECHO) && tty_local(tty, ECHOE) && width--)
		tty->ops->echo(tty, "\b \b", 3);
}

static uint8_t tty_last(struct tty *tty)
{
	return (uint8_t)*tty_cell(tty, tty->head - 1);
}

static void tty_erase_character(struct tty *tty)
{
	while (tty->head != tty->ready && (tty_last(tty) & 0xc0) == 0x80)
		tty_erase_last(tty);
	if (tty->head != tty->ready)
		tty_erase_last(tty);
}

static void tty_erase_word(struct tty *tty)
{
	while (tty->head != tty->ready && tty_last(tty) == ' ')
		tty_erase_last(tty);
	while (tty->head != tty->ready && tty_last(tty) != ' ')
		tty_erase_last(tty);
}

static void tty_erase_line(struct tty *tty)
{
	while (tty->head != tty->ready)
		tty_erase_last(tty);
}

/* ---- Input ---- */

static bool tty_is_key(struct tty *tty, uint8_t byte, unsigned int key)
{
	return byte && byte == tty->termios.cc[key];
}

static void tty_end_line(struct tty *tty, uint16_t cell)
{
	*tty_cell(tty, tty->head++) = cell;
	tty->ready = tty->head;
}

/* One cell stays free for the end of a line. */
static void tty_add(struct tty *tty, uint8_t byte)
{
	if (tty->head - tty->tail >= TTY_BYTES - 1) {
		tty->ops->echo(tty, "\a", 1);
		return;
	}
	*tty_cell(tty, tty->head++) = byte;
	tty_echo(tty, byte);
}

/* A key that edits; false: it is a byte of the line. */
static bool tty_edit(struct tty *tty, uint8_t byte)
{
	if (tty_is_key(tty, byte, VERASE))
		tty_erase_character(tty);
	else if (tty_is_key(tty, byte, VKILL))
		tty_erase_line(tty);
	else if (tty_is_key(tty, byte, VWERASE) && tty_local(tty, IEXTEN))
		tty_erase_word(tty);
	else if (tty_is_key(tty, byte, VLNEXT) && tty_local(tty, IEXTEN))
		tty->takes_literally = true;
	else if (tty_is_key(tty, byte, VEOF))
		tty_end_line(tty, TTY_EOF);
	else
		return false;
	return true;
}

static void tty_receive_canonical(struct tty *tty, uint8_t byte)
{
	if (tty->takes_literally) {
		tty->takes_literally = false;
		tty_add(tty, byte);
	} else if (byte == '\n' || tty_is_key(tty, byte, VEOL) || tty_is_key(tty, byte, VEOL2)) {
		tty_echo(tty, byte);
		tty_end_line(tty, byte | TTY_LINE_END);
	} else if (!tty_edit(tty, byte)) {
		tty_add(tty, byte);
	}
}

static void tty_receive_raw(struct tty *tty, uint8_t byte)
{
	tty_add(tty, byte);
	tty->ready = tty->head;
}

void tty_receive(struct tty *tty, uint8_t byte)
{
	uint32_t iflag = tty->termios.iflag;

	if (byte == '\r' && iflag & IGNCR)
		return;
	if (byte == '\r' && iflag & ICRNL)
		byte = '\n';
	else if (byte == '\n' && iflag & INLCR)
		byte = '\r';
	if (tty_local(tty, ICANON))
		tty_receive_canonical(tty, byte);
	else
		tty_receive_raw(tty, byte);
}

void tty_flush_input(struct tty *tty)
{
	tty->tail = tty->ready = tty->head;
	tty->takes_literally = false;
}

bool tty_has_room(struct tty *tty)
{
	return tty_local(tty, ICANON) ? tty->ready - tty->tail < TTY_BYTES / 2
				      : tty->head - tty->tail < TTY_BYTES - 1;
}

void tty_pump(struct tty *tty)
{
	int byte;

	if (atomic_exchange(&tty->is_flushed, false))
		tty_flush_input(tty);
	while (tty->ops->getc_now && tty_has_room(tty)) {
		byte = tty->ops->getc_now();
		if (byte < 0)
			return;
		tty_receive(tty, (uint8_t)byte);
	}
}

/* ---- Output to programs ---- */

size_t tty_nr_ready(struct tty *tty)
{
	return (tty_local(tty, ICANON) ? tty->ready : tty->head) - tty->tail;
}

/* Take the cell at the tail; true: it ends the read. */
static bool tty_take_cell(struct tty *tty, uint8_t *to, size_t *inout_nr)
{
	uint16_t cell = *tty_cell(tty, tty->tail++);

	if (cell & TTY_EOF)
		return true;
	to[(*inout_nr)++] = (uint8_t)cell;
	return cell & TTY_LINE_END;
}

size_t tty_take(struct tty *tty, uint8_t *to, size_t len)
{
	bool is_canonical = tty_local(tty, ICANON), ends = false;
	size_t nr = 0;

	while (nr < len && tty_nr_ready(tty) && !(ends && is_canonical))
		ends = tty_take_cell(tty, to, &nr);
	/* An end of file right behind the last byte that there was room for belongs to this line. */
	if (is_canonical && !ends && nr && tty_nr_ready(tty) && *tty_cell(tty, tty->tail) & TTY_EOF)
		tty->tail++;
	return nr;
}
