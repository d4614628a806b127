/*
 * The shell's parser: trees for texts, words for mistakes, no memory lost, no text that breaks it.
 * links: kernel/shell/sh/sh_lex.c kernel/shell/sh/sh_parse.c kernel/shell/sh/sh_arena.c
 * links: tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/host.h"
#include "shell/sh/sh_tree.h"

#define FUZZ_ROUNDS (uint32_t) unit_rounds(8000)

static char shown[4096]; /* of a long text the beginning */
static size_t shown_len;

static void show(const char *text)
{
	size_t room = sizeof(shown) - 1 - shown_len, len = strnlen(text, room);

	memcpy(shown + shown_len, text, len);
	shown_len += len;
	shown[shown_len] = '\0';
}

static void show_words(const struct sh_word *words)
{
	for (; words; words = words->next) {
		show(" ");
		show(words->text);
	}
}

static void show_redirs(const struct sh_redir *redirs)
{
	static const char *const ops[] = { "<", ">", ">>", "&" };

	for (; redirs; redirs = redirs->next) {
		char text[64];

		snprintf(text, sizeof(text), " %u%s%s", redirs->fd, ops[redirs->op],
			 redirs->target);
		show(text);
	}
}

/* As an s-expression; nodes with a single child and nothing of their own are left out. */
static void show_tree(const struct sh_node *node)
{
	static const char *const names[] = {
		[SH_SIMPLE] = "cmd", [SH_PIPE] = "pipe",   [SH_ANDOR] = "andor",
		[SH_SEQ] = "seq",    [SH_IF] = "if",	   [SH_WHILE] = "while",
		[SH_FOR] = "for",    [SH_GROUP] = "group", [SH_SUBSHELL] = "sub",
	};
	bool is_plain = node->type >= SH_PIPE && node->type <= SH_SEQ && !node->child->next &&
			!node->is_negated && !node->is_timed && !node->redirs;

	if (node->connect == SH_CONNECT_AND)
		show("&& ");
	if (node->connect == SH_CONNECT_OR)
		show("|| ");
	if (!is_plain) {
		show("(");
		show(node->is_negated ? "!" : "");
		show(node->is_timed ? "time " : "");
		show(names[node->type]);
		if (node->name) {
			show(" ");
			show(node->name);
		}
	}
	show_words(node->assigns);
	show_words(node->words);
	for (const struct sh_node *child = node->child; child; child = child->next) {
		show(is_plain ? "" : " ");
		show_tree(child);
	}
	show_redirs(node->redirs);
	show(is_plain ? "" : ")");
	show(node->is_background ? "&" : "");
}

static int parse(const char *text, char *error)
{
	struct sh_arena arena = { 0 };
	struct sh_node *tree;
	int err = sh_parse(&arena, text, strlen(text), &tree, error);

	shown_len = 0;
	shown[0] = '\0';
	if (!err && tree)
		show_tree(tree);
	sh_arena_free(&arena);
	return err;
}

struct good {
	const char *text;
	const char *tree;
};

