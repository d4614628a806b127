/*
 * Filters of a real Linux 6.1, in samples: those that it refuses, with words, place and error
 * number; for the others, the events that pass.
 */
#include "unit.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "events/filter.h"
#include "fake/fake.h"
#include <trace/event.h>

#define SAMPLES "tests/golden/linux-6.1/"

/* ---- The events of the samples, as far as filters name their fields ---- */

struct gold_int {
	struct trace_entry ent;
	int value;
};
#define INT_FIELD(type, member) TRACE_FIELD(#member, type, gold_int, member)
static const struct trace_event_field int_fields[] = { INT_FIELD(int, value) };

struct gold_types {
	struct trace_entry ent;
	int8_t sc, s8;
	uint8_t uc;
	char c;
	bool truth;
	int16_t s;
	uint16_t us, u16;
	int32_t i, pid;
	uint32_t ui;
	int64_t l, s64;
	uint64_t ul, u64, size;
	void *pointer;
} TRACE_ENTRY_ALIGNED;
#define TYPES_FIELD(type, member) TRACE_FIELD(#member, type, gold_types, member)
static const struct trace_event_field types_fields[] = {
	TYPES_FIELD(signed char, sc),
	TYPES_FIELD(signed char, s8),
	TYPES_FIELD(unsigned char, uc),
	TYPES_FIELD(char, c),
	TYPES_FIELD(unsigned char, truth),
	TYPES_FIELD(short, s),
	TYPES_FIELD(unsigned short, us),
	TYPES_FIELD(unsigned short, u16),
	TYPES_FIELD(int, i),
	TYPES_FIELD(int, pid),
	TYPES_FIELD(unsigned int, ui),
	TYPES_FIELD(long, l),
	TYPES_FIELD(long, s64),
	TYPES_FIELD(unsigned long, ul),
	TYPES_FIELD(unsigned long, u64),
	TYPES_FIELD(unsigned long, size),
	TYPES_FIELD(void *, pointer),
};

struct gold_string {
	struct trace_entry ent;
	uint32_t dynamic;
	char fixed[16];
	const char *pointer;
	uint32_t relative;
	int n;
	char texts[128];
} TRACE_ENTRY_ALIGNED;
#define STRING_FIELD(type, member) TRACE_FIELD(#member, type, gold_string, member)
#define LOC_FIELD(entry, c_type, member, place)                                                    \
	{                                                                                          \
		.name = #member, .type = c_type, .offset = offsetof(struct entry, member),         \
		.size = sizeof(uint32_t), .element_size = 1, .is_signed = false,                   \
		.is_address = false, .kind = place, .filter_type = FILTER_OTHER                    \
	}
static const struct trace_event_field string_fields[] = {
	LOC_FIELD(gold_string, "char", dynamic, TRACE_FIELD_DATA_LOC),
	STRING_FIELD(char, fixed),
	STRING_FIELD(const char *, pointer),
	LOC_FIELD(gold_string, "char", relative, TRACE_FIELD_REL_LOC),
	STRING_FIELD(int, n),
};

struct gold_enum {
	struct trace_entry ent;
	int colour;
	unsigned int flags;
};
#define ENUM_FIELD(type, member) TRACE_FIELD(#member, type, gold_enum, member)
static const struct trace_event_field enum_fields[] = {
	ENUM_FIELD(int, colour),
	ENUM_FIELD(unsigned int, flags),
};

typedef uint8_t u8;
struct gold_array {
	struct trace_entry ent;
	int fixed[4];
	uint8_t bytes[6];
	uint32_t list;
	uint64_t pair;
	uint32_t mask;
	int other;
} TRACE_ENTRY_ALIGNED;
#define ARRAY_FIELD(type, member) TRACE_FIELD(#member, type, gold_array, member)
static const struct trace_event_field array_fields[] = {
	ARRAY_FIELD(int, fixed),
	ARRAY_FIELD(u8, bytes),
	LOC_FIELD(gold_array, "int", list, TRACE_FIELD_DATA_LOC),
	ARRAY_FIELD(unsigned long, pair),
	LOC_FIELD(gold_array, "unsigned long", mask, TRACE_FIELD_DATA_LOC),
	ARRAY_FIELD(int, other),
};

