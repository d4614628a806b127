/*
 * The first line is an expression, the rest a text: compiled and searched in every mode.
 * links: kernel/shell/regex/regex.c kernel/shell/regex/regex_compile.c tests/unit/kernel/host.c
 */
#include <stdlib.h>
#include <string.h>
#include "kernel/host.h"
#include "shell/regex/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void search(const char *pattern, uint32_t flags, const char *text, size_t len)
{
	struct regex_match match = { 0 };
	struct regex *regex;
	int err = regex_create(pattern, flags, &regex);

	if (err != 0 && err != -EINVAL && err != -E2BIG)
		abort();
	if (err)
		return;
	if (regex_search(regex, text, len, 0, &match) &&
	    (match.start > match.end || match.end > len))
		abort();
	regex_destroy(regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *newline = memchr(data, '\n', len);
	size_t pattern_len = newline ? (size_t)(newline - data) : len;
	size_t text_len = newline ? len - pattern_len - 1 : 0;
	char *pattern = malloc(pattern_len + 1);
	char *text = malloc(text_len + 1);

	memcpy(pattern, data, pattern_len);
	pattern[pattern_len] = '\0';
	if (newline)
		memcpy(text, newline + 1, text_len);
	for (uint32_t flags = 0; flags < 8; flags++)
		search(pattern, flags, text, text_len);
	free(text);
	free(pattern);
	if (host_live != 0)
		abort();
	return 0;
}
