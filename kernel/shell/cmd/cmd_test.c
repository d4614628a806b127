/*
 * test and [: they answer a question by their exit status: 0 true, 1 false, 2 a mistake in it.
 */
#include <kernel/string.h>
#include "command_tables.h"
#include "shell/sh/sh.h"

struct question {
	struct command_env *env;
	char **words;
	int nr; /* words left */
	bool is_wrong;
	uint32_t depth;
};

static bool test_ask_or(struct question *q);

static bool test_fail(struct question *q, const char *word, const char *what)
{
	if (!q->is_wrong)
		command_error(q->env, "%s: %s", word, what);
	q->is_wrong = true;
	return false;
}

static const char *test_take(struct question *q)
{
	q->nr--;
	return *q->words++;
}

static bool test_at(const struct question *q, int index, const char *word)
{
	return q->nr > index && strcmp(q->words[index], word) == 0;
}

static bool test_ask_file(struct question *q, char kind, const char *path)
{
	struct vfs_stat stat;

	if (!*path || vfs_stat(command_cwd(q->env), path, &stat))
		return false;
	switch (kind) {
	case 'd':
		return stat.type == VFS_DIRECTORY;
	case 'f':
		return stat.type == VFS_REGULAR;
	case 'c':
		return stat.type == VFS_DEVICE;
	case 'r':
		return stat.mode & 0444;
	case 'w':
		return stat.mode & 0222;
	case 'x':
		return stat.mode & 0111;
	case 's':
		return stat.size > 0;
	default:
		return true;
	}
}

static bool test_ask_unary(struct question *q, char kind, const char *word)
{
	if (kind == 'n')
		return *word;
	if (kind == 'z')
		return !*word;
	return test_ask_file(q, kind, word);
}

static const char *const number_operators[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };

static bool test_compare_numbers(struct question *q, size_t op, const char *left, const char *right)
{
	long a, b;

	if (str_to_i64(left, 10, &a))
		return test_fail(q, left, "bad number");
	if (str_to_i64(right, 10, &b))
		return test_fail(q, right, "bad number");
	switch (op) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	default:
		return a >= b;
	}
}

static bool test_is_binary(const char *word)
{
	static const char *const others[] = { "=", "==", "!=", "<", ">" };

	for (size_t i = 0; i < ARRAY_SIZE(number_operators); i++) {
		if (strcmp(word, number_operators[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (strcmp(word, others[i]) == 0)
			return true;
	}
	return false;
}

static bool test_ask_binary(struct question *q)
{
	const char *left = test_take(q);
	const char *op = test_take(q);
	const char *right = test_take(q);

	for (size_t i = 0; i < ARRAY_SIZE(number_operators); i++) {
		if (strcmp(op, number_operators[i]) == 0)
			return test_compare_numbers(q, i, left, right);
	}
	if (op[0] == '<')
		return strcmp(left, right) < 0;
	if (op[0] == '>')
		return strcmp(left, right) > 0;
	return (strcmp(left, right) == 0) == (op[0] == '=');
}

static bool test_ask_bracket(struct question *q)
{
	bool answer;

	test_take(q);
	answer = test_ask_or(q);
	if (!test_at(q, 0, ")"))
		return test_fail(q, ")", "expected");
	test_take(q);
	return answer;
}

static bool test_ask_primary(struct question *q)
{
	const char *word;

	if (q->nr <= 0)
		return test_fail(q, "argument", "expected");
	if (q->nr >= 3 && test_is_binary(q->words[1]))
		return test_ask_binary(q);
	if (test_at(q, 0, "(") && q->nr > 1)
		return test_ask_bracket(q);
	word = test_take(q);
	if (word[0] == '-' && word[1] && !word[2] && q->nr && strchr("defcrwxsnz", word[1]))
		return test_ask_unary(q, word[1], test_take(q));
	return *word;
}

static bool test_ask_not(struct question *q)
{
	bool answer;

	if (!test_at(q, 0, "!") || q->nr < 2)
		return test_ask_primary(q);
	if (++q->depth > SH_DEPTH_MAX)
		return test_fail(q, "!", "nested too deeply");
	test_take(q);
	answer = !test_ask_not(q);
	q->depth--;
	return answer;
}

static bool test_ask_and(struct question *q)
{
	bool answer = test_ask_not(q);

	while (test_at(q, 0, "-a") && !q->is_wrong) {
		test_take(q);
		answer = test_ask_not(q) && answer;
	}
	return answer;
}

static bool test_ask_or(struct question *q)
{
	bool answer;

	if (++q->depth > SH_DEPTH_MAX)
		return test_fail(q, "(", "nested too deeply");
	answer = test_ask_and(q);
	while (test_at(q, 0, "-o") && !q->is_wrong) {
		test_take(q);
		answer = test_ask_and(q) || answer;
	}
	q->depth--;
	return answer;
}

static int test_ask(struct command_env *env, int nr, char **words)
{
	struct question q = { .env = env, .words = words, .nr = nr };
	bool answer = nr && test_ask_or(&q);

	if (q.nr && !q.is_wrong)
		test_fail(&q, q.words[0], "unknown operand");
	return q.is_wrong ? 2 : !answer;
}

static int cmd_test(struct command_env *env, int argc, char **argv)
{
	return test_ask(env, argc - 1, argv + 1);
}

static int cmd_bracket(struct command_env *env, int argc, char **argv)
{
	if (strcmp(argv[argc - 1], "]") != 0) {
		command_error(env, "missing ]");
		return 2;
	}
	return test_ask(env, argc - 2, argv + 1);
}

const struct command test_commands[] = {
	{ "[", "EXPRESSION ]", "the same as test", cmd_bracket, COMMAND_BUILTIN },
	{ "test", "EXPRESSION", "compare numbers and words, ask about files", cmd_test,
	  COMMAND_BUILTIN },
	{ 0 },
};
