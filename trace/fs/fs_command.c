/*
 * A command line given to tracefs, for hosts without a shell: see <trace/fs.h>.
 *
 *   line -> words, and where the output goes -> one of `commands`
 */
#include <trace/fs.h>
#include <trace/platform.h>
#include "fs_file.h"
#include "text/str.h"

#define MAX_WORDS 128u
#define IO_BYTES  4096u

struct session {
	const char *at; /* the part of the line that was not read yet */
	trace_fs_out_fn out;
	void *arg;
	/* The command that is being carried out: */
	size_t nr_words;
	char *words[MAX_WORDS];
	const char *target;		  /* the file behind `>`, or NULL */
	bool is_appended;		  /* it was `>>` */
	char *text_end;			  /* the free part of `text` */
	char text[TRACE_FS_LINE_MAX + 1]; /* the words, unquoted */
	char io[IO_BYTES];
};

/* ---- From a line to words ---- */

static bool ends_command(char c)
{
	return !c || c == ';' || c == '\n' || c == '#';
}

static bool ends_word(char c)
{
	return ends_command(c) || trace_is_space(c) || c == '>';
}

/* Read up to the closing quote; s->at is behind the opening one. -EINVAL when there is none. */
static int read_quoted(struct session *s, char quote)
{
	while (*s->at && *s->at != quote) {
		if (quote == '"' && *s->at == '\\' && (s->at[1] == '"' || s->at[1] == '\\'))
			s->at++;
		*s->text_end++ = *s->at++;
	}
	if (!*s->at)
		return -EINVAL;
	s->at++;
	return 0;
}

/* One word, unquoted, at the end of `text`. -EINVAL: a quote or backslash without its end. */
static int fs_command_read_word(struct session *s, char **out_word)
{
	int err = 0;

	*out_word = s->text_end;
	while (!err && !ends_word(*s->at)) {
		char c = *s->at++;

		if (c == '\'' || c == '"')
			err = read_quoted(s, c);
		else if (c == '\\' && !*s->at)
			err = -EINVAL;
		else
			*s->text_end++ = c == '\\' ? *s->at++ : c;
	}
	*s->text_end++ = '\0';
	return err;
}

static void fs_command_skip_blanks(struct session *s)
{
	while (trace_is_space(*s->at) && *s->at != '\n')
		s->at++;
}

/* Read `> FILE` or `>> FILE`. -EINVAL when there is no file name. */
static int read_target(struct session *s)
{
	char *word;
	int err;

	s->at++;
	s->is_appended = *s->at == '>';
	if (s->is_appended)
		s->at++;
	fs_command_skip_blanks(s);
	if (ends_word(*s->at) || s->target)
		return -EINVAL;
	err = fs_command_read_word(s, &word);
	s->target = word;
	return err;
}

/* Read the words of the command that begins at s->at. 0 or -EINVAL. */
static int read_command(struct session *s)
{
	int err = 0;

	s->nr_words = 0;
	s->target = NULL;
	s->text_end = s->text;
	fs_command_skip_blanks(s);
	while (!err && !ends_command(*s->at)) {
		if (*s->at == '>')
			err = read_target(s);
		else if (s->nr_words == MAX_WORDS)
			err = -EINVAL;
		else
			err = fs_command_read_word(s, &s->words[s->nr_words++]);
		fs_command_skip_blanks(s);
	}
	return err;
}

/* Skip the end of a command: `;`, a newline, or a comment. */
static void skip_end(struct session *s)
{
	if (*s->at == '#') {
		while (*s->at && *s->at != '\n')
			s->at++;
	}
	if (*s->at)
		s->at++;
}

/* ---- Files by their names ---- */

static const char *without_mount_point(const char *path)
{
	static const char *const points[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(points); i++) {
		size_t len = trace_strlen(points[i]);

		if (trace_str_starts(path, points[i]) && (!path[len] || path[len] == '/'))
			return path + len;
	}
	return path;
}

struct trace_node *trace_fs_find(const char *path, size_t len)
{
	struct trace_node *node = trace_fs_root(), *child;
	size_t at = 0, part;

	while (node && at < len) {
		for (part = 0; at + part < len && path[at + part] != '/'; part++)
			;
		if (part && !(part == 1 && path[at] == '.')) {
			child = node->is_dir ? trace_fs_lookup(node, path + at, part) : NULL;
			trace_fs_put(node);
			node = child;
		}
		at += part + 1;
	}
	return node;
}

static int open_path(const char *path, unsigned int flags, struct trace_handle **out_handle)
{
	struct trace_node *node;
	int err;

	path = without_mount_point(path);
	node = trace_fs_find(path, trace_strlen(path));
	if (!node)
		return -ENOENT;
	err = trace_fs_open(node, flags, out_handle);
	trace_fs_put(node);
	return err;
}

/* ---- The commands ---- */

