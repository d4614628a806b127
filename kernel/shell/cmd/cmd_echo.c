/*
 * echo, and the escapes that it shares with printf.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "cmd_escape.h"
#include "command_tables.h"

static uint32_t echo_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10 : 99;
}

static const char *echo_escape_number(const char *pos, uint32_t base, uint32_t max_digits,
				      char *out_c)
{
	uint32_t value = 0;

	for (; max_digits && echo_digit_value(*pos) < base; max_digits--)
		value = value * base + echo_digit_value(*pos++);
	*out_c = (char)value;
	return pos;
}

/*
 * The octal escape at `pos`, which starts with a digit. Returns where it ends; NULL when `kind` has
 * no such escape: see the table in cmd_escape.h.
 */
static const char *echo_escape_octal(const char *pos, enum escape_kind kind, char *out_c)
{
	if (kind == ESCAPE_ECHO && *pos != '0')
		return NULL;
	if (kind != ESCAPE_FORMAT && *pos == '0')
		pos++;
	return echo_escape_number(pos, 8, 3, out_c);
}

const char *escape_char(const char *pos, enum escape_kind kind, char *out_c)
{
	static const char letters[] = "abfnrtveE\\\"'?";
	static const char values[] = "\a\b\f\n\r\t\v\x1b\x1b\\\"'?";
	const size_t nr_letters = kind == ESCAPE_FORMAT ? 13 : 10;
	const char *letter = *pos ? memchr(letters, *pos, nr_letters) : NULL;
	const char *next = NULL;

	if (letter) {
		*out_c = values[letter - letters];
		return pos + 1;
	}
	if (*pos == 'x' && echo_digit_value(pos[1]) < 16)
		next = echo_escape_number(pos + 1, 16, 2, out_c);
	else if (*pos >= '0' && *pos <= '7')
		next = echo_escape_octal(pos, kind, out_c);
	if (next)
		return next;
	*out_c = '\\';
	return pos;
}

/* Append `text` with its escapes replaced. False after \c: nothing more is to be printed. */
static bool echo_append_escaped(char *out, size_t *len, const char *text)
{
	while (*text) {
		if (*text != '\\') {
			out[(*len)++] = *text++;
			continue;
		}
		if (text[1] == 'c')
			return false;
		text = escape_char(text + 1, ESCAPE_ECHO, &out[(*len)++]);
	}
	return true;
}

/* Parse `-n`, `-e`, `-ne` and the like. False, with nothing changed, for any other word. */
static bool echo_parse_options(const char *word, bool *newline, bool *escapes)
{
	if (word[0] != '-' || !word[1])
		return false;
	for (const char *c = word + 1; *c; c++) {
		if (!strchr("neE", *c))
			return false;
	}
	for (const char *c = word + 1; *c; c++) {
		if (*c == 'n')
			*newline = false;
		else
			*escapes = *c == 'e';
	}
	return true;
}

/* Join the arguments into one text, so that echo writes once. Returns the length. */
static size_t echo_join(char *out, int argc, char **argv, bool newline, bool escapes)
{
	size_t len = 0;

	for (int i = 0; i < argc; i++) {
		if (i)
			out[len++] = ' ';
		if (escapes) {
			if (!echo_append_escaped(out, &len, argv[i]))
				return len;
			continue;
		}
		memcpy(out + len, argv[i], strlen(argv[i]));
		len += strlen(argv[i]);
	}
	if (newline)
		out[len++] = '\n';
	return len;
}

static int cmd_echo(struct command_env *env, int argc, char **argv)
{
	bool newline = true, escapes = false;
	size_t size = 2;
	char *text;
	int first = 1;

	while (first < argc && echo_parse_options(argv[first], &newline, &escapes))
		first++;
	for (int i = first; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = kmalloc(size);
	if (!text) {
		command_error(env, "%s", command_strerror(ENOMEM));
		return 1;
	}
	command_write(env, text, echo_join(text, argc - first, argv + first, newline, escapes));
	kfree(text);
	return 0;
}

const struct command echo_commands[] = {
	{ "echo", "[-neE] [WORD]...", "print words", cmd_echo, COMMAND_BUILTIN },
	{ 0 },
};
