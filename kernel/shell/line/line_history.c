/*
 * Lines entered before. See line.h.
 */
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "line.h"

static char *lines[HISTORY_LINES]; /* a ring; number n (from 0) is at n % HISTORY_LINES */
static uint32_t nr_added;

uint32_t history_count(void)
{
	return nr_added < HISTORY_LINES ? nr_added : HISTORY_LINES;
}

uint32_t history_first_number(void)
{
	return nr_added - history_count() + 1;
}

const char *history_get(uint32_t back)
{
	if (!back || back > history_count())
		return NULL;
	return lines[(nr_added - back) % HISTORY_LINES];
}

void history_add(const char *line)
{
	const char *last = history_get(1);
	char *copy;

	if (!*line || (last && strcmp(last, line) == 0))
		return;
	copy = kstrdup(line);
	if (!copy)
		return;
	kfree(lines[nr_added % HISTORY_LINES]);
	lines[nr_added % HISTORY_LINES] = copy;
	nr_added++;
}

void history_clear(void)
{
	for (uint32_t i = 0; i < HISTORY_LINES; i++) {
		kfree(lines[i]);
		lines[i] = NULL;
	}
	nr_added = 0;
}

void line_recall(struct line_editor *ed, bool older)
{
	uint32_t recall = older ? ed->recall + 1 : ed->recall - 1;
	const char *line = history_get(recall);

	if (!ed->options->has_history || (older ? !line : !ed->recall)) {
		line_beep();
		return;
	}
	if (!ed->recall) {
		kfree(ed->saved);
		ed->buf[ed->len] = '\0';
		ed->saved = ed->is_cut ? NULL : kstrdup(ed->buf);
	}
	ed->recall = recall;
	line_replace(ed, line ? line : ed->saved ? ed->saved : "");
}

#define SEARCH_BYTES 64

struct search {
	char text[SEARCH_BYTES];
	size_t len;
	uint32_t back; /* the line shown; 0: none found yet */
};

/* Find the first line from `back` on, going back, that has the text. Beeps when there is none. */
static void line_find_older(struct search *search, uint32_t back)
{
	const char *line;

	for (; (line = history_get(back)) != NULL; back++) {
		if (strstr(line, search->text)) {
			search->back = back;
			return;
		}
	}
	line_beep();
}

/* Shown on one row, cut if need be, so that it can be erased again. */
static void line_show_search(const struct line_editor *ed, const struct search *search)
{
	char head[SEARCH_BYTES + 32];
	const char *line = history_get(search->back);
	size_t len = trace_scnprintf(head, sizeof(head), "(reverse-i-search)`%s': ", search->text);
	size_t room = ed->columns - 1;

	len = len < room ? len : room;
	console_write_raw("\r\x1b[J", 4);
	console_write_raw(head, len);
	if (line)
		console_write_raw(line, strnlen(line, room - len));
}

/* Obey a key of the search. False when the key ends it. */
static bool line_search_key(struct search *search, int key)
{
	if (key == 'R' - 0x40) {
		line_find_older(search, search->back + 1);
	} else if (key == 0x7f || key == 'H' - 0x40) {
		if (search->len)
			search->text[--search->len] = '\0';
		line_find_older(search, 1);
	} else if (key >= ' ' && key < 0x100 && search->len + 1 < SEARCH_BYTES) {
		search->text[search->len++] = (char)key;
		search->text[search->len] = '\0';
		line_find_older(search, search->back ? search->back : 1);
	} else {
		return false;
	}
	return true;
}

int line_search(struct line_editor *ed)
{
	struct search search = { 0 };
	const char *line;
	int key;

	line_ask_columns(ed);
	line_move(ed, 0);
	do {
		line_show_search(ed, &search);
		key = line_get_key();
	} while (key > 0 && line_search_key(&search, key));
	console_write_raw("\r\x1b[J", 4);
	line_redraw(ed);
	line = history_get(search.back);
	if (line && key > 0 && key != 'G' - 0x40)
		line_replace(ed, line);
	return key == 'G' - 0x40 ? 0 : key;
}
