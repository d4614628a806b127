/*
 * Line editing on the console.
 *
 *   keys --line_keys--> editing actions --line_edit--> buffer and screen
 *                        |- line_history: earlier lines, search
 *                        '- complete(): the caller's, for Tab
 *
 * The first key of a line that does more than add to its end asks the terminal for its width (see
 * terminal.h); until then nothing depends on it. A key typed at the end of a line is echoed as it
 * is, so text that is pasted costs one byte out per byte in.
 *
 * Context:   thread.
 * Locking:   one reader at a time: the console's owner sees to that. No lock inside.
 * Ownership: the line that line_read() returns is the caller's, kfree().
 */
#ifndef KERNEL_LINE_H
#define KERNEL_LINE_H

#include <kernel/base.h>
#include "shell/sh/sh.h"

#define LINE_BYTES_MAX 8192u
#define LINE_NOTE_MAX  200u

/* The words that Tab found. */
struct line_matches {
	struct sh_arena arena;
	struct sh_fields found;	  /* whole words, in any order; a directory ends in a slash */
	struct sh_fields shown;	  /* the text that a list shows for each; none: the words */
	size_t word_start;	  /* the beginning of the word to be replaced */
	size_t shown_from;	  /* bytes of each word that a list leaves out (the directory) */
	bool goes_on;		  /* of the only word: no blank follows it */
	char note[LINE_NOTE_MAX]; /* about the only word, to be shown; empty: nothing */
};

struct line_options {
	const char *prompt;
	bool has_history;
	bool keeps_newline; /* the result ends in a newline, unless Ctrl-D ended the line */
	/* Optional. Fill `out` with the words that could complete the text before the cursor. */
	void (*complete)(void *arg, const char *text, size_t len, struct line_matches *out);
	void *arg;
};

/*
 * Read one line. Its length, without newline but with a NUL behind it; -EINTR after Ctrl-C;
 * -ENODATA for Ctrl-D on an empty line; -ENOMEM. Two more errors give a line all the same, to be
 * looked at and never obeyed: -EMSGSIZE, the line was longer than LINE_BYTES_MAX allows and this is
 * its beginning; -EIO, bytes of it were typed faster than they were read and are lost.
 */
int line_read(const struct line_options *options, char **out_line);

/* ---- Between the files of the editor ---- */

struct line_editor {
	const struct line_options *options;
	char *buf; /* LINE_BYTES_MAX */
	size_t len;
	size_t pos;	       /* of the cursor */
	size_t columns;	       /* of the terminal; assumed until it was asked */
	size_t columns_before; /* taken by the prompt */
	bool has_asked;	       /* the terminal was asked for its width */
	char *cut;	       /* text that Ctrl-U, K or W took away, for Ctrl-Y; NULL for none */
	char *saved;	       /* the line that was being typed when history was entered */
	uint32_t recall;       /* which line is shown: 0: `saved`, n: n lines back */
	bool was_tab;	       /* the key before was Tab */
	bool is_cut;	       /* there was no room for all of it */
	bool is_at_margin;     /* the last column was written, the cursor is still on it */
};

/* Changes of the buffer, shown on the screen. */
void line_insert(struct line_editor *ed, const char *text, size_t len);
void line_delete(struct line_editor *ed, size_t from, size_t to);
void line_move(struct line_editor *ed, size_t pos);
void line_replace(struct line_editor *ed, const char *text);
/* Write prompt and line anew from the start of the present screen line. */
void line_redraw(struct line_editor *ed);
/* Learn the terminal's width, before the first thing in a line that depends on it. */
void line_ask_columns(struct line_editor *ed);
/* Move the cursor behind the text, then to a new screen line. */
void line_leave(struct line_editor *ed);
void line_beep(void);

/* Keys below 0x100 are bytes. */
enum line_key {
	LINE_KEY_UP = 0x100,
	LINE_KEY_DOWN,
	LINE_KEY_LEFT,
	LINE_KEY_RIGHT,
	LINE_KEY_HOME,
	LINE_KEY_END,
	LINE_KEY_DELETE,
	LINE_KEY_PAGE_UP,
	LINE_KEY_PAGE_DOWN,
	LINE_KEY_WORD_LEFT,
	LINE_KEY_WORD_RIGHT,
	LINE_KEY_WORD_DELETE,
	LINE_KEY_NONE, /* a sequence that means nothing here */
};
/*
 * Wait for the next key: a byte, or an enum line_key for a whole escape sequence. -EINTR; -EIO:
 * bytes were lost, as in console_getc_timeout().
 */
int line_get_key(void);

/* Complete the word before the cursor, or list the words that it could become. */
void line_tab(struct line_editor *ed);

/* Lines entered before; the last HISTORY_LINES of them. */
#define HISTORY_LINES 64u
void history_add(const char *line);
/* The n-th line back, 1 is the last one; NULL for none. */
const char *history_get(uint32_t back);
uint32_t history_count(void);
/* Number of the oldest line that is kept, from 1. */
uint32_t history_first_number(void);
void history_clear(void);
/* Show the next older or newer line instead of the present one. */
void line_recall(struct line_editor *ed, bool older);
/*
 * Ctrl-R: search in earlier lines. Returns the key that ended the search, which the caller is to
 * obey; 0 for none; an error of line_get_key().
 */
int line_search(struct line_editor *ed);

#endif
