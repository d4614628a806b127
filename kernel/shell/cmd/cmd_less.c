/*
 * less: keys to actions. See less.h.
 */
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include "command_tables.h"
#include "shell/less/less.h"
#include "shell/line/line.h"
#include "shell/regex/regex.h"
#include "shell/line/terminal.h"

#define CTRL(letter) ((letter)-0x40)
#define BYTES_MAX    (64ul << 20)

static void less_scroll(struct less *less, size_t nr, bool back)
{
	if (!back)
		less_fill(less, less->top.line + (uint32_t)(nr + less->rows) + 1);
	for (; nr; nr--) {
		bool moved = back ? less_back(&less->text, less->columns, &less->top)
				  : !less_is_at_end(less) &&
					     less_forward(&less->text, less->columns, &less->top);

		if (!moved)
			return;
	}
}

/* Show the line with this number (from 1) at the top; the first one for 0. */
static void less_go_to(struct less *less, uint32_t number)
{
	less_fill(less, number);
	if (number > less->text.nr_lines)
		number = less->text.nr_lines;
	less->top = (struct less_place){ number ? number - 1 : 0, 0 };
}

static void less_go_to_end(struct less *less)
{
	less->message = "Reading to the end; Ctrl-C quits";
	less_draw(less);
	less_fill(less, UINT32_MAX);
	if (!less->text.nr_lines)
		return;
	less->top = (struct less_place){ less->text.nr_lines - 1, 0 };
	while (less_forward(&less->text, less->columns, &less->top))
		;
	less_scroll(less, less->rows - 1, true);
}

/* Obey a key that scrolls. False for the other keys. */
static bool less_move_key(struct less *less, int key)
{
	size_t lines = less->number ? less->number : 1;

	switch (key) {
	case 'j':
	case 'e':
	case '\r':
	case '\n':
	case CTRL('N'):
	case LINE_KEY_DOWN:
		less_scroll(less, lines, false);
		return true;
	case 'k':
	case 'y':
	case CTRL('P'):
	case LINE_KEY_UP:
		less_scroll(less, lines, true);
		return true;
	case ' ':
	case 'f':
	case CTRL('F'):
	case LINE_KEY_PAGE_DOWN:
		less_scroll(less, less->rows, false);
		return true;
	case 'b':
	case CTRL('B'):
	case LINE_KEY_PAGE_UP:
		less_scroll(less, less->rows, true);
		return true;
	case 'd':
	case CTRL('D'):
		less_scroll(less, less->rows / 2, false);
		return true;
	case 'u':
	case CTRL('U'):
		less_scroll(less, less->rows / 2, true);
		return true;
	default:
		return false;
	}
}

static void less_other_key(struct less *less, int key)
{
	switch (key) {
	case 'g':
	case '<':
	case LINE_KEY_HOME:
		less_go_to(less, less->number);
		break;
	case 'G':
	case '>':
	case LINE_KEY_END:
		if (less->number)
			less_go_to(less, less->number);
		else
			less_go_to_end(less);
		break;
	case '/':
	case '?':
		less_ask_pattern(less, (char)key);
		break;
	case 'n':
	case 'N':
		less_search(less, less->goes_back != (key == 'N'));
		break;
	case 'h':
		less->message = "space b: pages, j k: lines, g G: ends, / ? n N: search, q: quit";
		break;
	case 'q':
	case 'Q':
		less->is_leaving = true;
		break;
	default:
		break;
	}
}

/* Obey a key. Digits are collected: they are the number of the command that follows. */
static void less_key(struct less *less, int key)
{
	if (key >= '0' && key <= '9') {
		less->number = less->number * 10 % 100000000 + (uint32_t)(key - '0');
		return;
	}
	if (!less_move_key(less, key))
		less_other_key(less, key);
	less->number = 0;
}

static void less_loop(struct less *less)
{
	terminal_ask();
	less->columns = terminal_columns();
	less->rows = terminal_rows() - 1;
	command_puts(less->env, "\x1b[H\x1b[2J");
	less_fill(less, (uint32_t)less->rows + 1);
	while (!less->is_leaving && !command_stopped(less->env)) {
		int key;

		less_draw(less);
		key = line_get_key();
		if (key == -EINTR)
			break;
		less_key(less, key);
	}
	command_puts(less->env, "\r\x1b[K");
}

static void less_pass_on(struct less *less)
{
	char *bytes;
	size_t len;

	do {
		while ((len = reader_chunk(&less->reader, &bytes)) != 0) {
			command_write(less->env, bytes, len);
			command_flush(less->env);
		}
	} while (reader_next_file(&less->reader));
}

static int less_run(struct less *less)
{
	struct mm_stats stats;

	mm_stats_get(&stats);
	less->text.max_bytes = stats.free_pages * PAGE_SIZE / 4;
	if (less->text.max_bytes > BYTES_MAX)
		less->text.max_bytes = BYTES_MAX;
	if (!reader_next_file(&less->reader))
		return 1;
	if (less->env->out->ops->is_console && console_is_foreground())
		less_loop(less);
	else
		less_pass_on(less);
	less_text_free(&less->text);
	regex_destroy(less->regex);
	return less->reader.nr_failed != 0;
}

/* Options are accepted and ignored: those of other systems' less change how it looks. */
static int cmd_less(struct command_env *env, int argc, char **argv)
{
	struct less *less;
	int status = 1, first = 1;

	while (first < argc && argv[first][0] == '-' && argv[first][1])
		first++;
	if (first == argc && env->in->ops->is_console) {
		command_error(env, "nothing to read: name a file, or put it behind a pipe");
		return 1;
	}
	less = vmalloc(sizeof(*less));
	if (!less) {
		command_error(env, "%s", command_strerror(ENOMEM));
		return 1;
	}
	memset(less, 0, sizeof(*less));
	less->env = env;
	if (reader_open(&less->reader, env, argc - first, argv + first)) {
		status = less_run(less);
		reader_close(&less->reader);
	}
	vfree(less);
	return status;
}

const struct command less_commands[] = {
	{ "less", "[FILE]...", "show a text page by page; h: its keys", cmd_less, 0 },
	{ "more", "[FILE]...", "the same as less", cmd_less, 0 },
	{ 0 },
};
