/*
 * The line editor on terminals of several widths, some of which do not tell it: after every key,
 * what the screen shows and where the cursor stands is what a plain model of the line says.
 * links: kernel/shell/line/line_*.c kernel/shell/line/terminal.c kernel/shell/sh/sh_arena.c
 * links: tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/console.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/time.h>
#include "kernel/host.h"
#include "shell/line/line.h"
#include "shell/line/terminal.h"

#define ROWS	    500u
#define COLUMNS_MAX 200u
#define PROMPT	    "fathom# "

/* ---- The terminal: no scrolling, rows enough; waits on the last column as real ones do ---- */

static size_t columns = 80;
static char screen[ROWS * COLUMNS_MAX]; /* row by row, `columns` each */
static size_t row, column;
static size_t saved_row, saved_column;
static bool answers;	  /* where its cursor is */
static bool is_forgetful; /* a saved cursor does not wait any more */
static bool was_waiting;
static char answer[32];
static size_t answer_pos;
static uint32_t nr_questions;
static bool is_waiting; /* the last column is written, the cursor still on it */
static char sequence[16];
static size_t sequence_len;
static uint32_t nr_beeps;

static void clear_below(void)
{
	size_t at = row * columns + column;

	memset(screen + at, ' ', sizeof(screen) - at);
}

static void put_glyph(char c)
{
	if (is_waiting) {
		row++;
		column = 0;
	}
	assert_true(row < ROWS);
	screen[row * columns + column] = c;
	is_waiting = column == columns - 1;
	column += !is_waiting;
}

static void move_by(char direction, size_t nr)
{
	is_waiting = false;
	nr = nr ? nr : 1;
	if (direction == 'A')
		row -= nr < row ? nr : row;
	else if (direction == 'B')
		row += nr;
	else
		column = column + nr < columns ? column + nr : columns - 1;
	assert_true(row < ROWS);
}

static void end_sequence(char final)
{
	size_t number = sequence_len > 2 ? strtoul(sequence + 2, NULL, 10) : 0;

	sequence_len = 0;
	if (strchr("ABC", final)) {
		move_by(final, number);
	} else if (final == 'J' && number == 2) {
		memset(screen, ' ', sizeof(screen));
	} else if (final == 'J') {
		clear_below();
	} else if (final == 'H' && number == 999) {
		row = ROWS - 1;
		column = columns - 1;
		is_waiting = false;
	} else if (final == 'H') {
		row = column = 0;
		is_waiting = false;
	} else if (final == 'n') {
		assert_int_equal(number, 6);
		nr_questions++;
		answer_pos = 0;
		if (answers)
			sprintf(answer, "\x1b[%zu;%zuR", row + 1, column + 1);
	} else {
		fail();
	}
}

static void put_control(char c)
{
	if (c == '\x1b') {
		sequence[sequence_len++] = c;
	} else if (c == '\a') {
		nr_beeps++;
	} else if (c == '\n') {
		row++;
	} else if (c == '\b') {
		assert_true(column > 0 && !is_waiting);
		column--;
	} else {
		assert_int_equal(c, '\r');
		column = 0;
		is_waiting = false;
	}
}

/* ESC and one character: save the cursor, restore it. */
static void end_short_sequence(char final)
{
	sequence_len = 0;
	if (final == '7') {
		saved_row = row;
		saved_column = column;
		was_waiting = is_waiting;
	} else {
		assert_int_equal(final, '8');
		row = saved_row;
		column = saved_column;
		is_waiting = was_waiting && !is_forgetful;
	}
}

int console_write_raw(const char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (sequence_len) {
			sequence[sequence_len++] = buf[i];
			sequence[sequence_len] = '\0';
			assert_true(sequence_len < sizeof(sequence) - 1);
			if (sequence_len == 2 && buf[i] != '[')
				end_short_sequence(buf[i]);
			else if (sequence_len > 2 && strchr("ABCDHJn", buf[i]))
				end_sequence(buf[i]);
		} else if ((unsigned char)buf[i] < ' ') {
			put_control(buf[i]);
		} else {
			put_glyph(buf[i]);
		}
	}
	return 0;
}

