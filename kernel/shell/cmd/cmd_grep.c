/*
 * grep: prints the lines that match a pattern.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "cmd_reader.h"
#include "command_tables.h"
#include "shell/regex/regex.h"

#define PATTERNS_MAX 8

struct grep {
	struct command_env *env;
	struct regex *regexes[PATTERNS_MAX];
	uint32_t nr_regexes;
	uint32_t regex_flags;
	uint64_t max_lines; /* per file */
	bool is_inverted;
	bool counts;
	bool lists_files;
	bool numbers_lines;
	bool is_quiet;
	bool only_matches;
	bool whole_words;
	bool with_name;
	bool without_name;
};

static bool grep_is_word_char(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

struct grep_line {
	const char *text; /* without newline */
	size_t len;
	uint64_t number; /* from 1 */
};

/* Search one pattern at or behind `from`; with -w a match must be whole words. False: not found. */
static bool grep_search_one(const struct grep *grep, struct regex *regex,
			    const struct grep_line *line, size_t from,
			    struct regex_match *out_match)
{
	while (from <= line->len && regex_search(regex, line->text, line->len, from, out_match)) {
		size_t start = out_match->start, end = out_match->end;
		bool starts = !start || !grep_is_word_char(line->text[start - 1]);
		bool ends = end == line->len || !grep_is_word_char(line->text[end]);

		if (!grep->whole_words || (starts && ends))
			return true;
		from = start + 1;
	}
	return false;
}

/* Find the leftmost match of any pattern; of several there, the longest. False: not found. */
static bool grep_search(const struct grep *grep, const struct grep_line *line, size_t from,
			struct regex_match *out_match)
{
	bool found = false;

	for (uint32_t i = 0; i < grep->nr_regexes; i++) {
		struct regex_match match;

		if (!grep_search_one(grep, grep->regexes[i], line, from, &match))
			continue;
		if (!found || match.start < out_match->start ||
		    (match.start == out_match->start && match.end > out_match->end))
			*out_match = match;
		found = true;
	}
	return found;
}

static void grep_print_prefix(const struct grep *grep, const struct reader *reader, uint64_t number)
{
	if (grep->with_name)
		command_printf(grep->env, "%s:", reader->path);
	if (grep->numbers_lines && number)
		command_printf(grep->env, "%lu:", number);
}

static void grep_print_matches(const struct grep *grep, const struct reader *reader,
			       const struct grep_line *line)
{
	struct regex_match match;
	size_t from = 0;

	while (from <= line->len && grep_search(grep, line, from, &match)) {
		if (match.end > match.start) {
			grep_print_prefix(grep, reader, line->number);
			command_write(grep->env, line->text + match.start, match.end - match.start);
			command_putc(grep->env, '\n');
		}
		from = match.end > match.start ? match.end : match.end + 1;
	}
}

static void grep_print_line(const struct grep *grep, const struct reader *reader,
			    const struct grep_line *line)
{
	if (grep->is_quiet || grep->counts || grep->lists_files)
		return;
	if (grep->only_matches && !grep->is_inverted) {
		grep_print_matches(grep, reader, line);
		return;
	}
	grep_print_prefix(grep, reader, line->number);
	command_write(grep->env, line->text, line->len);
	command_putc(grep->env, '\n');
}

/*
 * Search one file and print the output that the options ask for. Returns the number of selected
 * lines.
 */
static uint64_t grep_file(const struct grep *grep, struct reader *reader)
{
	bool first_is_enough = grep->is_quiet || grep->lists_files;
	struct grep_line line = { 0 };
	uint64_t selected = 0;
	char *text;

	while (selected < grep->max_lines && (line.len = reader_line(reader, &text)) != 0) {
		struct regex_match match;

		line.text = text;
		line.number++;
		line.len -= text[line.len - 1] == '\n';
		if (grep_search(grep, &line, 0, &match) == grep->is_inverted)
			continue;
		selected++;
		grep_print_line(grep, reader, &line);
		if (first_is_enough)
			break;
	}
	if (grep->lists_files && selected)
		command_printf(grep->env, "%s\n", reader->path);
	if (grep->counts && !first_is_enough) {
		grep_print_prefix(grep, reader, 0);
		command_printf(grep->env, "%lu\n", selected);
	}
	return selected;
}

static bool grep_add_pattern(struct grep *grep, const char *pattern)
{
	int err = -E2BIG;

	if (grep->nr_regexes < PATTERNS_MAX)
		err = regex_create(pattern, grep->regex_flags, &grep->regexes[grep->nr_regexes]);
	if (err) {
		if (err == -ENOMEM)
			command_error(grep->env, "%s", command_strerror(err));
		else
			command_error(grep->env, "bad regex '%s'%s", pattern,
				      err == -EINVAL ? "" : ": too long");
		return false;
	}
	grep->nr_regexes++;
	return true;
}

/* Set the option of this letter. False when there is none, or it takes a value. */
static bool grep_set_option(struct grep *grep, char option)
{
	switch (option) {
	case 'v':
		return grep->is_inverted = true;
	case 'c':
		return grep->counts = true;
	case 'i':
		return (grep->regex_flags |= REGEX_IGNORE_CASE) != 0;
	case 'E':
		return (grep->regex_flags |= REGEX_EXTENDED) != 0;
	case 'F':
		return (grep->regex_flags |= REGEX_LITERAL) != 0;
	case 'G':
		return true;
	case 'n':
		return grep->numbers_lines = true;
	case 'l':
		return grep->lists_files = true;
	case 'q':
		return grep->is_quiet = true;
	case 'o':
		return grep->only_matches = true;
	case 'w':
		return grep->whole_words = true;
	case 'H':
		return grep->with_name = true;
	case 'h':
		return grep->without_name = true;
	default:
		return false;
	}
}

/*
 * Parse the options; the patterns of -e are collected in `patterns`. Returns the index of the first
 * word that is no option, -1 for a mistake.
 */
static int grep_parse_options(struct grep *grep, int argc, char **argv, const char **patterns,
			      uint32_t *nr_patterns)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *c = argv[i] + 1;

		if (strcmp(argv[i], "--") == 0)
			return i + 1;
		while (*c && grep_set_option(grep, *c))
			c++;
		if (!*c)
			continue;
		if ((*c != 'e' && *c != 'm') || (!c[1] && i + 1 == argc))
			return -1;
		if (*c == 'e' && *nr_patterns == PATTERNS_MAX)
			return -1;
		if (*c == 'e')
			patterns[(*nr_patterns)++] = c[1] ? c + 1 : argv[++i];
		else if (!command_parse_u64(c[1] ? c + 1 : argv[++i], &grep->max_lines))
			return -1;
	}
	return i;
}