static const struct good goods[] = {
	{ "", "" },
	{ "  \n\n # only a comment", "" },
	{ "ls", "(cmd ls)" },
	{ "echo a  b\t'c d' \"e f\"", "(cmd echo a b 'c d' \"e f\")" },
	{ "echo a#b # c", "(cmd echo a#b)" },
	{ "echo a\\ b\\;c", "(cmd echo a\\ b\\;c)" },
	{ "a; b", "(seq (cmd a) (cmd b))" },
	{ "a;", "(cmd a)" },
	{ "a\nb\n", "(seq (cmd a) (cmd b))" },
	{ "a & b", "(seq (cmd a)& (cmd b))" },
	{ "a &", "(cmd a)&" },
	{ "a && b || c", "(andor (cmd a) && (cmd b) || (cmd c))" },
	{ "a &&\n\n b", "(andor (cmd a) && (cmd b))" },
	{ "a | b |\n c", "(pipe (cmd a) (cmd b) (cmd c))" },
	{ "! a | b", "(!pipe (cmd a) (cmd b))" },
	{ "! ! a", "(cmd a)" },
	{ "time a b", "(time pipe (cmd a b))" },
	{ "a > f", "(cmd a 1>f)" },
	{ "a>f", "(cmd a 1>f)" },
	{ "a >> f < g", "(cmd a 1>>f 0<g)" },
	{ "> f", "(cmd 1>f)" },
	{ "a 2> f", "(cmd a 2>f)" },
	{ "a 2>&1", "(cmd a 2&1)" },
	{ "a2>f", "(cmd a2 1>f)" },
	{ "a >| f", "(cmd a 1>f)" },
	{ "x=1", "(cmd x=1)" },
	{ "x=1 y=\"a b\" cmd z=2", "(cmd x=1 y=\"a b\" cmd z=2)" },
	{ "echo if then fi", "(cmd echo if then fi)" },
	{ "if a; then b; fi", "(if (cmd a) (cmd b))" },
	{ "if a\nthen\nb\nelse c\nfi", "(if (cmd a) (cmd b) (cmd c))" },
	{ "if a; then b; elif c; then d; elif e; then f; else g; fi",
	  "(if (cmd a) (cmd b) (cmd c) (cmd d) (cmd e) (cmd f) (cmd g))" },
	{ "while a; do b; c; done", "(while (cmd a) (seq (cmd b) (cmd c)))" },
	{ "until a; do b; done > f", "(!while (cmd a) (cmd b) 1>f)" },
	{ "for i in 1 2 3; do echo $i; done", "(for i 1 2 3 (cmd echo $i))" },
	{ "for i in; do b; done", "(for i (cmd b))" },
	{ "for i\nin a b\ndo c\ndone", "(for i a b (cmd c))" },
	{ "for i do b; done", "(for i (cmd b))" },
	{ "{ a; b; } > f 2>&1", "(group (seq (cmd a) (cmd b)) 1>f 2&1)" },
	{ "(a; b)", "(sub (seq (cmd a) (cmd b)))" },
	{ "(a)|(b)", "(pipe (sub (cmd a)) (sub (cmd b)))" },
	{ "a | while b; do c; done | d", "(pipe (cmd a) (while (cmd b) (cmd c)) (cmd d))" },
	{ "echo $(a; b | \"c )\") d", "(cmd echo $(a; b | \"c )\") d)" },
	{ "echo $((1 + (2))) ${x:-a b}", "(cmd echo $((1 + (2))) ${x:-a b})" },
	{ "echo `a 'b' c`", "(cmd echo `a 'b' c`)" },
	{ "echo \"a $(b \"c\") d\"", "(cmd echo \"a $(b \"c\") d\")" },
	{ "echo $(a # not ) here\n)", "(cmd echo $(a # not ) here\n))" },
	{ "echo a \\\n b", "(cmd echo a b)" },
	{ "echo '*sched*' > set_ftrace_filter; echo function > current_tracer; cat trace",
	  "(seq (cmd echo '*sched*' 1>set_ftrace_filter) (cmd echo function 1>current_tracer) "
	  "(cmd cat trace))" },
	{ "if if a; then b; fi; then for i in 1; do { (c) }; done; fi",
	  "(if (if (cmd a) (cmd b)) (for i 1 (group (sub (cmd c)))))" },
};

static void test_trees(void **state)
{
	char error[SH_ERROR_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		assert_int_equal(parse(goods[i].text, error), 0);
		assert_string_equal(shown, goods[i].tree);
		assert_string_equal(error, "");
	}
	assert_int_equal(host_live, 0);
}

struct bad {
	const char *text;
	int err;
	const char *error; /* behind "syntax error: " */
};

