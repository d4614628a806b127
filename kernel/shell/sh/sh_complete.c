/*
 * Completes a word: to a command where one is expected, behind `why` to a function, in definitions
 * of probes to a function, a program, a function of one, or the words of <trace/dyn_events.h>, elsewhere to a path. See sh_complete.h.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <trace/dyn_events.h>
#include <trace/fmt.h>
#include <trace/types.h>
#include "shell/line/line.h"
#include "sh_complete.h"
#include "sh_tree.h"

static size_t complete_find_word(const char *text, size_t len)
{
	while (len && !strchr(" \t;&|<>()=", text[len - 1]))
		len--;
	return len;
}

static bool complete_ends_in_word(const char *text, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	return len >= word_len && memcmp(text + len - word_len, word, word_len) == 0 &&
	       complete_find_word(text, len) == len - word_len;
}

/* Is a command expected behind the first `len` bytes? */
static bool complete_is_command_place(const char *text, size_t len)
{
	static const char *const openers[] = { "if", "then", "else", "elif", "while", "until",
					       "do", "time", "!",    "{",    "help" };

	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (!len || strchr(";&|(", text[len - 1]))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		if (complete_ends_in_word(text, len, openers[i]))
			return true;
	}
	return false;
}

static void complete_add_commands(const char *word, size_t len, struct line_matches *out)
{
	const struct command *command;

	for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
		if (strncmp(command->name, word, len) == 0)
			sh_fields_add(&out->found, &out->arena, command->name,
				      strlen(command->name));
	}
}

/* Add entry `name` of the directory `dir`, which is written as typed, with its slash. */
static TRACE_NOINLINE void complete_add_path(const struct shell *sh, const char *dir,
					     const char *name, struct line_matches *out)
{
	char path[VFS_PATH_MAX + 1];
	struct vfs_stat stat;

	trace_scnprintf(path, sizeof(path) - 1, "%s%s", dir, name);
	if (vfs_stat(sh->cwd, path, &stat))
		return;
	if (stat.type == VFS_DIRECTORY)
		strlcat(path, "/", sizeof(path));
	sh_fields_add(&out->found, &out->arena, path, strlen(path));
}

static void complete_add_paths(const struct shell *sh, const char *word, size_t len,
			       struct line_matches *out)
{
	char dir[VFS_PATH_MAX];
	char name[VFS_NAME_MAX];
	size_t dir_len = len;

	while (dir_len && word[dir_len - 1] != '/')
		dir_len--;
	if (dir_len >= VFS_PATH_MAX)
		return;
	strlcpy(dir, word, dir_len + 1);
	out->shown_from = dir_len;
	for (uint32_t i = 0; !vfs_entry(sh->cwd, dir_len ? dir : ".", i, name); i++) {
		if (strncmp(name, word + dir_len, len - dir_len) != 0)
			continue;
		if (name[0] == '.' && len == dir_len)
			continue;
		complete_add_path(sh, dir, name, out);
	}
}

/* Are the words behind the last command the names of functions? */
static bool complete_is_function_place(const char *text, size_t len)
{
	while (len && !strchr(";&|(", text[len - 1]))
		len--;
	while (text[len] == ' ')
		len++;
	return strncmp(text + len, "why ", 4) == 0;
}

/*
 * Add the names of functions that begin with the word, and the prototype of an only one. An empty
 * word has no matches: there would be too many.
 */
static void complete_add_functions(const char *word, size_t len, struct line_matches *out)
{
	char name[KSYM_NAME_LEN];
	uintptr_t addr;

	for (uint32_t i = 0; len && i < symbols_count(); i++) {
		symbols_get(i, name, &addr);
		if (strncmp(name, word, len) == 0)
			sh_fields_add(&out->found, &out->arena, name, strlen(name));
	}
	if (out->found.nr == 1)
		trace_function_prototype(out->found.first->text, out->note, sizeof(out->note));
}

/* The quotation that is open behind the `len` bytes; NULL: none is. */
static const char *complete_open_quote(const char *text, size_t len)
{
	const char *open = NULL;

	for (size_t i = 0; i < len; i++) {
		if (open && text[i] == open[-1])
			open = NULL;
		else if (!open && (text[i] == '\'' || text[i] == '"'))
			open = text + i + 1;
	}
	return open;
}

/*
 * The text behind `echo `, if that is the last command and has no character with a meaning to the
 * shell.
 */
static const char *complete_behind_echo(const char *text, const char *end)
{
	const char *at = end;

	while (at > text && !strchr(";&|<>()$'\"", at[-1]))
		at--;
	if (at > text && !strchr(";&|(", at[-1]))
		return NULL;
	while (at < end && *at == ' ')
		at++;
	return end - at > 5 && strncmp(at, "echo ", 5) == 0 ? at + 5 : NULL;
}