/* ---- The keyboard ---- */

static const char *typed; /* still to come; '\0' ends, \x03 is Ctrl-C */
static void (*before_key)(void);

uint64_t ktime_get_ns(void)
{
	return 0;
}

static int getc_forever(void)
{
	if (before_key)
		before_key();
	if (!*typed)
		return '\r';
	if (*typed == '\x03') {
		typed++;
		return -EINTR;
	}
	return (unsigned char)*typed++;
}

static bool has_lost;

bool console_take_lost(void)
{
	bool was_lost = has_lost;

	has_lost = false;
	return was_lost;
}

int console_getc_timeout(uint64_t timeout_ns)
{
	assert_true(timeout_ns > 0);
	if (timeout_ns == WAIT_FOREVER)
		return getc_forever();
	/* Text that was typed before the question comes before the answer. */
	if (*typed)
		return (unsigned char)*typed++;
	return answer[answer_pos] ? answer[answer_pos++] : -EAGAIN;
}

static int setup(void **state)
{
	(void)state;
	memset(screen, ' ', sizeof(screen));
	answer[0] = '\0';
	answer_pos = 0;
	row = column = sequence_len = nr_beeps = nr_questions = 0;
	is_waiting = false;
	before_key = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	history_clear();
	assert_int_equal(host_live, 0);
	return 0;
}

static void offer_words(void *arg, const char *text, size_t len, struct line_matches *out)
{
	static const char *const words[] = { "cat", "set_a/", "set_b", "set_c" };
	size_t start = len;

	(void)arg;
	while (start && text[start - 1] != ' ')
		start--;
	out->word_start = start;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strncmp(words[i], text + start, len - start) == 0)
			sh_fields_add(&out->found, &out->arena, words[i], strlen(words[i]));
	}
	if (out->found.nr == 1)
		strcpy(out->note, strcmp(out->found.first->text, "cat") ? "" : "int cat(void)");
}

static const struct line_options options = {
	.prompt = PROMPT,
	.has_history = true,
	.complete = offer_words,
};

/* The line that comes out of these keys, and its length or the error. */
static int type(const char *keys, char *out)
{
	char *line = NULL;
	int len;

	typed = keys;
	len = line_read(&options, &line);
	out[0] = '\0';
	assert_true(len < 0 || (size_t)len == strlen(line));
	assert_true(!line == (len < 0 && len != -EMSGSIZE && len != -EIO));
	if (line)
		strcpy(out, line);
	kfree(line);
	return len;
}

struct example {
	const char *keys;
	const char *line;
};

static const struct example examples[] = {
	{ "plain", "plain" },
	{ "abd\x1b[Dc", "abcd" },
	{ "bc\x01"
	  "a\x05"
	  "d",
	  "abcd" },
	{ "abx\x7f"
	  "c",
	  "abc" },
	{ "abx\bc", "abc" },
	{ "junk\x15new", "new" },
	{ "one two\x17three", "one three" },
	{ "one two  \x17", "one " },
	{ "keep lost\x1b[D\x1b[D\x1b[D\x1b[D\x0b", "keep " },
	{ "abc\x01\x04", "bc" },
	{ "abc\x1b[H\x1b[3~", "bc" },
	{ "ac\x1bOD\x1b[1~x\x1b[4~y", "xacy" },
	{ "one two\x1b[1;5DX", "one Xtwo" },
	{ "one two\x1b"
	  "bX\x1b"
	  "fY",
	  "one XtwoY" },
	{ "one two\x01\x1b"
	  "d",
	  " two" },
	{ "ab\x14", "ba" },
	{ "ab cd\x17\x19\x19", "ab cdcd" },
	{ "se\tb", "set_b" },
	{ "ca\tx", "cat x" },
	{ "x set_a\ty", "x set_a/y" },
	{ "zz\ty", "zzy" },
	{ "a\x1b[Zb\x1bOPc", "abc" },
	{ "\xc3\xa4\xc3\xb6\x7f!", "\xc3\xa4!" },
	{ "\xc3\xa4\x1b[D\x04x", "x" },
};

