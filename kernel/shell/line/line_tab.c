/*
 * Tab: completes a word, or shows the words that it could become, or a note about it. See line.h.
 */
#include <kernel/console.h>
#include <kernel/string.h>
#include "line.h"

#define LIST_GAP 2

static size_t line_common_len(const struct sh_fields *found)
{
	const char *first = found->first->text;
	size_t len = strlen(first);

	for (struct sh_word *word = found->first->next; word; word = word->next) {
		size_t same = 0;

		while (same < len && word->text[same] == first[same])
			same++;
		len = same;
	}
	return len;
}

static void line_insert_rest(struct line_editor *ed, const struct line_matches *matches)
{
	const char *word = matches->found.first->text;
	size_t typed = ed->pos - matches->word_start;
	size_t len = line_common_len(&matches->found);

	if (len > typed)
		line_insert(ed, word + typed, len - typed);
	if (matches->found.nr == 1 && !matches->goes_on && (!len || word[len - 1] != '/'))
		line_insert(ed, " ", 1);
}

static bool line_can_extend(const struct line_editor *ed, const struct line_matches *matches)
{
	return matches->found.nr == 1 ||
	       line_common_len(&matches->found) > ed->pos - matches->word_start;
}

static void line_put_spaces(size_t nr)
{
	while (nr--)
		console_write_raw(" ", 1);
}

/* List all words found in columns, row by row. */
static void line_show_list(const struct line_matches *matches, size_t columns)
{
	const struct sh_fields *list = matches->shown.nr ? &matches->shown : &matches->found;
	size_t width = 0, column = 0;

	for (struct sh_word *word = list->first; word; word = word->next) {
		size_t len = strlen(word->text) - matches->shown_from + LIST_GAP;

		width = len > width ? len : width;
	}
	for (struct sh_word *word = list->first; word; word = word->next) {
		const char *name = word->text + matches->shown_from;

		console_write_raw(name, strlen(name));
		column += width;
		if (!word->next || column + width > columns) {
			console_write_raw("\r\n", 2);
			column = 0;
		} else {
			line_put_spaces(width - strlen(name));
		}
	}
}

static void line_show_choices(struct line_editor *ed, const struct line_matches *matches)
{
	size_t pos = ed->pos;

	line_ask_columns(ed);
	line_leave(ed);
	line_show_list(matches, ed->columns);
	ed->pos = pos;
	line_redraw(ed);
}

/* Show the note in a line above the one that is being edited. */
static void line_show_note(struct line_editor *ed, const char *note)
{
	size_t pos = ed->pos;

	line_ask_columns(ed);
	line_leave(ed);
	console_write_raw(note, strlen(note));
	console_write_raw("\r\n", 2);
	ed->pos = pos;
	line_redraw(ed);
}

void line_tab(struct line_editor *ed)
{
	struct line_matches matches = { 0 };

	sh_fields_init(&matches.found);
	sh_fields_init(&matches.shown);
	ed->options->complete(ed->options->arg, ed->buf, ed->pos, &matches);
	if (matches.found.nr && line_can_extend(ed, &matches)) {
		line_insert_rest(ed, &matches);
		if (matches.found.nr == 1 && matches.note[0])
			line_show_note(ed, matches.note);
	} else if (matches.found.nr && ed->was_tab) {
		line_show_choices(ed, &matches);
	} else {
		line_beep();
	}
	sh_arena_free(&matches.arena);
}
