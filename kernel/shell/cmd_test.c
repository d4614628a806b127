/*
 * test and [: questions with an exit status for an answer. 0 true, 1 false, 2 wrong question.
 */
#include <kernel/string.h>
#include "command_tables.h"
#include "sh.h"

struct question {
	struct command_env *env;
	char **words;
	int nr; /* words left */
	bool is_wrong;
	uint32_t depth;
};

static bool ask_or(struct question *q);

static bool fail(struct question *q, const char *word, const char *what)
{
	if (!q->is_wrong)
		command_error(q->env, "%s: %s", word, what);
	q->is_wrong = true;
	return false;
}

static const char *take(struct question *q)
{
	q->nr--;
	return *q->words++;
}

static bool at(const struct question *q, int index, const char *word)
{
	return q->nr > index && strcmp(q->words[index], word) == 0;
}

static bool ask_file(struct question *q, char kind, const char *path)
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

static bool ask_unary(struct question *q, char kind, const char *word)
{
	if (kind == 'n')
		return *word;
	if (kind == 'z')
		return !*word;
	return ask_file(q, kind, word);
}

static const char *const number_operators[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };

static bool compare_numbers(struct question *q, size_t op, const char *left, const char *right)
{
	long a, b;

	if (str_to_i64(left, 10, &a))
		return fail(q, left, "bad number");
	if (str_to_i64(right, 10, &b))
		return fail(q, right, "bad number");
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

static bool is_binary(const char *word)
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

static bool ask_binary(struct question *q)
{
	const char *left = take(q);
	const char *op = take(q);
	const char *right = take(q);

	for (size_t i = 0; i < ARRAY_SIZE(number_operators); i++) {
		if (strcmp(op, number_operators[i]) == 0)
			return compare_numbers(q, i, left, right);
	}
	if (op[0] == '<')
		return strcmp(left, right) < 0;
	if (op[0] == '>')
		return strcmp(left, right) > 0;
	return (strcmp(left, right) == 0) == (op[0] == '=');
}

static bool ask_bracket(struct question *q)
{
	bool answer;

	take(q);
	answer = ask_or(q);
	if (!at(q, 0, ")"))
		return fail(q, ")", "expected");
	take(q);
	return answer;
}

static bool ask_primary(struct question *q)
{
	const char *word;

	if (q->nr <= 0)
		return fail(q, "argument", "expected");
	if (q->nr >= 3 && is_binary(q->words[1]))
		return ask_binary(q);
	if (at(q, 0, "(") && q->nr > 1)
		return ask_bracket(q);
	word = take(q);
	if (word[0] == '-' && word[1] && !word[2] && q->nr && strchr("defcrwxsnz", word[1]))
		return ask_unary(q, word[1], take(q));
	return *word;
}

static bool ask_not(struct question *q)
{
	bool answer;

	if (!at(q, 0, "!") || q->nr < 2)
		return ask_primary(q);
	if (++q->depth > SH_DEPTH_MAX)
		return fail(q, "!", "nested too deeply");
	take(q);
	answer = !ask_not(q);
	q->depth--;
	return answer;
}

static bool ask_and(struct question *q)
{
	bool answer = ask_not(q);

	while (at(q, 0, "-a") && !q->is_wrong) {
		take(q);
		answer = ask_not(q) && answer;
	}
	return answer;
}

static bool ask_or(struct question *q)
{
	bool answer;

	if (++q->depth > SH_DEPTH_MAX)
		return fail(q, "(", "nested too deeply");
	answer = ask_and(q);
	while (at(q, 0, "-o") && !q->is_wrong) {
		take(q);
		answer = ask_and(q) || answer;
	}
	q->depth--;
	return answer;
}

static int ask(struct command_env *env, int nr, char **words)
{
	struct question q = { .env = env, .words = words, .nr = nr };
	bool answer = nr && ask_or(&q);

	if (q.nr && !q.is_wrong)
		fail(&q, q.words[0], "unknown operand");
	return q.is_wrong ? 2 : !answer;
}

static int run_test(struct command_env *env, int argc, char **argv)
{
	return ask(env, argc - 1, argv + 1);
}

static int run_bracket(struct command_env *env, int argc, char **argv)
{
	if (strcmp(argv[argc - 1], "]") != 0) {
		command_error(env, "missing ]");
		return 2;
	}
	return ask(env, argc - 2, argv + 1);
}

const struct command test_commands[] = {
	{ "[", "EXPRESSION ]", "the same as test", run_bracket, COMMAND_BUILTIN },
	{ "test", "EXPRESSION", "compare numbers and words, ask about files", run_test,
	  COMMAND_BUILTIN },
	{ 0 },
};
