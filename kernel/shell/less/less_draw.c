/*
 * The screen of less, and searching in its text. See less.h.
 */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "less.h"
#include "shell/line/line.h"
#include "shell/regex/regex.h"
#include "shell/line/terminal.h"

#define POLL_NS	     20000000ull /* between looks for more text while it waits for a key */
#define STATUS_BYTES 120
#define SEARCH_STEP  256u /* lines read at a time while searching */

bool less_is_at_end(const struct less *less)
{
	struct less_place place = less->top;

	if (!less->is_ended && !less->text.is_full)
		return false;
	for (size_t i = 1; i < less->rows; i++) {
		if (!less_forward(&less->text, less->columns, &place))
			return true;
	}
	return !less_forward(&less->text, less->columns, &place);
}

/* Write the text of the screen's last row to `out`. */
static void less_status_text(const struct less *less, char *out, size_t size)
{
	const char *name = strcmp(less->reader.path, "-") ? less->reader.path : "";
	bool is_at_end = less_is_at_end(less);

	if (less->message)
		trace_scnprintf(out, size, "%s", less->message);
	else if (is_at_end && less->text.is_full)
		trace_scnprintf(out, size, "(%lu MiB are kept, the rest is not read; q ends)",
				(unsigned long)(less->text.max_bytes >> 20));
	else if (is_at_end)
		trace_scnprintf(out, size, "(END)");
	else if (!less->top.line && *name)
		trace_scnprintf(out, size, "%.80s", name);
	else
		trace_scnprintf(out, size, ":");
}

/*
 * A row is cleared before it is written: when all its columns are written the cursor is still on
 * the last one, and clearing then would erase that character.
 */
void less_draw(struct less *less)
{
	struct less_place place = less->top;
	bool has_row = less->text.nr_lines != 0;
	char status[STATUS_BYTES];

	command_puts(less->env, "\x1b[H");
	for (size_t i = 0; i < less->rows; i++) {
		command_puts(less->env, "\x1b[K");
		if (has_row) {
			size_t len;
			const char *row = less_row(&less->text, place, less->columns, &len);

			command_write(less->env, row, len);
			has_row = less_forward(&less->text, less->columns, &place);
		}
		command_putc(less->env, '\n');
	}
	less_status_text(less, status,
			 less->columns < sizeof(status) ? less->columns : sizeof(status));
	command_printf(less->env, "\x1b[K\x1b[7m%s\x1b[m", status);
	command_flush(less->env);
	less->message = NULL;
}

/* Wait until there is something to read. False when a key or Ctrl-C came first. */
static bool less_wait_readable(struct less *less)
{
	bool has_said = false;

	while (!file_is_readable(less->reader.file)) {
		if (!has_said) {
			less->message = "Waiting for more; any key stops that";
			less_draw(less);
			has_said = true;
		}
		if (terminal_wait_key(POLL_NS) || command_stopped(less->env))
			return false;
	}
	return true;
}

void less_fill(struct less *less, uint32_t nr_lines)
{
	char *bytes;
	size_t len;

	while (!less->is_ended && !less->text.is_full && less->text.nr_lines < nr_lines) {
		if (!less_wait_readable(less))
			return;
		len = reader_chunk(&less->reader, &bytes);
		if (len) {
			less_text_add(&less->text, bytes, len);
		} else if (!reader_next_file(&less->reader)) {
			less->is_ended = true;
			less_text_end(&less->text);
		}
		if (command_stopped(less->env))
			return;
	}
}

void less_search(struct less *less, bool back)
{
	uint32_t line = less->top.line;
	struct regex_match match;

	if (!less->regex) {
		less->message = "No pattern yet: /PATTERN or ?PATTERN";
		return;
	}
	for (;;) {
		const char *text;

		if (!back && line + 1 >= less->text.nr_lines)
			less_fill(less, line + SEARCH_STEP);
		if (back ? !line : line + 1 >= less->text.nr_lines)
			break;
		line = back ? line - 1 : line + 1;
		text = less->text.lines[line];
		if (regex_search(less->regex, text, strlen(text), 0, &match)) {
			less->top = (struct less_place){ line, 0 };
			return;
		}
		if (command_stopped(less->env))
			return;
	}
	less->message = "Pattern not found";
}

/*
 * Let the user type a pattern on the last row, into LESS_PATTERN_BYTES. False when it was given up.
 */
static bool less_read_pattern(struct less *less, char sign, char *out)
{
	size_t len = 0;

	for (;;) {
		int key;

		out[len] = '\0';
		command_printf(less->env, "\r\x1b[K%c%s", sign, out);
		command_flush(less->env);
		key = line_get_key();
		if (key == '\r' || key == '\n')
			return true;
		if (key < 0 || (!len && (key == 0x7f || key == '\b')))
			return false;
		if (key == 0x7f || key == '\b')
			len--;
		else if (key >= ' ' && key < 0x100 && len + 1 < LESS_PATTERN_BYTES)
			out[len++] = (char)key;
		else if (key < ' ')
			return false;
	}
}

void less_ask_pattern(struct less *less, char sign)
{
	char pattern[LESS_PATTERN_BYTES];
	struct regex *regex;

	if (!less_read_pattern(less, sign, pattern))
		return;
	less->goes_back = sign == '?';
	if (*pattern) {
		if (regex_create(pattern, REGEX_EXTENDED, &regex)) {
			less->message = "This is no pattern";
			return;
		}
		regex_destroy(less->regex);
		less->regex = regex;
	}
	less_search(less, less->goes_back);
}