static void test_examples(void **state)
{
	char line[LINE_BYTES_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		setup(state);
		assert_true(type(examples[i].keys, line) >= 0);
		assert_string_equal(line, examples[i].line);
	}
}

static void test_ends(void **state)
{
	char line[LINE_BYTES_MAX];

	(void)state;
	assert_int_equal(type("abc\x03", line), -EINTR);
	assert_int_equal(type("\x04", line), -ENODATA);
	assert_int_equal(type("a\r", line), 1);
	assert_int_equal(type("\nbc\r", line), 2); /* the LF belongs to the CR before */
	assert_int_equal(type("a\n", line), 1);
	assert_int_equal(type("\nbc\r", line), 0);
	host_fail_at = 0;
	assert_int_equal(type("abc", line), -ENOMEM);
	host_fail_at = -1;
}

static void test_history(void **state)
{
	char line[LINE_BYTES_MAX], name[16];

	(void)state;
	for (uint32_t i = 1; i <= HISTORY_LINES + 3; i++) {
		snprintf(name, sizeof(name), "line %u", i);
		history_add(name);
		history_add(name); /* the same again is not kept twice */
	}
	assert_int_equal(history_count(), HISTORY_LINES);
	assert_int_equal(history_first_number(), 4);
	type("typed\x1b[A\x1b[A\x1b[B\x1b[B", line);
	assert_string_equal(line, "typed");
	type("\x10\x10\x10!", line);
	assert_string_equal(line, "line 65!");
	type("\x12"
	     "ine 5",
	     line);
	assert_string_equal(line, "line 59");
	type("\x12"
	     "ine 5\x12\x12\x05.",
	     line);
	assert_string_equal(line, "line 57.");
	type("kept\x12"
	     "ine 5\x07",
	     line);
	assert_string_equal(line, "kept");
	assert_int_equal(type("\x12"
			      "ine\x03",
			      line),
			 -EINTR);
	typed = "";
	for (uint32_t i = 0; i < HISTORY_LINES + 20; i++)
		assert_true(!history_get(i) == (i == 0 || i > HISTORY_LINES));
}

static void test_choices(void **state)
{
	char line[LINE_BYTES_MAX];

	(void)state;
	type("set_\t\tb", line);
	assert_string_equal(line, "set_b");
	assert_memory_equal(screen, "fathom# set_ ", 13);
	assert_memory_equal(screen + columns, "set_a/  set_b   set_c ", 22);
	assert_memory_equal(screen + 2 * columns, "fathom# set_b ", 14);
}

static void test_note(void **state)
{
	char line[LINE_BYTES_MAX];

	(void)state;
	type("x ca\ty", line);
	assert_string_equal(line, "x cat y");
	assert_memory_equal(screen, "fathom# x cat  ", 15);
	assert_memory_equal(screen + columns, "int cat(void) ", 14);
	assert_memory_equal(screen + 2 * columns, "fathom# x cat y ", 16);
}

/* The longest line, then `more` keys. */
static char *long_keys(const char *more)
{
	static char keys[LINE_BYTES_MAX + 100];

	memset(keys, 'x', LINE_BYTES_MAX - 2);
	strcpy(keys + LINE_BYTES_MAX - 2, more);
	return keys;
}

