/*
 * Filters that pass lines on: cat, head, tail, tee, wc.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "cmd_reader.h"
#include "command_tables.h"

/* Flushes after each read: the text of trace_pipe is to be seen at once, and it has no end. */
static int cmd_cat(struct command_env *env, int argc, char **argv)
{
	struct reader reader;
	char *bytes;
	size_t len;

	if (argc > 1 && strcmp(argv[1], "-u") == 0) {
		argc--;
		argv++;
	}
	if (!reader_open(&reader, env, argc - 1, argv + 1))
		return 1;
	while (reader_next_file(&reader)) {
		while ((len = reader_chunk(&reader, &bytes)) != 0) {
			command_write(env, bytes, len);
			command_flush(env);
		}
	}
	reader_close(&reader);
	return reader.nr_failed != 0;
}

/* The amount of text that head and tail take. */
struct amount {
	uint64_t nr;
	bool is_bytes;
	bool from_start; /* tail -n +N */
};

/* Parse `-n 20`, `-n20`, `-20` or `-c 5`. Returns how many arguments that is, -1 for a mistake. */
static int cmd_parse_amount(int argc, char **argv, struct amount *amount)
{
	const char *word = argv[1];
	const char *number = word + 2;
	int used = 1;

	if (argc < 2 || word[0] != '-' || !word[1])
		return 0;
	if (word[1] != 'n' && word[1] != 'c') {
		number = word + 1;
	} else if (!*number) {
		if (argc < 3)
			return -1;
		number = argv[2];
		used = 2;
	}
	amount->is_bytes = word[1] == 'c';
	amount->from_start = *number == '+';
	return command_parse_u64(number + (*number == '+'), &amount->nr) ? used : -1;
}

/* With several files, print a heading above each, as GNU's and busybox' head and tail do. */
static void cmd_print_heading(struct reader *reader, int nr_files, bool is_first)
{
	if (nr_files > 1)
		command_printf(reader->env, "%s==> %s <==\n", is_first ? "" : "\n", reader->path);
}

static void cmd_head_bytes(struct reader *reader, uint64_t nr)
{
	char *bytes;
	size_t len;

	while (nr && (len = reader_chunk(reader, &bytes)) != 0) {
		if (len > nr)
			len = nr;
		command_write(reader->env, bytes, len);
		nr -= len;
	}
}

static void cmd_head_lines(struct reader *reader, uint64_t nr)
{
	char *line;
	size_t len;

	while (nr-- && (len = reader_line(reader, &line)) != 0)
		command_write(reader->env, line, len);
}

static int cmd_head(struct command_env *env, int argc, char **argv)
{
	struct amount amount = { .nr = 10 };
	int used = cmd_parse_amount(argc, argv, &amount);
	struct reader reader;
	bool is_first = true;

	if (used < 0 || amount.from_start)
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, argc - 1 - used, argv + 1 + used))
		return 1;
	while (reader_next_file(&reader)) {
		cmd_print_heading(&reader, argc - 1 - used, is_first);
		is_first = false;
		if (amount.is_bytes)
			cmd_head_bytes(&reader, amount.nr);
		else
			cmd_head_lines(&reader, amount.nr);
	}
	reader_close(&reader);
	return reader.nr_failed != 0;
}

struct kept_line {
	struct kept_line *next;
	size_t len;
	char text[];
};

/* The last lines seen, oldest first. */
struct kept_lines {
	struct kept_line *first;
	struct kept_line **tail;
	uint64_t nr;
};

static void cmd_drop_first(struct kept_lines *kept)
{
	struct kept_line *first = kept->first;

	kept->first = first->next;
	if (!kept->first)
		kept->tail = &kept->first;
	kept->nr--;
	kfree(first);
}

static bool cmd_keep_line(struct kept_lines *kept, const char *text, size_t len)
{
	struct kept_line *line = kmalloc(sizeof(*line) + len);

	if (!line)
		return false;
	line->next = NULL;
	line->len = len;
	memcpy(line->text, text, len);
	*kept->tail = line;
	kept->tail = &line->next;
	kept->nr++;
	return true;
}

static void cmd_tail_lines(struct reader *reader, uint64_t nr)
{
	struct kept_lines kept = { .tail = &kept.first };
	char *line;
	size_t len;

	while ((len = reader_line(reader, &line)) != 0) {
		if (nr && !cmd_keep_line(&kept, line, len)) {
			command_error(reader->env, "%s", command_strerror(ENOMEM));
			break;
		}
		if (kept.nr > nr)
			cmd_drop_first(&kept);
	}
	while (kept.first) {
		command_write(reader->env, kept.first->text, kept.first->len);
		cmd_drop_first(&kept);
	}
}

/* Print everything behind the first `nr` lines or bytes. */
static void cmd_tail_from(struct reader *reader, uint64_t nr, bool is_bytes)
{
	char *text;
	size_t len;

	while (nr && !is_bytes && reader_line(reader, &text))
		nr--;
	while ((len = reader_chunk(reader, &text)) != 0) {
		size_t skip = nr < len ? nr : len;

		command_write(reader->env, text + skip, len - skip);
		nr -= skip;
	}
}

