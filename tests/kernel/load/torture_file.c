/* Files of tracefs, as a shell would write and read them: see torture.h. */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "torture.h"

#define ROOT "/sys/kernel/tracing"

#define NR_LAST	   24u
#define LAST_BYTES 96
#define LINE_BYTES 256 /* longest */

static char last[NR_LAST][LAST_BYTES]; /* what was written last */
static uint32_t nr_writes;

void torture_last_writes(struct command_env *env)
{
	uint32_t first = nr_writes > NR_LAST ? nr_writes - NR_LAST : 0;

	command_error(env, "the last writes were");
	for (uint32_t i = first; i < nr_writes; i++)
		command_error(env, "%s", last[i % NR_LAST]);
}

static void torture_file_remember(const char *path, const char *text)
{
	const char *end = strchr(text, '\n');

	trace_snprintf(last[nr_writes++ % NR_LAST], LAST_BYTES, "%s: %.*s", path,
		       end ? (int)(end - text) : 0, text);
}

/* A write may take less than all: the rest is another one. */
static int torture_file_write_all(struct file *file, const char *text)
{
	ssize_t nr = 0;

	for (; *text && nr >= 0; text += nr > 0 ? nr : 0)
		nr = file_write(file, text, strlen(text));
	return nr < 0 ? (int)nr : 0;
}

int torture_write(const char *path, const char *text, uint32_t vfs_flags)
{
	struct file *file;
	int close_err, err = vfs_open(ROOT, path, VFS_WRITE | vfs_flags, &file);

	torture_file_remember(path, text);
	if (err)
		return err;
	err = torture_file_write_all(file, text);
	close_err = fput(file);
	return err ? err : close_err;
}

/* Reads until the text is full, the file ends, or `nr_reads` were made. */
static int torture_file_read(const char *path, char *out_text, size_t size, uint64_t nr_reads)
{
	struct file *file;
	int err = vfs_open(ROOT, path, VFS_READ, &file);
	size_t len = 0;
	ssize_t nr = 1;

	out_text[0] = 0;
	if (err)
		return err;
	for (uint64_t i = 0; i < nr_reads && nr > 0 && len < size - 1; i++) {
		nr = file_read(file, out_text + len, size - 1 - len);
		len += nr > 0 ? (size_t)nr : 0;
	}
	out_text[len] = 0;
	err = fput(file);
	return nr < 0 ? (int)nr : err;
}

int torture_read(const char *path, char *out_text, size_t size)
{
	return torture_file_read(path, out_text, size, UINT64_MAX);
}

int torture_read_once(const char *path, char *out_text, size_t size)
{
	return torture_file_read(path, out_text, size, 1);
}

/* Lines of what was read so far; what is left of the last one moves to the start. */
static size_t torture_file_take_lines(char *text, size_t len, torture_line_fn fn, void *arg)
{
	char *line = text, *end;

	text[len] = 0;
	while ((end = strchr(line, '\n'))) {
		*end = 0;
		fn(line, arg);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len < LINE_BYTES ? len : 0; /* no such lines */
}

int torture_each_line(const char *path, torture_line_fn fn, void *arg)
{
	char text[2 * LINE_BYTES + 1];
	struct file *file;
	int close_err, err = vfs_open(ROOT, path, VFS_READ, &file);
	size_t len = 0;
	ssize_t nr;

	if (err)
		return err;
	while ((nr = file_read(file, text + len, LINE_BYTES)) > 0)
		len = torture_file_take_lines(text, len + (size_t)nr, fn, arg);
	close_err = fput(file);
	return nr < 0 ? (int)nr : close_err;
}
