/*
 * Patterns against a slow reference written from the rules alone.
 * links: trace/ops/ftrace_match.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include "text/str.h"

static bool matches(const char *pattern_text, const char *name_text)
{
	char text[64], name[64 + 9];
	struct ftrace_pattern pattern;

	/* Bytes behind a name may be anything. */
	memset(name, pattern_text[0], sizeof(name));
	strcpy(text, pattern_text);
	strcpy(name, name_text);
	ftrace_pattern_parse(&pattern, text);
	return ftrace_pattern_match(&pattern, name, strlen(name));
}

static enum ftrace_match_type type_of(const char *pattern_text)
{
	char text[64];
	struct ftrace_pattern pattern;

	strcpy(text, pattern_text);
	ftrace_pattern_parse(&pattern, text);
	return pattern.type;
}

static void test_types(void **state)
{
	(void)state;
	assert_int_equal(type_of("schedule"), FTRACE_MATCH_FULL);
	assert_int_equal(type_of("sched*"), FTRACE_MATCH_FRONT);
	assert_int_equal(type_of("*sched"), FTRACE_MATCH_END);
	assert_int_equal(type_of("*sched*"), FTRACE_MATCH_MIDDLE);
	assert_int_equal(type_of("*"), FTRACE_MATCH_END);
	assert_int_equal(type_of("**"), FTRACE_MATCH_MIDDLE);
	assert_int_equal(type_of("a*b"), FTRACE_MATCH_GLOB);
	assert_int_equal(type_of("*a*b"), FTRACE_MATCH_GLOB);
	assert_int_equal(type_of("a?"), FTRACE_MATCH_GLOB);
	assert_int_equal(type_of("[ab]c*"), FTRACE_MATCH_GLOB);
	assert_int_equal(type_of("17"), FTRACE_MATCH_INDEX);
	assert_int_equal(type_of("!17"), FTRACE_MATCH_INDEX);
	assert_int_equal(type_of("!x*"), FTRACE_MATCH_FRONT);
}

static void test_examples(void **state)
{
	(void)state;
	assert_true(matches("schedule", "schedule"));
	assert_false(matches("schedule", "schedule_tail"));
	assert_false(matches("schedule_tail", "schedule"));
	assert_true(matches("sched*", "schedule"));
	assert_true(matches("*ule", "schedule"));
	assert_false(matches("*ul", "schedule"));
	assert_true(matches("*ched*", "schedule"));
	assert_true(matches("*", "schedule"));
	assert_true(matches("**", "schedule"));
	assert_true(matches("s*e", "schedule"));
	assert_true(matches("s*h*l?", "schedule"));
	assert_false(matches("s*h*l", "schedule"));
	assert_true(matches("*[x-z]y*", "xyzzy_zy"));
	assert_true(matches("[!a]b", "bb"));
	assert_false(matches("[!a]b", "ab"));
	assert_true(matches("[]a]b", "]b"));
	assert_true(matches("\\*x", "*x"));
	assert_false(matches("\\*x", "ax"));
	assert_true(matches("[ab", "[ab"));
	assert_true(matches("a[b-]c", "a-c"));
	assert_false(matches("ab*abc", "ab"));
	assert_true(matches("*__*", "a__b"));
	assert_true(matches("*zzzzzzzzz*", "aaaaaaaazzzzzzzzz"));
	assert_false(matches("*zzzzzzzzzz*", "aaaaaaaazzzzzzzzz"));
}

/* A text ends where its length says, whatever lies behind. */
static void test_glob_end(void **state)
{
	(void)state;
	assert_true(trace_glob_match_len("a?", "abcd", 2));
	assert_false(trace_glob_match_len("a*d", "abcd", 2));
	assert_true(trace_glob_match_len("a*d", "abcd", 4));
	assert_false(trace_glob_match_len("?", "a", 0));
	assert_true(trace_glob_match_len("*", "a", 0));
	assert_true(trace_glob_match_len("", "a", 0));
}

/* The rules of *, ? and literals, by trying everything. */
static bool slow_match(const char *p, const char *s)
{
	if (!*p)
		return !*s;
	if (*p == '*')
		return slow_match(p + 1, s) || (*s && slow_match(p, s + 1));
	return *s && (*p == '?' || *p == *s) && slow_match(p + 1, s + 1);
}

static void random_text(char *out, const char *letters, int max)
{
	int len = rand() % max + 1;

	for (int i = 0; i < len; i++)
		*out++ = letters[(size_t)rand() % strlen(letters)];
	*out = '\0';
}

static void test_random_against_reference(void **state)
{
	char pattern[32], name[32];
	int hits = 0, rounds = unit_rounds(100000);

	(void)state;
	srand(1);
	for (int i = 0; i < rounds; i++) {
		random_text(pattern, i & 1 ? "ab*" : "aab*?", 9);
		random_text(name, "ab", i & 2 ? 24 : 8);
		hits += slow_match(pattern, name);
		if (matches(pattern, name) != slow_match(pattern, name))
			fail_msg("'%s' against '%s'", pattern, name);
	}
	assert_in_range(hits, rounds / 40, rounds - rounds / 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_glob_end),
		cmocka_unit_test(test_random_against_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