/*
 * The beginning of the definition of a probe, such as 'p:event function argument, that ends at
 * `end`; NULL if there is none. Without a quotation mark it has to have a name.
 */
static const char *complete_find_probe(const char *text, const char *end)
{
	const char *quoted = complete_open_quote(text, (size_t)(end - text));
	const char *start = quoted ? quoted : complete_behind_echo(text, end), *at = start;

	if (!at || at == end || !strchr("prftew", *at))
		return NULL;
	at++;
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	if (at == end)
		return NULL;
	return *at == ':' || (quoted && *at == ' ') ? start : NULL;
}

/*
 * The function of a probe, if its definition ends with that name or a beginning of it; otherwise
 * NULL.
 */
static const char *complete_find_function(const char *probe, const char *end)
{
	const char *at = memchr(probe, ' ', (size_t)(end - probe));

	if (!at || !strchr("prf", *probe))
		return NULL;
	while (at < end && *at == ' ')
		at++;
	return memchr(at, ' ', (size_t)(end - at)) ? NULL : at;
}

struct complete_definition {
	struct line_matches *out;
	size_t start; /* of it, in the line of the shell */
};

/* A symbol may be in two tables of a file. */
static bool complete_has_word(const struct line_matches *out, const char *text)
{
	const struct sh_word *word = out->found.first;

	while (word && strcmp(word->text, text) != 0)
		word = word->next;
	return word;
}

static void complete_add_word(const struct trace_dyn_event_word *word, void *arg)
{
	const struct complete_definition *to = arg;
	struct line_matches *out = to->out;
	const char *shown = *word->hint ? word->hint : word->text;

	if (complete_has_word(out, word->text))
		return;
	out->word_start = to->start + word->from;
	out->goes_on = word->goes_on;
	sh_fields_add(&out->found, &out->arena, word->text, strlen(word->text));
	sh_fields_add(&out->shown, &out->arena, shown, strlen(shown));
	strlcpy(out->note, word->hint, sizeof(out->note));
}

static bool complete_is_path(const char *word)
{
	return *word == '/' || strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0;
}

/* The line of an event, which begins at `start` in the line of the shell. */
static void complete_event(const struct shell *sh, const char *line, size_t start,
			   struct line_matches *out)
{
	const struct complete_definition to = { .out = out, .start = start };
	const struct shell *outer = current_thread()->shell;

	current_thread()->shell = sh; /* for relative paths */
	trace_dyn_event_complete(line, complete_add_word, (void *)(uintptr_t)&to);
	current_thread()->shell = outer;
}

/* The place of a probe: a path, or a function of the kernel. */
static void complete_place(const struct shell *sh, const char *place, const char *end,
			   struct line_matches *out)
{
	if (!complete_is_path(place)) {
		complete_add_functions(place, (size_t)(end - place), out);
		return;
	}
	out->goes_on = true; /* a colon, or a name of the directory */
	complete_add_paths(sh, place, (size_t)(end - place), out);
}

/* False: the text is no definition of a probe. */
static bool complete_probe(const struct shell *sh, const char *text, size_t len,
			   struct line_matches *out)
{
	const char *end = text + len, *probe = complete_find_probe(text, end), *place, *line;

	if (!probe)
		return false;
	place = complete_find_function(probe, end);
	if (place && !(complete_is_path(place) && memchr(place, ':', (size_t)(end - place)))) {
		out->word_start = (size_t)(place - text);
		complete_place(sh, place, end, out);
		return true;
	}
	line = sh_copy(&out->arena, probe, (size_t)(end - probe));
	if (line)
		complete_event(sh, line, (size_t)(probe - text), out);
	return true;
}

/* Behind `why`: a function, or the path of a program, of which a function is behind a colon. */
static void complete_why(const struct shell *sh, const char *word, size_t len,
			 struct line_matches *out)
{
	static const char probe[] = "p ";
	const size_t skip = sizeof(probe) - 1;
	char *line;

	if (!memchr(word, '/', len)) {
		complete_add_functions(word, len, out);
	} else if (!memchr(word, ':', len)) {
		complete_add_paths(sh, word, len, out);
	} else if ((line = sh_alloc(&out->arena, skip + len + 1))) {
		memcpy(line, probe, skip);
		memcpy(line + skip, word, len);
		complete_event(sh, line, out->word_start - skip, out);
	}
}

void sh_complete(void *arg, const char *text, size_t len, struct line_matches *out)
{
	size_t start = complete_find_word(text, len);
	const char *word = text + start;

	if (complete_probe(arg, text, len, out))
		return;
	out->word_start = start;
	if (complete_is_command_place(text, start) && !memchr(word, '/', len - start))
		complete_add_commands(word, len - start, out);
	else if (complete_is_function_place(text, start))
		complete_why(arg, word, len - start, out);
	else
		complete_add_paths(arg, word, len - start, out);
}
