/*
 * The line discipline: from typed bytes to what programs read. See <kernel/tty.h>.
 */
#include <kernel/console.h>
#include <kernel/string.h>
#include "process.h"
#include "tty.h"

#define DELETE 0x7f

static bool tty_local(uint32_t flag)
{
	return tty.termios.lflag & flag;
}

static uint16_t *tty_cell(uint32_t pos)
{
	return &tty.cells[pos % TTY_BYTES];
}

/* ---- Echo ---- */

static bool tty_shows_as_caret(uint8_t byte)
{
	return tty_local(ECHOCTL) && (byte < ' ' || byte == DELETE) && byte != '\t' && byte != '\n';
}

static void tty_echo(uint8_t byte)
{
	const char caret[] = { '^', (char)(byte ^ 0x40) };

	if (!tty_local(ECHO) && !(byte == '\n' && tty_local(ECHONL) && tty_local(ICANON)))
		return;
	if (tty_shows_as_caret(byte))
		console_write(caret, sizeof(caret));
	else
		console_write((const char *)&byte, 1);
}

/* ---- Editing ---- */

/* Columns back to where the last byte begins; a tab counts from the begin of the line. */
static size_t tty_width_of_last(void)
{
	size_t column = 0, width = 0;

	for (uint32_t pos = tty.ready; pos < tty.head; pos++) {
		uint8_t byte = (uint8_t)*tty_cell(pos);

		if (byte == '\t')
			width = 8 - column % 8;
		else if (tty_shows_as_caret(byte))
			width = 2;
		else
			width = (byte & 0xc0) != 0x80; /* of UTF-8: the first byte */
		column += width;
	}
	return width;
}

static void tty_erase_last(void)
{
	size_t width = tty_width_of_last();

	tty.head--;
	while (tty_local(ECHO) && tty_local(ECHOE) && width--)
		console_write("\b \b", 3);
}

static uint8_t tty_last(void)
{
	return (uint8_t)*tty_cell(tty.head - 1);
}

static void tty_erase_character(void)
{
	while (tty.head != tty.ready && (tty_last() & 0xc0) == 0x80)
		tty_erase_last();
	if (tty.head != tty.ready)
		tty_erase_last();
}

static void tty_erase_word(void)
{
	while (tty.head != tty.ready && tty_last() == ' ')
		tty_erase_last();
	while (tty.head != tty.ready && tty_last() != ' ')
		tty_erase_last();
}

static void tty_erase_line(void)
{
	while (tty.head != tty.ready)
		tty_erase_last();
}

/* ---- Input ---- */

static bool tty_is_key(uint8_t byte, unsigned int key)
{
	return byte && byte == tty.termios.cc[key];
}

static void tty_end_line(uint16_t cell)
{
	*tty_cell(tty.head++) = cell;
	tty.ready = tty.head;
}

/* One cell stays free for the end of a line. */
static void tty_add(uint8_t byte)
{
	if (tty.head - tty.tail >= TTY_BYTES - 1) {
		console_write("\a", 1);
		return;
	}
	*tty_cell(tty.head++) = byte;
	tty_echo(byte);
}

/* A key that edits; false: it is a byte of the line. */
static bool tty_edit(uint8_t byte)
{
	if (tty_is_key(byte, VERASE))
		tty_erase_character();
	else if (tty_is_key(byte, VKILL))
		tty_erase_line();
	else if (tty_is_key(byte, VWERASE) && tty_local(IEXTEN))
		tty_erase_word();
	else if (tty_is_key(byte, VLNEXT) && tty_local(IEXTEN))
		tty.takes_literally = true;
	else if (tty_is_key(byte, VEOF))
		tty_end_line(TTY_EOF);
	else
		return false;
	return true;
}

static void tty_receive_canonical(uint8_t byte)
{
	if (tty.takes_literally) {
		tty.takes_literally = false;
		tty_add(byte);
	} else if (byte == '\n' || tty_is_key(byte, VEOL) || tty_is_key(byte, VEOL2)) {
		tty_echo(byte);
		tty_end_line(byte | TTY_LINE_END);
	} else if (!tty_edit(byte)) {
		tty_add(byte);
	}
}

static void tty_receive_raw(uint8_t byte)
{
	tty_add(byte);
	tty.ready = tty.head;
}

static void tty_receive(uint8_t byte)
{
	uint32_t iflag = tty.termios.iflag;

	if (byte == '\r' && iflag & IGNCR)
		return;
	if (byte == '\r' && iflag & ICRNL)
		byte = '\n';
	else if (byte == '\n' && iflag & INLCR)
		byte = '\r';
	if (tty_local(ICANON))
		tty_receive_canonical(byte);
	else
		tty_receive_raw(byte);
}

void tty_flush_input(void)
{
	tty.tail = tty.ready = tty.head;
	tty.takes_literally = false;
}

/* Raw bytes stay in the console's ring while there is no room. */
static bool tty_has_room(void)
{
	return tty_local(ICANON) ? tty.ready - tty.tail < TTY_BYTES / 2
				 : tty.head - tty.tail < TTY_BYTES - 1;
}

void tty_pump(void)
{
	int byte;

	if (atomic_exchange(&tty.is_flushed, false))
		tty_flush_input();
	while (tty_has_room()) {
		byte = console_getc_now();
		if (byte < 0)
			return;
		tty_receive((uint8_t)byte);
	}
}

/* ---- Output to programs ---- */

size_t tty_nr_ready(void)
{
	return (tty_local(ICANON) ? tty.ready : tty.head) - tty.tail;
}

/* Take the cell at the tail; true: it ends the read. */
static bool tty_take_cell(uint8_t *to, size_t *inout_nr)
{
	uint16_t cell = *tty_cell(tty.tail++);

	if (cell & TTY_EOF)
		return true;
	to[(*inout_nr)++] = (uint8_t)cell;
	return cell & TTY_LINE_END;
}

size_t tty_take(uint8_t *to, size_t len)
{
	bool is_canonical = tty_local(ICANON), ends = false;
	size_t nr = 0;

	while (nr < len && tty_nr_ready() && !(ends && is_canonical))
		ends = tty_take_cell(to, &nr);
	/* An end of file right behind the last byte that there was room for belongs to this line. */
	if (is_canonical && !ends && nr && tty_nr_ready() && *tty_cell(tty.tail) & TTY_EOF)
		tty.tail++;
	return nr;
}
