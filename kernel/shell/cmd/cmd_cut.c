/*
 * cut prints parts of lines, tr replaces or drops characters.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "cmd_escape.h"
#include "cmd_reader.h"
#include "command_tables.h"

#define RANGES_MAX 16

struct cut_range {
	uint64_t first; /* from 1 */
	uint64_t last;
};

struct cut {
	struct cut_range ranges[RANGES_MAX];
	uint32_t nr_ranges;
	char separator;
	bool by_char;	     /* -c: ranges count characters, not fields */
	bool only_separated; /* -s: lines without separator are dropped */
};

/* Parse `N`, `N-M`, `N-` or `-M`. Returns where it ends, NULL for a mistake. */
static const char *cut_parse_range(const char *text, struct cut_range *range)
{
	const char *start = text;

	range->first = 0;
	for (; *text >= '0' && *text <= '9' && range->first < 100000; text++)
		range->first = range->first * 10 + (uint64_t)(*text - '0');
	range->last = range->first;
	if (*text == '-') {
		range->first = text == start ? 1 : range->first;
		range->last = 0;
		for (text++; *text >= '0' && *text <= '9' && range->last < 100000; text++)
			range->last = range->last * 10 + (uint64_t)(*text - '0');
		range->last = text[-1] == '-' ? UINT64_MAX : range->last;
	}
	return text > start && range->first && range->last >= range->first ? text : NULL;
}

static bool cut_parse_list(struct cut *cut, const char *text)
{
	while (*text && cut->nr_ranges < RANGES_MAX) {
		text = cut_parse_range(text, &cut->ranges[cut->nr_ranges]);
		if (!text || (*text && *text != ','))
			return false;
		cut->nr_ranges++;
		text += *text == ',';
	}
	return !*text && cut->nr_ranges;
}

static bool cut_is_wanted(const struct cut *cut, uint64_t number)
{
	for (uint32_t i = 0; i < cut->nr_ranges; i++) {
		if (number >= cut->ranges[i].first && number <= cut->ranges[i].last)
			return true;
	}
	return false;
}

static void cut_chars(struct command_env *env, const struct cut *cut, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (cut_is_wanted(cut, i + 1))
			command_putc(env, line[i]);
	}
	command_putc(env, '\n');
}

static void cut_fields(struct command_env *env, const struct cut *cut, const char *line, size_t len)
{
	const char *end = line + len;
	bool is_first = true;

	if (!memchr(line, cut->separator, len)) {
		if (cut->only_separated)
			return;
		command_write(env, line, len);
		command_putc(env, '\n');
		return;
	}
	for (uint64_t number = 1; line <= end; number++) {
		const char *stop = memchr(line, cut->separator, (size_t)(end - line));

		stop = stop ? stop : end;
		if (cut_is_wanted(cut, number)) {
			if (!is_first)
				command_putc(env, cut->separator);
			command_write(env, line, (size_t)(stop - line));
			is_first = false;
		}
		line = stop + 1;
	}
	command_putc(env, '\n');
}

/* Parse the options. Returns the index of the first file in argv, -1 for a mistake. */
static int cut_parse(struct cut *cut, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		char option = argv[i][1];
		const char *value = argv[i] + 2;

		if (option == 's' && !*value) {
			cut->only_separated = true;
			continue;
		}
		if (!strchr("dfc", option) || (!*value && i + 1 == argc))
			return -1;
		value = *value ? value : argv[++i];
		if (option == 'd') {
			cut->separator = value[0];
			continue;
		}
		cut->by_char = option == 'c';
		if (!cut_parse_list(cut, value))
			return -1;
	}
	return cut->nr_ranges ? i : -1;
}

static int cmd_cut(struct command_env *env, int argc, char **argv)
{
	struct cut cut = { .separator = '\t' };
	int first = cut_parse(&cut, argc, argv);
	struct reader reader;
	char *line;
	size_t len;

	if (first < 0)
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, argc - first, argv + first))
		return 1;
	while ((len = reader_any_line(&reader, &line)) != 0) {
		len -= line[len - 1] == '\n';
		if (cut.by_char)
			cut_chars(env, &cut, line, len);
		else
			cut_fields(env, &cut, line, len);
	}
	reader_close(&reader);
	return reader.nr_failed != 0;
}

#define SET_BYTES 256

/* Write the characters of a set like `a-z\n` to `out`, SET_BYTES at most. Returns their number. */
static size_t cut_expand_set(const char *text, char *out)
{
	size_t len = 0;

	while (*text && len < SET_BYTES) {
		char low = *text++, high;

		if (low == '\\')
			text = escape_char(text, ESCAPE_FORMAT, &low);
		high = low;
		if (text[0] == '-' && text[1]) {
			high = text[1];
			text += 2;
		}
		for (int c = (unsigned char)low; c <= (unsigned char)high && len < SET_BYTES; c++)
			out[len++] = (char)c;
	}
	return len;
}

/* The work of tr on each character. */
struct translation {
	bool drops[256];
	bool squeezes[256]; /* a run of it becomes one */
	char to[256];
};

/* The arguments are SET1 SET2, -d SET1, or -s SET1. False for a mistake. */
static bool cut_make_translation(struct translation *t, int argc, char **argv)
{
	bool drops = argc == 3 && strcmp(argv[1], "-d") == 0;
	bool squeezes = argc == 3 && strcmp(argv[1], "-s") == 0;
	char from[SET_BYTES], to[SET_BYTES];
	size_t nr_from, nr_to;

	if (argc != 3)
		return false;
	for (int i = 0; i < 256; i++)
		t->to[i] = (char)i;
	nr_from = cut_expand_set(argv[drops || squeezes ? 2 : 1], from);
	nr_to = cut_expand_set(argv[2], to);
	if (!nr_to)
		return false;
	for (size_t i = 0; i < nr_from; i++) {
		unsigned char c = (unsigned char)from[i];

		t->drops[c] = drops;
		t->squeezes[c] = squeezes;
		if (!drops && !squeezes)
			t->to[c] = to[i < nr_to ? i : nr_to - 1];
	}
	return true;
}

static void cut_translate(const struct translation *t, struct reader *reader)
{
	int last = -1;
	char *bytes;
	size_t len;

	reader_next_file(reader);
	while ((len = reader_chunk(reader, &bytes)) != 0) {
		for (size_t i = 0; i < len; i++) {
			unsigned char c = (unsigned char)bytes[i];

			if (!t->drops[c] && !(t->squeezes[c] && c == last))
				command_putc(reader->env, t->to[c]);
			last = c;
		}
	}
}

static int cmd_tr(struct command_env *env, int argc, char **argv)
{
	struct translation *t = kzalloc(sizeof(*t));
	struct reader reader;
	int status = 1;

	if (!t) {
		command_error(env, "%s", command_strerror(ENOMEM));
	} else if (!cut_make_translation(t, argc, argv)) {
		status = COMMAND_USAGE;
	} else if (reader_open(&reader, env, 0, NULL)) {
		cut_translate(t, &reader);
		reader_close(&reader);
		status = reader.nr_failed != 0;
	}
	kfree(t);
	return status;
}

const struct command cut_commands[] = {
	{ "cut", "-f LIST | -c LIST [-s] [-d CHAR] [FILE]...", "print parts of lines", cmd_cut, 0 },
	{ "tr", "[-ds] SET1 [SET2]", "replace or drop characters", cmd_tr, 0 },
	{ 0 },
};