static int cmd_tail(struct command_env *env, int argc, char **argv)
{
	struct amount amount = { .nr = 10 };
	int used = cmd_parse_amount(argc, argv, &amount);
	struct reader reader;
	bool is_first = true;

	if (used < 0 || (amount.is_bytes && !amount.from_start))
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, argc - 1 - used, argv + 1 + used))
		return 1;
	while (reader_next_file(&reader)) {
		cmd_print_heading(&reader, argc - 1 - used, is_first);
		is_first = false;
		if (amount.from_start)
			cmd_tail_from(&reader, amount.nr ? amount.nr - 1 : 0, amount.is_bytes);
		else
			cmd_tail_lines(&reader, amount.nr);
	}
	reader_close(&reader);
	return reader.nr_failed != 0;
}

#define TEE_FILES_MAX 8

struct tee {
	struct command_env *env;
	int nr;
	char **paths;
	struct file *files[TEE_FILES_MAX]; /* NULL: could not be opened */
	int nr_failed;
};

static void cmd_tee_open(struct tee *tee, uint32_t flags)
{
	for (int i = 0; i < tee->nr; i++) {
		int err = vfs_open(command_cwd(tee->env), tee->paths[i], flags, &tee->files[i]);

		if (!err)
			continue;
		command_perror(tee->env, tee->paths[i], err);
		tee->files[i] = NULL;
		tee->nr_failed++;
	}
}

static void cmd_tee_write(struct tee *tee, const char *bytes, size_t len)
{
	for (int i = 0; i < tee->nr; i++) {
		ssize_t put = tee->files[i] ? file_write(tee->files[i], bytes, len) : 0;

		if (put < 0)
			command_perror(tee->env, tee->paths[i], (int)put);
		tee->nr_failed += put < 0;
	}
	command_write(tee->env, bytes, len);
	command_flush(tee->env);
}

static int cmd_tee(struct command_env *env, int argc, char **argv)
{
	bool appends = argc > 1 && strcmp(argv[1], "-a") == 0;
	struct tee tee = { .env = env, .nr = argc - 1 - appends, .paths = argv + 1 + appends };
	struct reader reader;
	char *bytes;
	size_t len;

	if (tee.nr > TEE_FILES_MAX)
		return COMMAND_USAGE;
	if (!reader_open(&reader, env, 0, NULL))
		return 1;
	cmd_tee_open(&tee, VFS_WRITE | VFS_CREATE | (appends ? VFS_APPEND : VFS_TRUNCATE));
	reader_next_file(&reader);
	while ((len = reader_chunk(&reader, &bytes)) != 0)
		cmd_tee_write(&tee, bytes, len);
	for (int i = 0; i < tee.nr; i++)
		fput(tee.files[i]);
	reader_close(&reader);
	return tee.nr_failed != 0;
}

struct counts {
	uint64_t lines;
	uint64_t words;
	uint64_t bytes;
};

static struct counts cmd_count_file(struct reader *reader)
{
	struct counts counts = { 0 };
	bool in_word = false;
	char *bytes;
	size_t len;

	while ((len = reader_chunk(reader, &bytes)) != 0) {
		for (size_t i = 0; i < len; i++) {
			bool is_blank = strchr(" \t\n\r\v\f", bytes[i]) && bytes[i];

			counts.lines += bytes[i] == '\n';
			counts.words += !is_blank && !in_word;
			in_word = !is_blank;
		}
		counts.bytes += len;
	}
	return counts;
}

/* A single number is printed as it is, several in columns. */
static void cmd_print_counts(struct command_env *env, const struct counts *counts,
			     const char *which, const char *path)
{
	const char *format = strlen(which) > 1 ? "%9lu " : "%lu ";
	char line[64] = "";
	size_t len = 0;

	for (const char *c = "lwc"; *c; c++) {
		uint64_t value = *c == 'l'   ? counts->lines
				 : *c == 'w' ? counts->words
					     : counts->bytes;

		if (strchr(which, *c))
			len += trace_scnprintf(line + len, sizeof(line) - len, format, value);
	}
	line[len ? len - 1 : 0] = '\0';
	command_printf(env, "%s%s%s\n", line, strcmp(path, "-") ? " " : "",
		       strcmp(path, "-") ? path : "");
}

static int cmd_wc(struct command_env *env, int argc, char **argv)
{
	struct counts total = { 0 };
	const char *which = "lwc";
	struct reader reader;
	int first = 1;

	if (argc > 1 && argv[1][0] == '-' && argv[1][1]) {
		which = argv[1] + 1;
		first = 2;
	}
	for (const char *c = which; *c; c++) {
		if (!strchr("lwc", *c))
			return COMMAND_USAGE;
	}
	if (!reader_open(&reader, env, argc - first, argv + first))
		return 1;
	while (reader_next_file(&reader)) {
		struct counts counts = cmd_count_file(&reader);

		cmd_print_counts(env, &counts, which, reader.path);
		total.lines += counts.lines;
		total.words += counts.words;
		total.bytes += counts.bytes;
	}
	if (argc - first > 1)
		cmd_print_counts(env, &total, which, "total");
	reader_close(&reader);
	return reader.nr_failed != 0;
}

const struct command filter_commands[] = {
	{ "cat", "[FILE]...", "print files", cmd_cat, 0 },
	{ "head", "[-n N | -N | -c N] [FILE]...", "print the first lines", cmd_head, 0 },
	{ "tail", "[-n N | -N | -n +N] [FILE]...", "print the last lines", cmd_tail, 0 },
	{ "tee", "[-a] [FILE]...", "copy input to files and output", cmd_tee, 0 },
	{ "wc", "[-lwc] [FILE]...", "count lines, words and bytes", cmd_wc, 0 },
	{ 0 },
};
