/* See terminal.h. */
#include <kernel/console.h>
#include <kernel/time.h>
#include "terminal.h"

#define ANSWER_NS    (200 * NSEC_PER_MSEC)
#define SILENCES_MAX 2u
#define KEYS_MAX     256u
#define QUESTION                                                                                   \
	"\x1b"                                                                                     \
	"7\x1b[999;999H\x1b[6n\x1b"                                                                \
	"8"
#define ESCAPE 0x1b

static struct {
	uint32_t rows;
	uint32_t columns;
	uint32_t nr_silences; /* questions since the last answer */
	bool is_asked;	      /* a question has no answer yet: it may still come */
	/* Keys that were read ahead, while an answer was waited for; given out up to next_key. */
	uint8_t keys[KEYS_MAX];
	uint32_t nr_keys;
	uint32_t next_key;
} terminal = { .rows = 24, .columns = 80 };

/* The part of the answer ESC [ rows ; columns R that has come in. */
struct answer {
	uint32_t state; /* 0: not begun; 1: ESC was seen; 2: ESC [ and perhaps numbers */
	uint32_t index; /* of the number that is coming in */
	uint32_t numbers[2];
	uint32_t first_key; /* index of the ESC in terminal.keys */
};

uint32_t terminal_columns(void)
{
	return terminal.columns;
}

uint32_t terminal_rows(void)
{
	return terminal.rows;
}

void terminal_ask_again(void)
{
	terminal.nr_silences = 0;
}

void terminal_answered(uint32_t rows, uint32_t columns)
{
	if (!terminal.is_asked || rows < TERMINAL_ROWS_MIN || columns < TERMINAL_COLUMNS_MIN)
		return;
	terminal.is_asked = false;
	terminal.nr_silences = 0;
	terminal.rows = rows;
	terminal.columns = columns;
}

/* Take one more byte. True when it completes an answer. */
static bool terminal_answer_add(struct answer *answer, int byte)
{
	if (byte == ESCAPE) {
		*answer = (struct answer){ .state = 1, .first_key = terminal.nr_keys };
	} else if (answer->state == 1) {
		answer->state = byte == '[' ? 2 : 0;
	} else if (answer->state == 2 && byte >= '0' && byte <= '9') {
		uint32_t *number = &answer->numbers[answer->index];

		*number = (*number * 10 + (uint32_t)(byte - '0')) % 10000;
	} else if (answer->state == 2 && byte == ';') {
		answer->index = 1;
	} else {
		bool is_answer = answer->state == 2 && byte == 'R' && answer->index;

		answer->state = 0;
		return is_answer;
	}
	return false;
}

/* Read keys until the answer is there; all but the answer is kept. False when none came. */
static bool terminal_wait_answer(void)
{
	uint64_t end_ns = ktime_get_ns() + ANSWER_NS;
	struct answer answer = { 0 };

	while (terminal.nr_keys < KEYS_MAX) {
		uint64_t now_ns = ktime_get_ns();
		int byte = now_ns < end_ns ? console_getc_timeout(end_ns - now_ns) : -EAGAIN;

		if (byte < 0)
			return false;
		if (terminal_answer_add(&answer, byte)) {
			terminal.nr_keys = answer.first_key;
			terminal_answered(answer.numbers[0], answer.numbers[1]);
			return !terminal.is_asked;
		}
		terminal.keys[terminal.nr_keys++] = (uint8_t)byte;
	}
	return false;
}

bool terminal_ask(void)
{
	/* Asking uses the array of kept keys anew: those that were not read yet would be lost. */
	if (terminal.nr_silences >= SILENCES_MAX || terminal.next_key < terminal.nr_keys)
		return false;
	terminal.next_key = terminal.nr_keys = 0;
	terminal.is_asked = true;
	terminal.nr_silences++;
	console_write_raw(QUESTION, sizeof(QUESTION) - 1);
	return terminal_wait_answer();
}

int terminal_getc_timeout(uint64_t timeout_ns)
{
	if (terminal.next_key < terminal.nr_keys)
		return terminal.keys[terminal.next_key++];
	return console_getc_timeout(timeout_ns);
}

bool terminal_wait_key(uint64_t timeout_ns)
{
	int byte;

	if (terminal.next_key < terminal.nr_keys)
		return true;
	byte = console_getc_timeout(timeout_ns);
	if (byte < 0)
		return false;
	terminal.keys[0] = (uint8_t)byte;
	terminal.next_key = 0;
	terminal.nr_keys = 1;
	return true;
}

void terminal_drop_keys(void)
{
	terminal.next_key = terminal.nr_keys = 0;
}