/* Keys for which there is no room make the whole line void, until it is empty or another. */
static void test_longest_line(void **state)
{
	static char line[LINE_BYTES_MAX];

	setup(state);
	assert_int_equal(type(long_keys(""), line), LINE_BYTES_MAX - 2);
	assert_int_equal(nr_beeps, 0);
	setup(state);
	assert_int_equal(type(long_keys("yz"), line), -EMSGSIZE);
	assert_int_equal(nr_beeps, 2);
	assert_int_equal(strlen(line), LINE_BYTES_MAX - 2);
	setup(state);
	assert_int_equal(type(long_keys("y\x7f\x7f"), line), -EMSGSIZE);
	setup(state);
	assert_int_equal(type(long_keys("y\x03"), line), -EINTR);
	setup(state);
	assert_int_equal(type(long_keys("y\x15z"), line), 1);
	setup(state);
	assert_int_equal(type(long_keys("\x15z\x19"), line), -EMSGSIZE);
	history_add("earlier");
	setup(state);
	assert_int_equal(type(long_keys("y\x1b[A"), line), 7);
	setup(state);
	assert_int_equal(type(long_keys("y\x1b[A\x1b[B"), line), 0);
}

static void lose_one(void)
{
	has_lost = true;
}

static void test_lost_keys(void **state)
{
	char line[LINE_BYTES_MAX];

	(void)state;
	has_lost = true; /* before the line began */
	assert_int_equal(type("ab", line), 2);
	before_key = lose_one;
	assert_int_equal(type("ab", line), -EIO);
	assert_int_equal(type("ab\x03", line), -EINTR);
	before_key = NULL;
	assert_int_equal(type("ab", line), 2);
}

/* ---- Random keys against a model ---- */

#define MODEL_MAX 600

static char model[MODEL_MAX + 8];
static size_t model_len, model_pos;
static char model_cut[MODEL_MAX + 8];

static bool is_blank(char c)
{
	return c == ' ';
}

static size_t model_left(void)
{
	size_t pos = model_pos;

	while (pos && is_blank(model[pos - 1]))
		pos--;
	while (pos && !is_blank(model[pos - 1]))
		pos--;
	return pos;
}

static size_t model_right(void)
{
	size_t pos = model_pos;

	while (pos < model_len && is_blank(model[pos]))
		pos++;
	while (pos < model_len && !is_blank(model[pos]))
		pos++;
	return pos;
}

static void model_delete(size_t from, size_t to, bool keeps)
{
	if (keeps && to > from) {
		memcpy(model_cut, model + from, to - from);
		model_cut[to - from] = '\0';
	}
	memmove(model + from, model + to, model_len - to);
	model_len -= to - from;
	model_pos = from;
}

static void model_insert(const char *text)
{
	size_t len = strlen(text);

	memmove(model + model_pos + len, model + model_pos, model_len - model_pos);
	memcpy(model + model_pos, text, len);
	model_len += len;
	model_pos += len;
}

enum {
	NR_ACTIONS = 17
};

/* Apply action to the model; the keys that should do the same. */
static const char *act(int action)
{
	static char text[2];

	switch (action) {
	case 0:
		model_pos = 0;
		return "\x01";
	case 1:
		model_pos = model_len;
		return "\x05";
	case 2:
		model_pos -= model_pos > 0;
		return "\x1b[D";
	case 3:
		model_pos += model_pos < model_len;
		return "\x1b[C";
	case 4:
		if (model_pos)
			model_delete(model_pos - 1, model_pos, false);
		return "\x7f";
	case 5:
		if (model_pos < model_len)
			model_delete(model_pos, model_pos + 1, false);
		return "\x1b[3~";
	case 6:
		model_delete(model_pos, model_len, true);
		return "\x0b";
	case 7:
		model_delete(model_left(), model_pos, true);
		return "\x17";
	case 8:
		model_pos = model_left();
		return "\x1b[1;5D";
	case 9:
		model_pos = model_right();
		return "\x1b[1;5C";
	case 10:
		if (model_len + strlen(model_cut) < MODEL_MAX)
			model_insert(model_cut);
		else
			return "";
		return "\x19";
	case 11:
		model_insert(" ");
		return " ";
	case 12:
		if (rand() % 20)
			return "";
		model_delete(0, model_pos, true);
		return "\x15";
	default:
		text[0] = (char)('a' + rand() % 26);
		model_insert(text);
		return text;
	}
}