static int cat_file(struct session *s, const char *path)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t got;
	int err = open_path(path, TRACE_FS_READ | TRACE_FS_NONBLOCK, &handle);

	if (err)
		return err;
	while ((got = trace_fs_read(handle, s->io, IO_BYTES, &pos)) > 0)
		s->out(s->arg, s->io, (size_t)got);
	err = trace_fs_close(handle);
	return got < 0 && got != -EAGAIN ? (int)got : err;
}

static int do_cat(struct session *s)
{
	int err = s->nr_words < 2 ? -EINVAL : 0;

	for (size_t i = 1; i < s->nr_words && !err; i++)
		err = cat_file(s, s->words[i]);
	return err;
}

static int do_ls(struct session *s)
{
	const char *path = s->nr_words > 1 ? without_mount_point(s->words[1]) : "";
	struct trace_node *dir = trace_fs_find(path, trace_strlen(path));
	int err = !dir ? -ENOENT : !dir->is_dir ? -ENOTDIR : s->nr_words > 2 ? -EINVAL : 0;

	for (size_t i = 0; !err && !trace_fs_entry(dir, i, s->io, IO_BYTES - 1); i++) {
		size_t len = trace_strlen(s->io);

		s->io[len] = '\n';
		s->out(s->arg, s->io, len + 1);
	}
	if (dir)
		trace_fs_put(dir);
	return err;
}

/* mkdir and rmdir: call `change` with the directory that the path is in, and the last name. */
static int change_dir(struct session *s, int (*change)(struct trace_node *dir, const char *name))
{
	struct trace_node *dir;
	const char *path, *name;
	char *end;
	int err;

	if (s->nr_words != 2)
		return -EINVAL;
	end = s->words[1] + trace_strlen(s->words[1]);
	while (end > s->words[1] && end[-1] == '/')
		*--end = '\0';
	path = without_mount_point(s->words[1]);
	for (name = end; name > path && name[-1] != '/'; name--)
		;
	dir = trace_fs_find(path, (size_t)(name - path));
	if (!dir)
		return -ENOENT;
	err = dir->is_dir ? change(dir, name) : -ENOTDIR;
	trace_fs_put(dir);
	return err;
}

static int do_mkdir(struct session *s)
{
	return change_dir(s, trace_fs_mkdir);
}

static int do_rmdir(struct session *s)
{
	return change_dir(s, trace_fs_rmdir);
}

static int write_target(struct session *s, const char *text, size_t len)
{
	unsigned int flags = TRACE_FS_WRITE | (s->is_appended ? TRACE_FS_APPEND : TRACE_FS_TRUNC);
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t put = 0;
	int err = open_path(s->target, flags, &handle);

	if (err)
		return err;
	while (len && (put = trace_fs_write(handle, text, len, &pos)) > 0) {
		text += put;
		len -= (size_t)put;
	}
	err = trace_fs_close(handle);
	return put < 0 ? (int)put : err;
}

/*
 * The text fits into s->io: words, one blank between them and a newline are shorter than the line.
 */
static int do_echo(struct session *s)
{
	bool has_newline = s->nr_words < 2 || !trace_streq(s->words[1], "-n");
	char *text = s->io;
	size_t len = 0;

	for (size_t i = has_newline ? 1 : 2; i < s->nr_words; i++) {
		size_t part = trace_strlen(s->words[i]);

		memcpy(text + len, s->words[i], part);
		len += part;
		if (i + 1 < s->nr_words)
			text[len++] = ' ';
	}
	if (has_newline)
		text[len++] = '\n';
	if (s->target)
		return write_target(s, text, len);
	s->out(s->arg, text, len);
	return 0;
}

static const struct command {
	const char *name;
	bool takes_target;
	int (*run)(struct session *s);
} fs_commands[] = {
	{ "cat", false, do_cat },     { "echo", true, do_echo },    { "ls", false, do_ls },
	{ "mkdir", false, do_mkdir }, { "rmdir", false, do_rmdir },
};

static int run_command(struct session *s)
{
	if (!s->nr_words)
		return s->target ? -EINVAL : 0;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(fs_commands); i++) {
		if (!trace_streq(fs_commands[i].name, s->words[0]))
			continue;
		return s->target && !fs_commands[i].takes_target ? -EINVAL : fs_commands[i].run(s);
	}
	return -ENOENT;
}

int trace_fs_command(const char *line, trace_fs_out_fn out, void *arg, size_t *out_pos)
{
	const char *begin = line;
	struct session *s;
	int err = 0;

	if (trace_strnlen(line, TRACE_FS_LINE_MAX + 1) > TRACE_FS_LINE_MAX)
		return -E2BIG;
	if (!trace_fs_root())
		return -ENODEV;
	s = trace_plat_alloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->at = line;
	s->out = out;
	s->arg = arg;
	while (!err && *s->at) {
		fs_command_skip_blanks(s);
		begin = s->at;
		err = read_command(s);
		if (!err)
			err = run_command(s);
		skip_end(s);
	}
	if (err && out_pos)
		*out_pos = (size_t)(begin - line);
	trace_plat_free(s, sizeof(*s));
	return err;
}
