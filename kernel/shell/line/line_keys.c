/*
 * From bytes to keys. See line.h.
 */
#include <kernel/console.h>
#include <kernel/time.h>
#include "line.h"
#include "terminal.h"

#define ESCAPE		  0x1b
#define ESCAPE_TIMEOUT_NS (50 * NSEC_PER_MSEC)

static int line_next_byte(void)
{
	return terminal_getc_timeout(ESCAPE_TIMEOUT_NS);
}

/* The key of ESC [ number ; modifier final. */
static int key_of_sequence(int final, uint32_t number, uint32_t modifier)
{
	switch (final) {
	case 'A':
		return LINE_KEY_UP;
	case 'B':
		return LINE_KEY_DOWN;
	case 'C':
		return modifier > 1 ? LINE_KEY_WORD_RIGHT : LINE_KEY_RIGHT;
	case 'D':
		return modifier > 1 ? LINE_KEY_WORD_LEFT : LINE_KEY_LEFT;
	case 'H':
		return LINE_KEY_HOME;
	case 'F':
		return LINE_KEY_END;
	case '~':
		if (number == 1 || number == 7)
			return LINE_KEY_HOME;
		if (number == 4 || number == 8)
			return LINE_KEY_END;
		if (number == 5 || number == 6)
			return number == 5 ? LINE_KEY_PAGE_UP : LINE_KEY_PAGE_DOWN;
		return number == 3 ? LINE_KEY_DELETE : LINE_KEY_NONE;
	/* the answer to the question for the cursor: it came late, or without a question */
	case 'R':
		terminal_answered(number, modifier);
		return LINE_KEY_NONE;
	default:
		return LINE_KEY_NONE;
	}
}

static int line_read_sequence(void)
{
	uint32_t numbers[2] = { 0 };
	uint32_t index = 0;
	int byte;

	for (;;) {
		byte = line_next_byte();
		if (byte == -EINTR)
			return byte;
		if (byte >= '0' && byte <= '9')
			numbers[index] = (numbers[index] * 10 + (uint32_t)(byte - '0')) % 10000;
		else if (byte == ';')
			index = 1;
		else
			break;
	}
	return byte < 0 ? LINE_KEY_NONE : key_of_sequence(byte, numbers[0], numbers[1]);
}

static int line_read_escape(void)
{
	int byte = line_next_byte();

	switch (byte) {
	case -EINTR:
		return byte;
	case '[':
		return line_read_sequence();
	case 'O':
		byte = line_next_byte();
		return byte < 0 ? LINE_KEY_NONE : key_of_sequence(byte, 0, 0);
	case 'b':
		return LINE_KEY_WORD_LEFT;
	case 'f':
		return LINE_KEY_WORD_RIGHT;
	case 'd':
		return LINE_KEY_WORD_DELETE;
	default:
		return LINE_KEY_NONE;
	}
}

/* CR LF is one end of line: a LF behind a CR is dropped, however late it comes. */
int line_get_key(void)
{
	static bool was_cr;
	int byte = terminal_getc_timeout(WAIT_FOREVER);

	if (byte == '\n' && was_cr)
		byte = terminal_getc_timeout(WAIT_FOREVER);
	was_cr = byte == '\r';
	return byte == ESCAPE ? line_read_escape() : byte;
}