static const struct bad bads[] = {
	{ ")", -EINVAL, "unexpected \")\"" },
	{ "a )", -EINVAL, "unexpected \")\"" },
	{ "fi", -EINVAL, "unexpected \"fi\"" },
	{ "a; done", -EINVAL, "unexpected \"done\"" },
	{ "; a", -EINVAL, "unexpected \";\"" },
	{ "a ;; b", -EINVAL, "unexpected \";\"" },
	{ "| a", -EINVAL, "unexpected \"|\"" },
	{ "a | | b", -EINVAL, "unexpected \"|\"" },
	{ "a && ; b", -EINVAL, "unexpected \";\"" },
	{ "a > ; b", -EINVAL, "unexpected \";\"" },
	{ "a >\n", -EINVAL, "unexpected newline" },
	{ "f() { a; }", -EINVAL, "unexpected \"(\"" },
	{ "a (b)", -EINVAL, "unexpected \"(\"" },
	{ "(a) b", -EINVAL, "unexpected \"b\"" },
	{ "()", -EINVAL, "unexpected \")\"" },
	{ "{ }", -EINVAL, "unexpected \"}\"" },
	{ "if a; fi", -EINVAL, "unexpected \"fi\" (expecting \"then\")" },
	{ "if; then a; fi", -EINVAL, "unexpected \";\"" },
	{ "if a; then fi", -EINVAL, "unexpected \"fi\"" },
	{ "if a; then b; done", -EINVAL, "unexpected \"done\" (expecting \"fi\")" },
	{ "while a; b; done", -EINVAL, "unexpected \"done\" (expecting \"do\")" },
	{ "while a; do b; fi", -EINVAL, "unexpected \"fi\" (expecting \"done\")" },
	{ "for 1 in a; do b; done", -EINVAL, "unexpected \"1\"" },
	{ "for i in a | b", -EINVAL, "unexpected \"|\" (expecting \"do\")" },
	{ "a <<E", -EINVAL, "unexpected \"<\"" },
	{ "if a", -EAGAIN, NULL },
	{ "if a; then b", -EAGAIN, NULL },
	{ "a &&", -EAGAIN, NULL },
	{ "a |", -EAGAIN, NULL },
	{ "{ a;", -EAGAIN, NULL },
	{ "(a", -EAGAIN, NULL },
	{ "for i", -EAGAIN, NULL },
	{ "echo 'a", -EAGAIN, NULL },
	{ "echo \"a", -EAGAIN, NULL },
	{ "echo $(a", -EAGAIN, NULL },
	{ "echo ${a", -EAGAIN, NULL },
	{ "echo `a", -EAGAIN, NULL },
	{ "echo a\\", -EAGAIN, NULL },
	{ "a >", -EAGAIN, NULL },
};

static void test_mistakes(void **state)
{
	char error[SH_ERROR_LEN], expected[SH_ERROR_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		int err = parse(bads[i].text, error);

		if (err != bads[i].err)
			print_message("%s\n", bads[i].text);
		assert_int_equal(err, bads[i].err);
		if (bads[i].error) {
			snprintf(expected, sizeof(expected), "syntax error: %s", bads[i].error);
			assert_string_equal(error, expected);
		} else {
			assert_true(error[0]);
		}
	}
	assert_int_equal(host_live, 0);
}

/* Brackets in brackets: allowed to the limit, refused behind it, in any number. */
static void test_depth(void **state)
{
	char text[20000], error[SH_ERROR_LEN];

	(void)state;
	for (size_t depth = 1; depth < 40; depth++) {
		memset(text, '(', depth);
		text[depth] = 'a';
		memset(text + depth + 1, ')', depth);
		text[2 * depth + 1] = '\0';
		assert_int_equal(parse(text, error), depth <= SH_NEST_MAX ? 0 : -EINVAL);
	}
	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(parse(text, error), -EINVAL);
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "$(", 2);
	text[sizeof(text) - 2] = '\0';
	assert_int_equal(parse(text, error), -EAGAIN);
}

