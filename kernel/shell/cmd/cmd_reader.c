/*
 * Reading lines. See cmd_reader.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "cmd_reader.h"

#define LINE_START_BYTES 256u

bool reader_open(struct reader *reader, struct command_env *env, int nr_paths, char **paths)
{
	static char standard_input[] = "-";
	static char *const only_input[] = { standard_input };

	*reader = (struct reader){ .env = env, .nr_paths = nr_paths, .paths = paths };
	if (!nr_paths) {
		reader->nr_paths = 1;
		reader->paths = (char **)(uintptr_t)only_input;
	}
	reader->buf = kmalloc(READER_BYTES);
	reader->line = kmalloc(LINE_START_BYTES);
	reader->line_size = LINE_START_BYTES;
	if (reader->buf && reader->line)
		return true;
	command_error(env, "%s", command_strerror(ENOMEM));
	reader_close(reader);
	return false;
}

void reader_close(struct reader *reader)
{
	fput(reader->file);
	reader->file = NULL;
	kfree(reader->buf);
	kfree(reader->line);
}

bool reader_next_file(struct reader *reader)
{
	fput(reader->file);
	reader->file = NULL;
	reader->pos = 0;
	reader->len = 0;
	while (reader->nr_paths && !reader->file && !command_stopped(reader->env)) {
		reader->path = *reader->paths++;
		reader->nr_paths--;
		reader->file = command_open(reader->env, reader->path);
		reader->nr_failed += !reader->file;
	}
	return reader->file;
}

static void reader_fail(struct reader *reader, int err)
{
	command_perror(reader->env, reader->path, err);
	reader->nr_failed++;
}

/* Read on when `buf` is used up. False at the end of the file, and on failure. */
static bool reader_fill(struct reader *reader)
{
	ssize_t got;

	if (reader->pos < reader->len)
		return true;
	if (!reader->file || command_stopped(reader->env))
		return false;
	got = file_read(reader->file, reader->buf, READER_BYTES);
	reader->pos = 0;
	reader->len = got > 0 ? (size_t)got : 0;
	if (got < 0 && got != -EINTR)
		reader_fail(reader, (int)got);
	return got > 0;
}

size_t reader_chunk(struct reader *reader, char **out_bytes)
{
	size_t len;

	if (!reader_fill(reader))
		return 0;
	*out_bytes = reader->buf + reader->pos;
	len = reader->len - reader->pos;
	reader->pos = reader->len;
	return len;
}

/*
 * Make room in `line` for `len` bytes and a NUL, keeping the first `used`. 0; -ENOMEM; -E2BIG when
 * that is longer than a line may be.
 */
static int reader_make_room(struct reader *reader, size_t used, size_t len)
{
	size_t size = reader->line_size;
	char *bigger;

	while (size < len + 1)
		size *= 2;
	if (size == reader->line_size)
		return 0;
	if (size > READER_LINE_MAX)
		return -E2BIG;
	bigger = kmalloc(size);
	if (!bigger)
		return -ENOMEM;
	memcpy(bigger, reader->line, used);
	kfree(reader->line);
	reader->line = bigger;
	reader->line_size = size;
	return 0;
}

size_t reader_line(struct reader *reader, char **out_line)
{
	size_t len = 0;
	bool has_newline = false;
	int err;

	while (!has_newline && reader_fill(reader)) {
		const char *start = reader->buf + reader->pos;
		size_t rest = reader->len - reader->pos;
		const char *newline = memchr(start, '\n', rest);
		size_t part = newline ? (size_t)(newline - start) + 1 : rest;

		err = reader_make_room(reader, len, len + part);
		if (err == -ENOMEM) {
			reader_fail(reader, err);
			len = 0; /* a piece of a line would be taken for all of it */
		}
		if (err)
			break; /* -E2BIG: the next call gives the rest */
		memcpy(reader->line + len, start, part);
		len += part;
		reader->pos += part;
		has_newline = newline != NULL;
	}
	reader->line[len] = '\0';
	*out_line = reader->line;
	return len;
}

size_t reader_any_line(struct reader *reader, char **out_line)
{
	size_t len = reader->file ? reader_line(reader, out_line) : 0;

	while (!len && reader_next_file(reader))
		len = reader_line(reader, out_line);
	return len;
}
