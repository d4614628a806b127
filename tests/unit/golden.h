/*
 * Transcripts of tests/golden: what was typed to Linux is typed to the fake machine, and answered
 * the same. golden_run() carries out `cat FILE...` and `echo TEXT > FILE`, several of them with `;`
 * between; golden_type() one `echo` or `true`, with an error when that of Linux was another one.
 * To be included by one test file, after tracefs.h.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "tracefs.h"

#define GOLDEN_MAX (1 << 17)

struct golden {
	char text[GOLDEN_MAX];
	char *next;
	unsigned int nr; /* of the command that golden_next() has returned, from 1 */
	char *command, *answer;
};

/* Write `to` for each `from` in a text of at most `size` bytes. */
HELPER void golden_replace(char *text, size_t size, const char *from, const char *to)
{
	size_t from_len = strlen(from), to_len = strlen(to);

	for (char *at = text; (at = strstr(at, from)); at += to_len) {
		assert_true(strlen(text) + to_len < size);
		memmove(at + to_len, at + from_len, strlen(at + from_len) + 1);
		memcpy(at, to, to_len);
	}
}

/*
 * Read a sample, and write `to` for each `from` of `names`, which ends with NULLs. NULL: the names of
 * Linux's guest are ours, too.
 */
HELPER void golden_load(struct golden *golden, const char *name, const char *const (*names)[2])
{
	char path[100];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "tests/golden/linux-6.1/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	len = fread(golden->text, 1, GOLDEN_MAX - 1, file);
	assert_int_equal(fclose(file), 0);
	assert_true(len < GOLDEN_MAX - 1);
	golden->text[len] = '\0';
	for (; names && (*names)[0]; names++)
		golden_replace(golden->text, GOLDEN_MAX, (*names)[0], (*names)[1]);
	golden->next = golden->text;
	golden->nr = 0;
}

/* The next command and its answer, which is empty or ends with a newline. */
HELPER bool golden_next(struct golden *golden)
{
	static char answer[GOLDEN_MAX];
	char *end;

	if (!golden->next || !*golden->next)
		return false;
	assert_memory_equal(golden->next, "$ ", 2);
	golden->command = golden->next + 2;
	end = strchr(golden->command, '\n');
	*end = '\0';
	golden->next = end + 1;
	end = strncmp(golden->next, "$ ", 2) == 0 ? golden->next : strstr(golden->next, "\n$ ");
	end = end && end != golden->next ? end + 1 : end;
	snprintf(answer, sizeof(answer), "%.*s",
		 end ? (int)(end - golden->next) : (int)strlen(golden->next), golden->next);
	golden->next = end;
	golden->answer = answer;
	golden->nr++;
	return true;
}

static const struct {
	int err;
	const char *text;
} golden_errors[] = {
	{ -EINVAL, "Invalid argument" },
	{ -EEXIST, "File exists" },
	{ -ENODEV, "No such device" },
	{ -ERANGE, "Numerical result out of range" },
	{ -EDOM, "Numerical argument out of domain" },
	{ -ENOENT, "No such file or directory" },
	{ -ENOMEM, "Cannot allocate memory" },
	{ -EBUSY, "Device or resource busy" },
	{ -E2BIG, "Argument list too long" },
	{ -EILSEQ, "Invalid or incomplete multibyte or wide character" },
};
#define GOLDEN_NR_ERRORS (sizeof(golden_errors) / sizeof(golden_errors[0]))

/* The message of a shell for the error of a write, or "". */
HELPER const char *golden_error(int err)
{
	static char said[80];

	for (size_t i = 0; err && i < GOLDEN_NR_ERRORS; i++) {
		if (golden_errors[i].err != err)
			continue;
		snprintf(said, sizeof(said), "sh: write error: %s\n", golden_errors[i].text);
		return said;
	}
	if (err)
		fail_msg("no text for %d", err);
	return "";
}

/* The error that the shell of Linux's guest had with a write, or 0. */
HELPER int golden_errno(const char *answer)
{
	size_t len = strcspn(answer, "\n");

	if (strncmp(answer, "sh: ", 4) != 0 && strncmp(answer, "/section.sh: ", 13) != 0)
		return 0;
	for (size_t i = 0; i < GOLDEN_NR_ERRORS; i++) {
		size_t text = strlen(golden_errors[i].text);

		if (len > text && strncmp(answer + len - text, golden_errors[i].text, text) == 0)
			return golden_errors[i].err;
	}
	fail_msg("no number for %s", answer);
	return 0;
}

