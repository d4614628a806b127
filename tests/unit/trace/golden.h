/*
 * Transcripts of tests/golden: what was typed to Linux is typed to the fake machine, and answered
 * the same. Commands are `cat FILE...` and `echo TEXT > FILE`, several of them with `;` between;
 * others are left out. To be included by one test file, after tracefs.h.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "tracefs.h"

#define GOLDEN_MAX 65536

struct golden {
	char text[GOLDEN_MAX];
	char *next;
	unsigned int nr; /* of the command that golden_next() has returned, from 1 */
	char *command, *answer;
};

/* Read a sample, and write `to` for each `from` of `names`, which ends with NULLs. */
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
	golden->text[len] = '\0';
	for (; (*names)[0]; names++) {
		size_t from = strlen((*names)[0]), to = strlen((*names)[1]);
		char *at = golden->text;

		while ((at = strstr(at, (*names)[0]))) {
			assert_true(strlen(golden->text) + to < GOLDEN_MAX);
			memmove(at + to, at + from, strlen(at + from) + 1);
			memcpy(at, (*names)[1], to);
			at += to;
		}
	}
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

/* What a shell prints for the error of a write, or "". */
HELPER const char *golden_error(int err)
{
	switch (err) {
	case 0:
		return "";
	case -EINVAL:
		return "sh: write error: Invalid argument\n";
	case -EEXIST:
		return "sh: write error: File exists\n";
	case -ENODEV:
		return "sh: write error: No such device\n";
	case -ERANGE:
		return "sh: write error: Numerical result out of range\n";
	case -ENOENT:
		return "sh: write error: No such file or directory\n";
	case -EBUSY:
		return "sh: write error: Device or resource busy\n";
	default:
		fail_msg("no text for %d", err);
		return "";
	}
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

/* Carry the command out. What was said to it; NULL for a command of another kind. */
HELPER const char *golden_run(char *command)
{
	static char said[GOLDEN_MAX];
	size_t len = 0;

	if (strchr(command, '|'))
		return NULL;
	said[0] = '\0';
	for (char *rest, *word; command; command = rest) {
		rest = strchr(command, ';');
		if (rest)
			*rest++ = '\0';
		command += strspn(command, " ");
		if (strncmp(command, "echo ", 5) == 0) {
			golden_echo(command + 5, said + len, sizeof(said) - len);
		} else if (strncmp(command, "cat ", 4) == 0) {
			for (word = strtok(command + 4, " "); word; word = strtok(NULL, " "))
				len += (size_t)snprintf(said + len, sizeof(said) - len, "%s",
							cat(word));
		} else {
			return NULL;
		}
		len = strlen(said);
	}
	return said;
}

#endif