/* Siblings cost no depth. */
static void test_long_lists(void **state)
{
	static const char *const pieces[] = { "a;", "a && ", "a | ", "{ a; } ; ", "a\n" };
	static char text[60000];
	char error[SH_ERROR_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		text[0] = '\0';
		for (size_t len = 0; len + 32 < sizeof(text); len += strlen(pieces[i]))
			strcpy(text + len, pieces[i]);
		strcat(text, "a");
		assert_int_equal(parse(text, error), 0);
	}
}

/* Every beginning of a good text is good, unfinished, or wrong: nothing else, and says why. */
static void test_beginnings(void **state)
{
	char text[512], error[SH_ERROR_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		for (size_t len = 0; len <= strlen(goods[i].text); len++) {
			int err;

			snprintf(text, sizeof(text), "%.*s", (int)len, goods[i].text);
			err = parse(text, error);
			assert_true(err == 0 || err == -EAGAIN || err == -EINVAL);
			assert_true((err == 0) == (error[0] == '\0'));
		}
	}
	assert_int_equal(host_live, 0);
}

/* A NUL is a character like others: files can hold any. */
static void test_nul(void **state)
{
	static const char text[] = "a\0b;\0";
	struct sh_arena arena = { 0 };
	char error[SH_ERROR_LEN];
	struct sh_node *tree;

	(void)state;
	assert_int_equal(sh_parse(&arena, text, sizeof(text), &tree, error), 0);
	assert_non_null(tree->child->next);
	sh_arena_free(&arena);
}

/* The lexer reads exactly the bytes it was given: the text is not terminated here. */
static void test_exact_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		size_t full = strlen(goods[i].text);

		for (size_t len = 0; len <= full; len++) {
			struct sh_arena arena = { 0 };
			char error[SH_ERROR_LEN];
			struct sh_node *tree;
			char *text = malloc(len ? len : 1);

			memcpy(text, goods[i].text, len);
			sh_parse(&arena, text, len, &tree, error);
			sh_arena_free(&arena);
			free(text);
		}
	}
}

static void test_out_of_memory(void **state)
{
	char error[SH_ERROR_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		int err = -ENOMEM;

		for (long fail_at = 0; err; fail_at++) {
			host_fail_at = fail_at;
			err = parse(goods[i].text, error);
			host_fail_at = -1;
			assert_true(err == 0 || err == -ENOMEM);
			assert_int_equal(host_live, 0);
		}
	}
}

/* Texts from pieces that mean something, so that they get far. Fixed seed: failures come again. */
static void test_random_texts(void **state)
{
	static const char *const pieces[] = {
		"if ",	"then ", "elif ", "else ", "fi", "while ", "until ", "for ", "in ", "do ",
		"done", "{ ",	 "}",	  "(",	   ")",	 ";",	   "\n",     "&",    "&&",  "|",
		"||",	">",	 ">>",	  "<",	   "2>", "&1",	   "'",	     "\"",   "\\",  "$",
		"$(",	"${",	 "$((",	  "))",	   "`",	 "#",	   " ",	     "a",    "b=",  "*",
		"!",	"time ", "x y",	  "\t",	   "0",	 ">|",	   "\x80",   ";;",
	};
	char text[256], error[SH_ERROR_LEN];
	uint32_t nr_good = 0;

	(void)state;
	srand(1);
	for (uint32_t round = 0; round < FUZZ_ROUNDS; round++) {
		size_t nr = (size_t)rand() % 24;
		int err;

		text[0] = '\0';
		while (nr--)
			strcat(text, pieces[(size_t)rand() % (sizeof(pieces) / sizeof(*pieces))]);
		err = parse(text, error);
		assert_true(err == 0 || err == -EAGAIN || err == -EINVAL);
		nr_good += err == 0;
	}
	assert_true(nr_good > FUZZ_ROUNDS / 50);
	assert_int_equal(host_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),	     cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_depth),	     cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_beginnings),   cmocka_unit_test(test_nul),
		cmocka_unit_test(test_exact_length), cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_random_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