/* `echo 'TEXT' > FILE`, `echo WORD >> FILE`, `true > FILE`: what is written, and where to. */
struct golden_write {
	char text[4096];
	const char *path;
	unsigned int flags; /* of put() */
	bool is_empty;	    /* `true` writes nothing */
};

/* Is `command` one of those? */
HELPER bool golden_take(const char *command, struct golden_write *out)
{
	const char *text = command + 5, *end;
	char quote = ' ';

	*out = (struct golden_write){ .path = strrchr(command, ' ') + 1, .flags = TRACE_FS_TRUNC };
	out->is_empty = strncmp(command, "true > ", 7) == 0;
	if (out->is_empty)
		return true;
	if (strncmp(command, "echo ", 5) != 0)
		return false;
	if (*text == '\'' || *text == '"')
		quote = *text++;
	/* The text to be written has no `>` behind its last quote. */
	end = quote == ' ' ? strchr(text, quote) : strrchr(text, quote);
	assert_non_null(end);
	snprintf(out->text, sizeof(out->text), "%.*s", (int)(end - text), text);
	if (strncmp(end + (quote != ' '), " >> ", 4) == 0)
		out->flags = TRACE_FS_APPEND;
	return true;
}

/* Carry a command out that golden_take() knows. Its error has to be that of Linux. */
HELPER void golden_type(const struct golden *golden, const struct golden_write *typed)
{
	int err;

	assert_int_equal(echo("", "error_log"), 0);
	err = typed->is_empty ? put("", 0, typed->path, typed->flags)
			      : put_line(typed->text, typed->path, typed->flags);
	if (err != golden_errno(golden->answer))
		fail_msg("%s: %d, Linux says %s\nerror_log: %s", golden->command, err,
			 golden->answer, cat("error_log"));
}

/* The output of `cat` for the files in `paths`, with blanks between; good until the next call. */
HELPER const char *golden_cat(const char *paths)
{
	static char said[GOLDEN_MAX], copy[512];
	char *path, *save;
	size_t len = 0;

	said[0] = '\0';
	snprintf(copy, sizeof(copy), "%s", paths);
	for (path = strtok_r(copy, " ", &save); path; path = strtok_r(NULL, " ", &save))
		len += (size_t)snprintf(said + len, sizeof(said) - len, "%s", cat(path));
	assert_true(len < sizeof(said));
	return said;
}

HELPER void golden_echo(char *words, char *said, size_t size)
{
	char quote = *words == '\'' || *words == '"' ? *words : ' ';
	char *text = words + (quote != ' '), *end = strchr(text, quote);
	char *redirection = strchr(end, '>'), *path = strrchr(redirection, ' ') + 1;
	int err;

	*end = '\0';
	err = redirection[1] == '>' ? echo_append(text, path) : echo(text, path);
	snprintf(said, size, "%s", golden_error(err));
}

/* Lines of `format` without what depends on the layout, which is ours. */
HELPER void golden_without_layout(char *text)
{
	char *to = text;

	for (char *at = text; *at; at++) {
		if (strncmp(at, "ID: ", 4) == 0 || strncmp(at, "\toffset:", 8) == 0)
			at += strcspn(at, at[0] == 'I' ? "\n" : ";");
		else if (strncmp(at, "\tsize:", 6) == 0)
			at += strcspn(at, ";");
		else
			*to++ = *at;
	}
	*to = '\0';
}

/* Carry the command out. What was said to it; NULL for a command of another kind. */
HELPER const char *golden_run(char *command)
{
	static char said[GOLDEN_MAX];
	size_t len = 0;

	if (strchr(command, '|'))
		return NULL;
	said[0] = '\0';
	for (char *rest; command; command = rest) {
		rest = strchr(command, ';');
		if (rest)
			*rest++ = '\0';
		command += strspn(command, " ");
		if (strncmp(command, "echo ", 5) == 0) {
			golden_echo(command + 5, said + len, sizeof(said) - len);
		} else if (strncmp(command, "cat ", 4) == 0) {
			snprintf(said + len, sizeof(said) - len, "%s", golden_cat(command + 4));
		} else {
			return NULL;
		}
		len = strlen(said);
	}
	return said;
}

#endif
