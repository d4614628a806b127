/* See source.h. */
#include "source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define MAX_NAME 128

struct scan {
	const char *pos;
	uint32_t line;
	unsigned int braces, parens;
	char word[MAX_NAME]; /* last identifier at the outermost level */
	uint32_t word_line;
	char name[MAX_NAME]; /* last `word (...)`; empty for none */
	uint32_t name_line;
};

/* Step over one character. */
static void next(struct scan *scan)
{
	if (*scan->pos == '\n')
		scan->line++;
	if (*scan->pos)
		scan->pos++;
}

static void skip_quoted(struct scan *scan)
{
	char quote = *scan->pos;

	for (next(scan); *scan->pos && *scan->pos != quote && *scan->pos != '\n'; next(scan))
		if (*scan->pos == '\\')
			next(scan);
	next(scan);
}

static void skip_comment(struct scan *scan)
{
	if (scan->pos[1] == '/') {
		while (*scan->pos && *scan->pos != '\n')
			next(scan);
		return;
	}
	next(scan);
	for (next(scan); *scan->pos && !(scan->pos[0] == '*' && scan->pos[1] == '/');)
		next(scan);
	next(scan);
	next(scan);
}

/* Skip a directive, up to the end of its last continued line. */
static void skip_directive(struct scan *scan)
{
	while (*scan->pos && *scan->pos != '\n') {
		if (scan->pos[0] == '/' && scan->pos[1] == '*') {
			skip_comment(scan);
			continue;
		}
		if (*scan->pos == '\\')
			next(scan);
		next(scan);
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void read_word(struct scan *scan)
{
	const char *start = scan->pos;
	size_t len;

	while (is_word(*scan->pos))
		scan->pos++;
	len = (size_t)(scan->pos - start);
	if (scan->braces || scan->parens || len >= MAX_NAME)
		return;
	memcpy(scan->word, start, len);
	scan->word[len] = '\0';
	scan->word_line = scan->line;
}

static bool is_function_name(const char *name)
{
	static const char *const others[] = { "__attribute__",	"__asm__",    "asm",
					      "_Static_assert", "__declspec", "_Alignas",
					      "typeof",		"__typeof__" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return false;
	for (const char *c = name; *c; c++)
		if (islower((unsigned char)*c))
			return !isdigit((unsigned char)name[0]);
	return false;
}

static void open_paren(struct scan *scan)
{
	if (scan->parens++ || scan->braces)
		return;
	if (is_function_name(scan->word)) {
		memcpy(scan->name, scan->word, sizeof(scan->name));
		scan->name_line = scan->word_line;
	}
	scan->word[0] = '\0';
}

static void open_brace(struct scan *scan, struct records *records, const char *path)
{
	struct record *record;

	if (scan->braces++ || scan->parens || !scan->name[0])
		return;
	record = records_get(records, scan->name);
	record->is_in_source = true;
	if (!record->file) {
		record->file = records_path(records, path);
		record->line = scan->name_line;
	}
	scan->name[0] = '\0';
}

/* Take a character that is part of no word, string, comment or directive. */
static void punctuation(struct scan *scan, struct records *records, const char *path)
{
	char c = *scan->pos;

	if (c == '(')
		open_paren(scan);
	else if (c == ')' && scan->parens)
		scan->parens--;
	else if (c == '{')
		open_brace(scan, records, path);
	else if (c == '}' && scan->braces)
		scan->braces--;
	if ((c == ';' || c == '=' || c == '}') && !scan->braces && !scan->parens)
		scan->name[0] = '\0';
	next(scan);
}

void source_collect_text(struct records *records, const char *path, const char *text)
{
	struct scan scan = { .pos = text, .line = 1 };
	bool is_line_start = true;

	while (*scan.pos) {
		char c = *scan.pos;

		if (c == '#' && is_line_start)
			skip_directive(&scan);
		else if (c == '/' && (scan.pos[1] == '/' || scan.pos[1] == '*'))
			skip_comment(&scan);
		else if (c == '"' || c == '\'')
			skip_quoted(&scan);
		else if (is_word(c))
			read_word(&scan);
		else
			punctuation(&scan, records, path);
		is_line_start = c == '\n' || (is_line_start && isspace((unsigned char)c));
	}
}

void source_collect(struct records *records, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size = 0, n;
	char *text = NULL;

	if (!file)
		return;
	do {
		text = xrealloc(text, size + 65537);
		n = fread(text + size, 1, 65536, file);
		size += n;
	} while (n > 0);
	text[size] = '\0';
	fclose(file);
	source_collect_text(records, path, text);
	free(text);
}