#define TYPE(name_)                                                                                \
	{                                                                                          \
		.name = "gold_" #name_, .system = "gold", .fields = name_##_fields,                \
		.nr_fields = sizeof(name_##_fields) / sizeof(name_##_fields[0])                    \
	}
static const struct trace_event types[] = { TYPE(int), TYPE(types), TYPE(string), TYPE(enum),
					    TYPE(array) };

/* ---- Walking through a sample ---- */

static struct {
	FILE *file;
	char line[8192];
	bool has_line; /* `line` was not used yet */
	/* The command that is being looked at. */
	const struct trace_event *type;
	char text[4096];
	struct expr_program *filter; /* NULL: refused */
	struct expr_error error;
	int err;
	/* The events that pass, as the sample shows them. */
	char passed[512];
	size_t nr_refused, nr_taken, nr_runs;
} walk;

static const char *peek_line(void)
{
	if (!walk.has_line) {
		if (!fgets(walk.line, sizeof(walk.line), walk.file))
			return NULL;
		walk.line[strcspn(walk.line, "\n")] = '\0';
		walk.has_line = true;
	}
	return walk.line;
}

static const char *take_line(void)
{
	const char *line = peek_line();

	walk.has_line = false;
	return line ? line : "";
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static const struct trace_event *type_of(const char *path)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strstr(path, types[i].name))
			return &types[i];
	}
	fail_msg("no event for %s", path);
	return NULL;
}

/* `$ echo 'TEXT' > FILE`, or >>. */
static void take_command(const char *line)
{
	const char *begin = strchr(line, '\'') + 1;
	const char *end = strrchr(line, '\'');

	walk.type = type_of(end);
	while (begin < end && isspace((unsigned char)*begin))
		begin++;
	while (begin < end && isspace((unsigned char)end[-1]))
		end--;
	snprintf(walk.text, sizeof(walk.text), "%.*s", (int)(end - begin), begin);
	trace_expr_free(walk.filter);
	walk.filter = NULL;
	walk.err = trace_filter_compile(walk.type, walk.text, &walk.filter, &walk.error);
}

static int error_number(const char *line)
{
	static const struct {
		const char *words;
		int err;
	} errors[] = {
		{ "Invalid argument", -EINVAL },
		{ "Operation not permitted", -EPERM },
		{ "No such file or directory", -ENOENT },
		{ "No such process", -ESRCH },
	};

	if (!begins(line, "sh: write error: "))
		return 0;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(strrchr(line, ':') + 2, errors[i].words) == 0)
			return errors[i].err;
	}
	fail_msg("%s", line);
	return 0;
}

static void check_error_number(void)
{
	int expected = error_number(peek_line());

	if (walk.err != expected)
		fail_msg("%s: %d, not %d (%s)", walk.text, walk.err, expected, walk.error.why);
	walk.nr_refused += expected != 0;
	walk.nr_taken += expected == 0;
	if (expected)
		take_line();
}

/* Three lines of error_log: the words, the text, the caret below it. */
static void check_error_log(const char *line)
{
	char why[128];
	size_t pos;

	snprintf(why, sizeof(why), "%s", strstr(line, ": error: ") + strlen(": error: "));
	assert_true(begins(take_line(), "  Command: "));
	pos = strspn(take_line(), " ") - strlen("  Command: ");
	if (strcmp(walk.error.why, why) != 0 || walk.error.pos != pos)
		fail_msg("%s: %s at %zu, not %s at %zu", walk.text, walk.error.why, walk.error.pos,
			 why, pos);
}

/* ---- The events that were written ---- */

static bool passes(void *entry, size_t len)
{
	((struct trace_entry *)entry)->type = 408;
	((struct trace_entry *)entry)->pid = 817;
	return !walk.filter || trace_expr_match(walk.filter, entry, (uint32_t)len);
}

static void note(const char *words)
{
	strcat(walk.passed, words);
}

static void write_ints(int first, int last)
{
	for (int i = first; i <= last; i++) {
		struct gold_int entry = { .value = i };
		char words[16];

		snprintf(words, sizeof(words), "%d ", i);
		if (passes(&entry, sizeof(entry)))
			note(words);
	}
}

