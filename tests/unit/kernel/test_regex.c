/*
 * grep's regular expressions, held against the C library's.
 * links: kernel/shell/regex/regex.c kernel/shell/regex/regex_compile.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/host.h"
#include "shell/regex/regex.h"

#define RANDOM_PATTERNS unit_rounds(2000)
#define TEXTS_EACH	6

struct found {
	int err;
	bool matches;
	size_t start;
	size_t end;
};

static struct found ours(const char *pattern, uint32_t flags, const char *text)
{
	struct found found = { 0 };
	struct regex_match match;
	struct regex *regex;

	found.err = regex_create(pattern, flags, &regex);
	if (found.err)
		return found;
	found.matches = regex_search(regex, text, strlen(text), 0, &match);
	if (found.matches) {
		found.start = match.start;
		found.end = match.end;
	}
	regex_destroy(regex);
	return found;
}

/* REG_NEWLINE is off, a line never holds one. */
static struct found theirs(const char *pattern, uint32_t flags, const char *text)
{
	struct found found = { 0 };
	regmatch_t match;
	regex_t regex;
	int cflags = (flags & REGEX_EXTENDED ? REG_EXTENDED : 0) |
		     (flags & REGEX_IGNORE_CASE ? REG_ICASE : 0);

	if (regcomp(&regex, pattern, cflags)) {
		found.err = -EINVAL;
		return found;
	}
	found.matches = regexec(&regex, text, 1, &match, 0) == 0;
	if (found.matches) {
		found.start = (size_t)match.rm_so;
		found.end = (size_t)match.rm_eo;
	}
	regfree(&regex);
	return found;
}

static void check_same(const char *pattern, uint32_t flags, const char *text)
{
	struct found a = ours(pattern, flags, text);
	struct found b = theirs(pattern, flags, text);

	if (a.err == b.err && a.matches == b.matches && a.start == b.start && a.end == b.end)
		return;
	print_message("pattern '%s' flags %u text '%s': ours %d %d %zu-%zu, theirs %d %d %zu-%zu\n",
		      pattern, flags, text, a.err, a.matches, a.start, a.end, b.err, b.matches,
		      b.start, b.end);
	fail();
}

static void test_examples(void **state)
{
	static const char *const basic[] = { "sched",	    "^sched",	  "sched$", "s.*d",
					     "a*",	    "[a-c]x",	  "[^a-c]", "[]x]*",
					     "x\\.y",	    "\\(ab\\)*c", "a\\|bc", "a\\+b",
					     "[[:digit:]]", "",		  "*a",	    "^$",
					     "a\\?b" };
	static const char *const extended[] = {
		"^(foo|bar)+$",	   "a+b?c*", "(a|b)*abb", "x(y|z)?",
		"[0-9]+\\.[0-9]+", "(a*)*",  "(a*)+b",	  "a|b|cd|e"
	};
	static const char *const texts[] = { "",	 "schedule",  "do_sched", "abcabcc",
					     "x.y 1.25", "foobarfoo", "aabb",	  "xyxz",
					     "ab",	 "*a]x" };

	(void)state;
	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		for (size_t i = 0; i < sizeof(basic) / sizeof(basic[0]); i++)
			check_same(basic[i], 0, texts[t]);
		for (size_t i = 0; i < sizeof(extended) / sizeof(extended[0]); i++) {
			check_same(extended[i], REGEX_EXTENDED, texts[t]);
			check_same(extended[i], REGEX_EXTENDED | REGEX_IGNORE_CASE, texts[t]);
		}
	}
	assert_int_equal(host_live, 0);
}

static void test_literal(void **state)
{
	(void)state;
	assert_true(ours("a.*b", REGEX_LITERAL, "xa.*by").matches);
	assert_false(ours("a.*b", REGEX_LITERAL, "axb").matches);
	assert_true(ours("A.B", REGEX_LITERAL | REGEX_IGNORE_CASE, "a.b").matches);
}

static void test_mistakes(void **state)
{
	static const char *const wrong[] = { "(a", "a)", "[a", "a\\", "[[:digit:]", "((a)" };
	char text[4000];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ours(wrong[i], REGEX_EXTENDED, "a").err, -EINVAL);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(ours(text, 0, "a").err, -E2BIG);
	memset(text, '(', sizeof(text) - 1);
	assert_int_equal(ours(text, REGEX_EXTENDED, "a").err, -E2BIG);
	memset(text, '*', sizeof(text) - 1);
	text[0] = 'a';
	assert_int_equal(ours(text, 0, "a").err, -E2BIG);
	host_fail_at = 0;
	assert_int_equal(ours("a", 0, "a").err, -ENOMEM);
	host_fail_at = -1;
	assert_int_equal(host_live, 0);
}

/* Time is bounded: what makes backtracking matchers explode ends here at once. */
static void test_no_explosion(void **state)
{
	char text[1000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(ours("(a*)*(a*)*(a|aa)*b", REGEX_EXTENDED, text).matches);
}

/* An atom, with or without a repetition: what POSIX and we both define. */
static void random_pattern(char *pattern)
{
	static const char *const pieces[] = { "a",    "b",	"c",	   ".",	    "[ab]", "[^a]",
					      "(ab)", "(a|b)",	"(a*)",	   "(bc?)", "a*",   "b+",
					      "c?",   "[b-c]*", "(a|bc)+", "(b|)",  "|" };
	size_t nr = 1 + (size_t)rand() % 5;

	strcpy(pattern, rand() % 8 ? "" : "^");
	while (nr--)
		strcat(pattern, pieces[(size_t)rand() % (sizeof(pieces) / sizeof(pieces[0]))]);
	strcat(pattern, rand() % 8 ? "" : "$");
}

static void test_random(void **state)
{
	char pattern[80], text[16];

	(void)state;
	srand(3);
	for (int i = 0; i < RANDOM_PATTERNS; i++) {
		random_pattern(pattern);
		for (int t = 0; t < TEXTS_EACH; t++) {
			size_t len = (size_t)rand() % (sizeof(text) - 1);

			for (size_t c = 0; c < len; c++)
				text[c] = "abcd"[rand() % 4];
			text[len] = '\0';
			check_same(pattern, REGEX_EXTENDED, text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples), cmocka_unit_test(test_literal),
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_no_explosion),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