/* The keys come one action at a time, so that the screen can be looked at in between. */
static char pending[16];
static uint32_t actions_left;

static void check_screen(void)
{
	static char want[ROWS * COLUMNS_MAX];
	size_t cells = ROWS * columns, at = row * columns + column + is_waiting;

	memset(want, ' ', cells);
	memcpy(want, PROMPT, strlen(PROMPT));
	memcpy(want + strlen(PROMPT), model, model_len);
	if (memcmp(screen, want, cells) != 0) {
		size_t i = 0;

		while (screen[i] == want[i])
			i++;
		fail_msg("cell %zu is '%c', line '%.*s'", i, screen[i], (int)model_len, model);
	}
	assert_int_equal(at, strlen(PROMPT) + model_pos);
}

static void next_action(void)
{
	if (*typed)
		return;
	check_screen();
	if (!actions_left || model_len > MODEL_MAX - 4)
		return;
	do {
		actions_left--;
		strcpy(pending, act(rand() % NR_ACTIONS));
	} while (!*pending && actions_left);
	typed = pending;
}

/* Every other round begins with a line from history that is wider than the screen. */
static void begin_round(bool from_history)
{
	char filler[300];

	model_len = model_pos = 0;
	model_cut[0] = '\0';
	actions_left = 400;
	before_key = next_action;
	typed = "";
	if (!from_history)
		return;
	memset(filler, 'w', sizeof(filler));
	filler[60 + rand() % 200] = '\0';
	history_add(filler);
	model_insert(filler);
	typed = "\x10";
}

static void check_rounds(void **state, int nr)
{
	for (int round = 0; round < nr; round++) {
		char *line;
		int len;

		setup(state);
		begin_round(round % 2);
		len = line_read(&options, &line);
		assert_int_equal(len, model_len);
		assert_memory_equal(line, model, model_len);
		kfree(line);
	}
}

static void test_random_keys(void **state)
{
	srand(5);
	terminal_ask_again();
	columns = 80;
	answers = false;
	check_rounds(state, 30);
	assert_int_equal(nr_questions, 0); /* two silences were enough */
}

/* Each line asks anew: the window may have another size now. */
static void test_widths(void **state)
{
	static const size_t widths[] = { 20, 39, 40, 41, 79, 80, 81, 120, 133, 200 };

	srand(6);
	terminal_ask_again();
	answers = true;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(widths); i++) {
		columns = widths[i / 2];
		is_forgetful = i % 2;
		check_rounds(state, 12);
		assert_int_equal(nr_questions, 1);
	}
	columns = 80;
	answers = false;
}

/* The answer comes after the time for it, and before one: neither is taken for keys. */
static void test_late_answers(void **state)
{
	char line[LINE_BYTES_MAX];

	(void)state;
	terminal_ask_again();
	type("ab\x01"
	     "c\x1b[50;100Rd",
	     line);
	assert_string_equal(line, "cdab");
	assert_int_equal(terminal_columns(), 100);
	assert_int_equal(terminal_rows(), 50);
	type("ab\x1b[50;120Rc", line); /* there was no question */
	assert_string_equal(line, "abc");
	assert_int_equal(terminal_columns(), 100);
	answers = true;
	type("ab\x01"
	     "c",
	     line);
	assert_int_equal(terminal_columns(), 80);
	answers = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_examples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_history, setup, teardown),
		cmocka_unit_test_setup_teardown(test_note, setup, teardown),
		cmocka_unit_test_setup_teardown(test_choices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longest_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_widths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_answers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