static void write_types(void)
{
	static const long numbers[] = { -1, 5, 1 };

	for (int i = 0; i < 3; i++) {
		long n = numbers[i];
		struct gold_types entry = {
			.sc = (int8_t)n,
			.s8 = (int8_t)n,
			.uc = (uint8_t)n,
			.c = (char)n,
			.truth = (bool)n,
			.s = (int16_t)n,
			.us = (uint16_t)n,
			.u16 = (uint16_t)n,
			.i = (int)n,
			.pid = (int)n,
			.ui = (unsigned int)n,
			.l = n,
			.s64 = n,
			.ul = (uint64_t)n,
			.u64 = (uint64_t)n,
			.size = (size_t)n,
			.pointer = (void *)n,
		};
		char words[16];

		snprintf(words, sizeof(words), "%ld ", n);
		if (passes(&entry, sizeof(entry)))
			note(words);
	}
}

static void write_strings(void)
{
	static const char *const texts[] = { "text", "sext", "test",
					     "a_text_that_is_longer_than_its_fixed_array" };

	for (int i = 0; i < 4; i++) {
		uint32_t at = offsetof(struct gold_string, texts);
		uint32_t rel = at - offsetof(struct gold_string, relative) - 4;
		uint32_t len = (uint32_t)strlen(texts[i]) + 1;
		struct gold_string entry = { .dynamic = len << 16 | at,
					     .pointer = texts[i],
					     .relative = len << 16 | (rel + len),
					     .n = i + 1 };
		char words[16];

		snprintf(entry.fixed, sizeof(entry.fixed), "%s", texts[i]);
		memcpy(entry.texts, texts[i], len);
		memcpy(entry.texts + len, texts[i], len);
		snprintf(words, sizeof(words), "%d ", i + 1);
		if (passes(&entry, sizeof(entry)))
			note(words);
	}
}

static void write_enums(void)
{
	static const char *const names[] = { "red", "green", "blue" };
	static const int colours[] = { 0, 5, 6 };

	for (int i = 0; i < 3; i++) {
		for (unsigned int flags = 1; flags <= 3; flags++) {
			struct gold_enum entry = { .colour = colours[i], .flags = flags };
			char words[32];

			snprintf(words, sizeof(words), "%s 0x%x,", names[i], flags);
			if (passes(&entry, sizeof(entry)))
				note(words);
		}
	}
}

static void check_passed(bool is_single)
{
	const char *kind = walk.type->name + strlen("gold_");

	walk.passed[0] = '\0';
	if (strcmp(kind, "int") == 0)
		write_ints(is_single ? 1 : -2, is_single ? 1 : 4);
	else if (strcmp(kind, "types") == 0)
		write_types();
	else if (strcmp(kind, "string") == 0)
		write_strings();
	else
		write_enums();
	if (strcmp(take_line(), walk.passed) != 0)
		fail_msg("%s: %s pass, not %s", walk.text, walk.passed, walk.line);
	walk.nr_runs++;
}

static void check_sample(const char *name, size_t nr_refused, size_t nr_taken, size_t nr_runs)
{
	char path[128];

	snprintf(path, sizeof(path), SAMPLES "%s", name);
	memset(&walk, 0, sizeof(walk));
	walk.file = fopen(path, "r");
	assert_non_null(walk.file);
	while (peek_line()) {
		const char *line = take_line();

		if (begins(line, "$ echo '")) {
			take_command(line);
			check_error_number();
		} else if (strstr(line, "] event filter parse error: error: ")) {
			check_error_log(line);
		} else if (begins(line, "$ cat trace: ")) {
			check_passed(strcmp(name, "filter-common") == 0);
		}
	}
	fclose(walk.file);
	trace_expr_free(walk.filter);
	assert_int_equal(walk.nr_refused, nr_refused);
	assert_int_equal(walk.nr_taken, nr_taken);
	assert_int_equal(walk.nr_runs, nr_runs);
	assert_int_equal(fake_alloc_out, 0);
}

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(2);
	fake_thread_add(817, "sh");
	fake_cpus[0].pid = 817;
	return 0;
}

static void samples(void **state)
{
	(void)state;
	check_sample("filter-errors", 77, 1, 0);
	check_sample("filter-errors-long", 3, 3, 0);
	check_sample("filter-arrays", 9, 7, 0);
	check_sample("filter-ints", 1, 17, 18);
	check_sample("filter-types", 4, 28, 32);
	check_sample("filter-strings", 3, 34, 37);
	check_sample("filter-logic", 0, 17, 17);
	check_sample("filter-common", 8, 17, 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup(samples, set_up) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
