/*
 * The kernel's side of the symbol and why-not tables as a program of the build host: answers the
 * questions on its standard input, one a line, about itself.
 *
 *   variable NAME   variable_at ADDR
 *   lookup ADDR   find NAME   next ADDR (ascending)   get INDEX   count   why NAME   cut LEN NAME
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/symbols.h>
#include <kernel/whynot.h>
#include <trace/fmt.h>

#define GUARD 0x5a

int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	return vsnprintf(buf, size, fmt, args);
}

size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
	return strlen(from);
}

static struct symbols_cursor cursor;

static void say_why(const char *name, size_t len)
{
	char text[400];
	int reason;

	memset(text, GUARD, sizeof(text));
	reason = whynot_lookup(name, text, len);
	for (size_t i = len; i < sizeof(text); i++)
		if (text[i] != GUARD)
			printf("OVERRUN ");
	printf("%d %s\n", reason, len ? text : "");
}

static void answer(const char *verb, char *rest)
{
	char name[KSYM_NAME_LEN + 8];
	uintptr_t start = 0;
	size_t size = 0;

	memset(name, GUARD, sizeof(name));
	if (strcmp(verb, "lookup") == 0) {
		bool known = symbols_lookup(strtoull(rest, NULL, 16), name, &start, &size);

		printf("%s %" PRIxPTR " %zu\n", known ? name : "-", start, size);
	} else if (strcmp(verb, "find") == 0) {
		printf("%" PRIxPTR "\n", symbols_find(rest));
	} else if (strcmp(verb, "next") == 0) {
		size_t len = symbols_next_at(&cursor, strtoull(rest, NULL, 16), name);

		printf("%s %zu\n", len ? name : "-", len);
	} else if (strcmp(verb, "get") == 0) {
		size = symbols_get((uint32_t)strtoul(rest, NULL, 10), name, &start);
		printf("%s %" PRIxPTR " %zu\n", name, start, size);
	} else if (strcmp(verb, "count") == 0) {
		printf("%u %u\n", symbols_count(), symbols_blob.nr_addressed);
	} else if (strcmp(verb, "variable") == 0) {
		struct symbols_variable variable = { 0 };
		uint32_t nr = symbols_find_variable(rest, &variable);

		printf("%u %" PRIxPTR " %zu\n", nr, variable.addr, variable.bytes);
	} else if (strcmp(verb, "variable_at") == 0) {
		struct symbols_variable variable;
		bool known = symbols_variable_at(strtoull(rest, NULL, 16), name, &variable);

		printf("%s\n", known ? name : "-");
	} else if (strcmp(verb, "why") == 0) {
		say_why(rest, 300);
	} else if (strcmp(verb, "cut") == 0) {
		char *end;
		size_t len = strtoul(rest, &end, 10);

		say_why(end + 1, len);
	}
	for (size_t i = KSYM_NAME_LEN; i < sizeof(name); i++)
		if (name[i] != GUARD)
			printf("OVERRUN\n");
}

int main(void)
{
	char line[600];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest;

		line[strcspn(line, "\n")] = '\0';
		rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		answer(line, rest ? rest : line);
	}
	return 0;
}