static int grep_files(struct grep *grep, int nr_files, char **paths)
{
	struct reader reader;
	uint64_t selected = 0;

	if (!reader_open(&reader, grep->env, nr_files, paths))
		return 2;
	grep->with_name = (grep->with_name || nr_files > 1) && !grep->without_name;
	while (reader_next_file(&reader)) {
		selected += grep_file(grep, &reader);
		if (grep->is_quiet && selected)
			break;
	}
	reader_close(&reader);
	if (reader.nr_failed && !(grep->is_quiet && selected))
		return 2;
	return selected ? 0 : 1;
}

static int cmd_grep(struct command_env *env, int argc, char **argv)
{
	struct grep grep = { .env = env, .max_lines = UINT64_MAX };
	const char *patterns[PATTERNS_MAX];
	uint32_t nr_patterns = 0;
	int first = grep_parse_options(&grep, argc, argv, patterns, &nr_patterns);
	int status = 2;
	bool ok = true;

	if (first < 0 || (!nr_patterns && first == argc))
		return COMMAND_USAGE;
	if (!nr_patterns)
		patterns[nr_patterns++] = argv[first++];
	for (uint32_t i = 0; i < nr_patterns && ok; i++)
		ok = grep_add_pattern(&grep, patterns[i]);
	if (ok)
		status = grep_files(&grep, argc - first, argv + first);
	for (uint32_t i = 0; i < grep.nr_regexes; i++)
		regex_destroy(grep.regexes[i]);
	return status;
}

const struct command grep_commands[] = {
	{ "grep", "[-cvinlqowEFHh] [-m N] [-e] PATTERN [FILE]...", "print the lines that match",
	  cmd_grep, 0 },
	{ 0 },
};
